extension PlanMigration {
    /// The new columns of a table that are dropped and added again: generated ones that change, or that depend on a column
    /// whose type changes.
    func recreatedColumns(of table: Int) -> Set<String> {
        guard let before = tableBefore[table] else { return [] }
        var recreated: Set<String> = []
        for column in new.tables[table].columns {
            guard let earlier = earlier(column, table, before) else { continue }
            switch (earlier.fill, column.fill) {
            case (.generated(let text), .generated(let wanted)):
                let isSame = text.renaming(columnAfter[before] ?? [:]) == wanted && earlier.type == column.type
                let hasChange = wanted.columns.contains { name in
                    let source = new.tables[table].columns.first { $0.name == name }
                    guard let source, let was = self.earlier(source, table, before) else { return true }
                    return was.type != source.type
                }
                if !isSame || hasChange { recreated.insert(column.name) }
            case (_, .generated): if allowsDrops { recreated.insert(column.name) }
            default:
                if earlier.type != column.type, conversion(from: earlier.type, to: column.type, "") == nil, allowsDrops
                {
                    recreated.insert(column.name)
                }
            }
        }
        return recreated
    }

    func earlier(_ column: ColumnPlan, _ table: Int, _ before: Int) -> ColumnPlan? {
        guard let name = columnBefore[table]?[column.name] else { return nil }
        return old.tables[before].columns.first { $0.name == name }
    }

    /// Drops, under the old names, what is derived from other columns and changes or is gone.
    ///
    /// Nothing is lost with it. Where drops are allowed, columns whose values are not converted go too.
    mutating func dropGenerated(of table: Int, _ before: Int) throws {
        let name = try qualified(new.tables[table].name)
        let recreated = recreatedColumns(of: table)
        for column in old.tables[before].columns {
            let after = columnAfter[before]?[column.name]
            guard after.map(recreated.contains) ?? column.isGenerated else { continue }
            if !column.isGenerated {
                report(
                    .changed, "\(new.tables[table].name).\(after ?? column.name)",
                    "values of the older type are not converted to the newer one, so they are lost")
            }
            send("ALTER TABLE \(name) DROP COLUMN \(try quote(column.name))")
        }
    }

    /// Changes, adds and gives up columns of a table that was there before.
    mutating func changeColumns(of table: Int) throws {
        guard let before = tableBefore[table] else { return }
        let plan = new.tables[table]
        let name = try qualified(plan.name)
        let writer = PlanWriter(new)
        let recreated = recreatedColumns(of: table)
        try giveUpColumns(of: table, before)
        var added: [ColumnPlan] = []
        for column in plan.columns {
            if let earlier = earlier(column, table, before), !recreated.contains(column.name) {
                try change(column, from: earlier, in: plan, table)
            } else {
                added.append(column)
            }
        }
        for column in added {
            if column.isRequired, column.fill == .nothing {
                report(
                    .changed, "\(plan.name).\(column.name)",
                    "it is required and has no default, so it cannot be added where there are rows")
            }
            send("ALTER TABLE \(name) ADD COLUMN \(try writer.definition(column))")
        }
        try renameKinds(of: table)
    }

    /// Lets new rows be without what the model no longer has, where it stays.
    mutating func giveUpColumns(of table: Int, _ before: Int) throws {
        guard !allowsDrops else { return }
        let name = try qualified(new.tables[table].name)
        for column in old.tables[before].columns
        where columnAfter[before]?[column.name] == nil && !column.isGenerated {
            let kept = keptName(of: column.name, table)
            report(
                .omitted, "\(new.tables[table].name).\(kept)",
                "the newer model has no such column; it stays, unless drops are allowed")
            if column.isRequired { send("ALTER TABLE \(name) ALTER COLUMN \(try quote(kept)) DROP NOT NULL") }
        }
    }

    mutating func change(_ column: ColumnPlan, from earlier: ColumnPlan, in plan: TablePlan, _ table: Int)
        throws
    {
        let quoted = try quote(column.name)
        let start = "ALTER TABLE \(try qualified(plan.name)) ALTER COLUMN \(quoted)"
        let subject = "\(plan.name).\(column.name)"
        switch (earlier.fill, column.fill) {
        case (.generated, .generated): return
        case (_, .generated):
            return report(
                .omitted, subject, "it becomes a derived attribute; its column stays as it is, unless drops are allowed"
            )
        case (.generated, _): send("\(start) DROP EXPRESSION")
        case (.identity, .identity), (.nothing, .nothing): break
        case (.identity, _): send("\(start) DROP IDENTITY")
        case (.value, _) where earlier.fill != column.fill || earlier.type != column.type: send("\(start) DROP DEFAULT")
        default: break
        }
        if earlier.type != column.type {
            guard let conversion = conversion(from: earlier.type, to: column.type, quoted) else {
                return report(
                    .omitted, subject,
                    "its values are not converted from \(earlier.type) to \(column.type); it stays, unless drops are allowed"
                )
            }
            if conversion.mayFail {
                report(.changed, subject, "the conversion to \(column.type) fails where a value does not fit")
            }
            send("\(start) TYPE \(column.type) USING \(conversion.sql)")
        }
        switch column.fill {
        case .value(let value) where earlier.fill != column.fill || earlier.type != column.type:
            send("\(start) SET DEFAULT \(value)")
        case .identity where earlier.fill != .identity: send("\(start) ADD GENERATED BY DEFAULT AS IDENTITY")
        default: break
        }
        if column.isRequired, !earlier.isRequired {
            if case .value(let value) = column.fill {
                send("UPDATE \(try qualified(plan.name)) SET \(quoted) = \(value) WHERE \(quoted) IS NULL")
            } else {
                report(.changed, subject, "it becomes required, which fails where a row has no value")
            }
            send("\(start) SET NOT NULL")
        } else if !column.isRequired, earlier.isRequired {
            send("\(start) DROP NOT NULL")
        }
    }

