import KindredPostgres

// Defaults and NOT NULL that inherited columns have of their own, in partitions and other heirs.
extension SchemaPlanner {
    /// The state into which the statements before have brought a column.
    private struct Outcome {
        var state: ColumnOverride
        /// Whether one of the statements has set the column's default or NOT NULL, and thereby the heirs'.
        var setsDefault: Bool
        var setsNotNull: Bool
    }

    /// Gives inherited columns the defaults and NOT NULL that they do not have from their parents; runs when the
    /// parents have their final state.
    mutating func alterOverrides() throws {
        var columns: Set<ServerText> = []
        for name in heirs {
            for side in [from, to] { columns.formUnion((side.table(name)?.overrides ?? [:]).keys) }
        }
        if columns.isEmpty { return }
        // Heirs without a state of their own as well, since a change of a table above them reaches the tables below.
        var outcomes: [ItemName: [ServerText: Outcome]] = [:]
        for name in heirs {
            for column in columns.sorted().texts {
                guard let wanted = to.state(of: column, in: name), let parent = parent(of: name, with: column),
                    to.ownState(of: column, in: name) == nil
                else { continue }
                let above =
                    outcomes[parent]?[column]
                    ?? outcome(ofOwn: column, in: parent, wanted: to.state(of: column, in: parent) ?? wanted)
                var present = above.state
                if isKept(name), let before = from.state(of: column, in: name) {
                    if !above.setsDefault { present.defaultText = before.defaultText }
                    if !above.setsNotNull { present.isNotNull = before.isNotNull }
                }
                try alter(column, of: name, from: present, to: wanted)
                outcomes[name, default: [:]][column] = Outcome(
                    state: wanted, setsDefault: above.setsDefault || present.defaultText != wanted.defaultText,
                    setsNotNull: above.setsNotNull || present.isNotNull != wanted.isNotNull)
            }
        }
    }

    /// Takes away an heir's own defaults before the column's type or the sequence changes that they depend on.
    mutating func dropOverriddenDefaults() throws {
        for name in heirs where isKept(name) {
            // The catalog's rows tell that the table depends on it, and not which column.
            let needs = from[name]?.dependencies ?? []
            let losesNeed = needs.contains { [.sequence, .function].contains($0.kind) && dropped.contains($0) }
            for (key, own) in (from.table(name)?.overrides ?? [:]).sorted(by: { $0.key < $1.key })
            where own.defaultText != nil {
                let column = key.text
                let isLeaving = losesNeed && own.defaultText != to.state(of: column, in: name)?.defaultText
                let hasNewType = root(of: column, above: name).map { isReset($0) } ?? false
                guard isLeaving || hasNewType else { continue }
                main.append(try statement(name, column, "DROP DEFAULT"))
            }
        }
    }

    /// The tables that inherit columns, each after the tables above it.
    private var heirs: [ItemName] {
        to.items.keys.filter { to.table($0)?.parents.isEmpty == false }
            .map { (to.depth(of: $0), $0) }.sorted { $0 < $1 }.map(\.1)
    }

    private func parent(of table: ItemName, with column: String) -> ItemName? {
        to.table(table)?.parents.first { to.state(of: column, in: $0) != nil }
    }

    /// The column of a table above from which an heir has one.
    private func root(of column: String, above table: ItemName) -> ItemName? {
        var next = from.table(table)?.parents.first { from.state(of: column, in: $0) != nil }
        while let parent = next {
            if from.ownState(of: column, in: parent) != nil {
                return ItemName(kind: .column, schema: parent.schema, name: parent.name, part: column)
            }
            next = from.table(parent)?.parents.first { from.state(of: column, in: $0) != nil }
        }
        return nil
    }

    private func isReset(_ column: ItemName) -> Bool { retyped[column] != nil || resetDefaults.contains(column) }

    /// The state that a column will have that is its table's own.
    private func outcome(ofOwn column: String, in table: ItemName, wanted: ColumnOverride) -> Outcome {
        let name = ItemName(kind: .column, schema: table.schema, name: table.name, part: column)
        guard isKept(table), !dropped.contains(name), let before = from.state(of: column, in: table) else {
            return Outcome(state: wanted, setsDefault: true, setsNotNull: true)
        }
        return Outcome(
            state: wanted, setsDefault: before.defaultText != wanted.defaultText || isReset(name),
            setsNotNull: before.isNotNull != wanted.isNotNull)
    }

    private mutating func alter(
        _ column: String, of table: ItemName, from present: ColumnOverride, to wanted: ColumnOverride
    ) throws {
        if present.defaultText != wanted.defaultText {
            main.append(
                try statement(table, column, wanted.defaultText.map { "SET DEFAULT \($0)" } ?? "DROP DEFAULT"))
        }
        if present.isNotNull, !wanted.isNotNull { main.append(try statement(table, column, "DROP NOT NULL")) }
        if !present.isNotNull, wanted.isNotNull {
            try setNotNull(column, of: table, isEmpty: !isKept(table))
        }
    }

    private func statement(_ table: ItemName, _ column: String, _ action: String) throws -> SchemaStatement {
        SchemaStatement(
            "ALTER TABLE \(try DDL.path(table)) ALTER COLUMN \(try DDL.name(column)) \(action)",
            lock: "ACCESS EXCLUSIVE on \(table.schema).\(table.name)")
    }
}
