import KindredDDL
import KindredPostgres

/// The newer plan with all parts of the older plan that stay, and reports of these and of changes that may fail.
struct PlanKeeping {
    private(set) var plan: SchemaPlan
    private(set) var reports: [ModelReport] = []
    private let allowsDrops: Bool

    /// - Parameters:
    ///   - old: The older plan, with the newer one's names.
    ///   - new: The newer plan.
    ///   - matching: Which tables and columns are the same.
    ///   - allowsDrops: Whether parts that the newer plan lacks are dropped.
    init(_ old: SchemaPlan, in new: SchemaPlan, _ matching: PlanMatching, allowsDrops: Bool) {
        plan = new
        self.allowsDrops = allowsDrops
        for subject in matching.remade {
            report(.changed, subject, "values of the older type are not converted to the newer one, so they are lost")
        }
        for place in new.tables.indices {
            guard let before = matching.tableBefore[place] else { continue }
            keepColumns(of: place, old.tables[before], Set((matching.columnBefore[place] ?? [:]).keys))
        }
        if !allowsDrops { keepTables(of: old, matching.tableAfter) }
        keepTypes(of: old)
    }

    private mutating func report(_ level: ModelReport.Level, _ subject: String, _ reason: String) {
        reports.append(ModelReport(level, subject, reason))
    }

    // MARK: Columns

    /// - Parameters:
    ///   - place: The table.
    ///   - before: The same table as it is, under the new names.
    ///   - matched: The columns that were there before.
    private mutating func keepColumns(of place: Int, _ before: TablePlan, _ matched: Set<String>) {
        let table = plan.tables[place].name
        var staying: Set<String> = []
        for (number, column) in plan.tables[place].columns.enumerated() {
            guard let earlier = before.column(named: column.name), matched.contains(column.name) else {
                if column.isRequired, column.fill == .nothing {
                    report(
                        .changed, "\(table).\(column.name)",
                        "it is required and has no default, so it cannot be added where there are rows")
                }
                continue
            }
            let kept = kept(column, earlier, "\(table).\(column.name)")
            if kept != column { staying.insert(column.name) }
            plan.tables[place].columns[number] = kept
        }
        // Leaves out conditions on columns whose type stays, since the conditions are written for the new type.
        let (constraints, indexes) = (before.constraints.map(\.definition), before.indexes.map(\.definition))
        plan.tables[place].constraints.removeAll {
            !staying.isDisjoint(with: $0.definition.columns) && !constraints.contains($0.definition)
        }
        plan.tables[place].indexes.removeAll {
            !staying.isDisjoint(with: $0.definition.columns) && !indexes.contains($0.definition)
        }
        for column in before.columns where !matched.contains(column.name) && !column.isGenerated && !allowsDrops {
            report(
                .omitted, "\(table).\(column.name)",
                "the newer model has no such column; it stays, unless drops are allowed")
            // New rows are without it.
            var kept = column
            kept.isRequired = false
            plan.tables[place].columns.append(kept)
        }
    }

    /// The column as it can be: as the newer model has it, or with the type that it has.
    private mutating func kept(_ column: ColumnPlan, _ earlier: ColumnPlan, _ subject: String) -> ColumnPlan {
        var staying = earlier
        staying.comment = column.comment
        staying.isRequired = earlier.isRequired && column.isRequired
        if column.isGenerated {
            if earlier.isGenerated { return column }
            if allowsDrops {
                report(.changed, subject, "it becomes a derived attribute, so the values that it has are lost")
                return column
            }
            report(
                .omitted, subject, "it becomes a derived attribute; its column stays as it is, unless drops are allowed"
            )
            return staying
        }
        let change = TypeChange(from: earlier.type, to: column.type)
        if !change.isKnown || change.outcome == .mayChange && !allowsDrops {
            report(
                .omitted, subject,
                change.isKnown
                    ? "some values of \(earlier.type) would be others in \(column.type); it stays, unless drops are allowed"
                    : "its values are not converted from \(earlier.type) to \(column.type); it stays, unless drops are allowed"
            )
            return staying
        }
        switch change.outcome {
        case .kept: break
        case .mayFail:
            report(.changed, subject, "the conversion to \(column.type) fails where a value does not fit")
        case .mayChange:
            report(
                .changed, subject, "the conversion to \(column.type) changes values that do not fit, or fails at them")
        }
        if column.isRequired, !earlier.isRequired {
            if case .value = column.fill {
            } else {
                report(.changed, subject, "it becomes required, which fails where a row has no value")
            }
        }
        return column
    }

    // MARK: Tables and types

    private mutating func keepTables(of old: SchemaPlan, _ tableAfter: [Int: Int]) {
        var places = tableAfter
        for place in old.tables.indices where tableAfter[place] == nil {
            report(
                .omitted, old.tables[place].name,
                "the newer model has no such table; it stays, unless drops are allowed")
            places[place] = plan.tables.count
            plan.tables.append(old.tables[place])
        }
        for place in old.tables.indices where tableAfter[place] == nil {
            guard let after = places[place] else { continue }
            for key in plan.tables[after].foreignKeys.indices {
                let target = plan.tables[after].foreignKeys[key].target
                plan.tables[after].foreignKeys[key].target = places[target] ?? target
            }
        }
    }

    private mutating func keepTypes(of old: SchemaPlan) {
        for type in old.types {
            guard let place = plan.types.firstIndex(where: { $0.name == type.name }) else {
                if allowsDrops { continue }
                report(
                    .omitted, type.name,
                    "the newer model has no such composite type; it stays, unless drops are allowed")
                plan.types.append(type)
                continue
            }
            for field in type.fields {
                if let after = plan.types[place].fields.firstIndex(where: { $0.name == field.name }) {
                    guard plan.types[place].fields[after] != field else { continue }
                    report(
                        .omitted, "\(type.name).\(field.name)", "the type of a field that columns have is not changed")
                    plan.types[place].fields[after] = field
                } else if !allowsDrops {
                    report(
                        .omitted, "\(type.name).\(field.name)",
                        "the newer composite has no such field; it stays, unless drops are allowed")
                    plan.types[place].fields.append(field)
                }
            }
        }
    }
}
