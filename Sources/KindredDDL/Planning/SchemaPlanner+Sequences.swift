import KindredPostgres

extension SchemaPlanner {
    mutating func alterSequences() throws {
        for (name, item) in to.items.sorted(by: { $0.key < $1.key }) {
            guard case .sequence(let new) = item.content else { continue }
            let path = try DDL.path(name)
            let old = isCreated(name) ? nil : from.sequence(name)
            if let old {
                var actions = new.options.filter { !old.options.contains($0) }
                if old.type != new.type { actions.insert("AS \(new.type)", at: 0) }
                if !actions.isEmpty {
                    try moveIntoBounds(path, old, new)
                    main.append(
                        SchemaStatement(
                            "ALTER SEQUENCE \(path) \(actions.joined(separator: " "))",
                            lock: "SHARE ROW EXCLUSIVE on \(name.shown)"))
                }
                if old.isUnlogged != new.isUnlogged, new.owner == nil {
                    main.append(
                        SchemaStatement(
                            "ALTER SEQUENCE \(path) SET \(new.isUnlogged ? "UNLOGGED" : "LOGGED")",
                            lock: "ACCESS EXCLUSIVE on \(name.shown)"))
                }
            }
            if let owner = new.owner, old?.owner != owner || isCreated(owner) || isCreated(owner.owner()) {
                main.append(
                    SchemaStatement(
                        "ALTER SEQUENCE \(path) OWNED BY \(try DDL.path(owner)).\(try DDL.name(owner.part))",
                        lock: "SHARE ROW EXCLUSIVE on \(name.shown)"))
                let isInteger = ["smallint", "integer", "bigint"].contains(to.column(owner)?.base)
                if isCreated(name), !isCreated(owner), isKept(owner.owner()), isInteger {
                    try continueSequence(of: owner, new.options)
                }
            }
        }
    }

    /// A new sequence of a column that has values continues behind the values.
    mutating func continueSequence(of column: ItemName, _ options: [String]) throws {
        let (path, name) = (try DDL.path(column), try DDL.name(column.part))
        let isDescending = options.contains { $0.hasPrefix("INCREMENT BY -") }
        main.append(
            SchemaStatement(
                "SELECT pg_catalog.setval(pg_catalog.pg_get_serial_sequence(\(DDL.literal(path)), "
                    + "\(DDL.literal(column.part))), m) FROM (SELECT \(isDescending ? "min" : "max")(\(name)) AS m "
                    + "FROM \(path)) AS v WHERE m IS NOT NULL", note: "goes on behind the values that are there"))
    }

    /// A sequence that stands outside of its new bounds could not get them.
    private mutating func moveIntoBounds(_ path: String, _ old: SequenceItem, _ new: SequenceItem) throws {
        func number(_ option: String, _ sequence: SequenceItem) -> Int {
            sequence.options.first { $0.hasPrefix(option) }.flatMap { Int($0.dropFirst(option.count)) } ?? 0
        }
        let bounds = (
            low: max(number("MINVALUE ", new), number("MINVALUE ", old)),
            high: min(number("MAXVALUE ", new), number("MAXVALUE ", old))
        )
        guard number("MINVALUE ", new) > number("MINVALUE ", old) || number("MAXVALUE ", new) < number("MAXVALUE ", old)
        else { return }
        main.append(
            SchemaStatement(
                "SELECT pg_catalog.setval(\(DDL.literal(path)), GREATEST(LEAST(last_value, \(bounds.high)), \(bounds.low)), is_called) "
                    + "FROM \(path)", note: "moves it between its new bounds"))
    }
}