    /// How values of one type become those of another; nil where they cannot.
    func conversion(from old: String, to new: String, _ column: String) -> (sql: String, mayFail: Bool)? {
        let whole = ["smallint", "integer", "bigint"]
        let numbers = whole + ["numeric", "real", "double precision"]
        let texts = numbers + ["boolean", "uuid", "timestamp with time zone"]
        if numbers.contains(old), numbers.contains(new) {
            let isWider = whole.firstIndex(of: old).flatMap { from in whole.firstIndex(of: new).map { from < $0 } }
            return ("\(column)::\(new)", !(isWider ?? (new == "numeric")))
        }
        if new == "text", texts.contains(old) { return ("\(column)::text", false) }
        if old == "text", texts.contains(new) { return ("\(column)::\(new)", true) }
        if old == "boolean", whole.contains(new) { return ("\(column)::integer::\(new)", false) }
        if whole.contains(old), new == "boolean" { return ("\(column) <> 0", false) }
        return nil
    }

    /// Gives rows of entities that were renamed their new kind.
    mutating func renameKinds(of table: Int) throws {
        let plan = new.tables[table]
        guard let column = plan.columns.first(where: { $0.origin == .discriminator }),
            columnBefore[table]?[column.name] != nil
        else { return }
        let before = tableBefore[table].map { old.tables[$0].kinds } ?? []
        let names = plan.kinds.compactMap { kind in matching.entities[kind].map { (new: kind, old: $0) } }
        let gone = before.filter { kind in !names.contains { $0.old == kind } }
        if !gone.isEmpty {
            let list = gone.map { PlanLiteral.text($0) }.joined(separator: ", ")
            if allowsDrops {
                send("DELETE FROM \(try qualified(plan.name)) WHERE \(try quote(column.name)) IN (\(list))")
            } else {
                report(
                    .changed, plan.name,
                    "\(gone.joined(separator: ", ")) is no longer among its entities, which fails where there are such rows"
                )
            }
        }
        let renamed = names.filter { $0.new != $0.old }
        guard !renamed.isEmpty else { return }
        let quoted = try quote(column.name)
        let cases = renamed.map { "WHEN \(PlanLiteral.text($0.old)) THEN \(PlanLiteral.text($0.new))" }
        let list = renamed.map { PlanLiteral.text($0.old) }.joined(separator: ", ")
        send(
            "UPDATE \(try qualified(plan.name)) SET \(quoted) = CASE \(quoted) \(cases.joined(separator: " ")) END "
                + "WHERE \(quoted) IN (\(list))")
    }

    // MARK: Composite types

    mutating func changeTypes() throws {
        let writer = PlanWriter(new)
        for type in new.types {
            guard let earlier = old.types.first(where: { $0.name == type.name }) else {
                send(try writer.create(type))
                continue
            }
            for field in type.fields where !earlier.fields.contains(where: { $0.name == field.name }) {
                send("ALTER TYPE \(try qualified(type.name)) ADD ATTRIBUTE \(try quote(field.name)) \(field.type)")
            }
            for field in earlier.fields {
                let after = type.fields.first { $0.name == field.name }
                if after?.type == field.type { continue }
                if after == nil, allowsDrops {
                    send("ALTER TYPE \(try qualified(type.name)) DROP ATTRIBUTE \(try quote(field.name))")
                } else {
                    report(
                        .omitted, "\(type.name).\(field.name)",
                        after == nil
                            ? "the newer composite has no such field; it stays, unless drops are allowed"
                            : "the type of a field that columns have is not changed")
                }
            }
        }
        for type in old.types where !new.types.contains(where: { $0.name == type.name }) {
            report(.omitted, type.name, "the newer model has no such composite type; it stays")
        }
    }
}

extension ColumnPlan {
    var isGenerated: Bool {
        if case .generated = fill { true } else { false }
    }
}
