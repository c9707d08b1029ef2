import KindredPostgres

extension PlanMigration {
    /// Renames in an order in which no name is taken: those that stand in each other's way by a name between.
    mutating func rename(
        _ pairs: [(from: String, to: String)], _ statement: (String, String) throws -> String
    ) throws {
        let changed = pairs.filter { $0.from != $0.to }
        let inTheWay = Set(changed.map(\.from))
        var second: [(from: String, to: String)] = []
        for (place, pair) in changed.enumerated() where inTheWay.contains(pair.to) {
            let between = "kindred_renaming_\(place)"
            send(try statement(pair.from, between))
            second.append((between, pair.to))
        }
        for pair in changed where !inTheWay.contains(pair.to) { send(try statement(pair.from, pair.to)) }
        for pair in second { send(try statement(pair.from, pair.to)) }
    }

    mutating func renameTables() throws {
        let pairs = new.tables.indices.compactMap { table in
            tableBefore[table].map { (old.tables[$0].name, new.tables[table].name) }
        }
        let writer = PlanWriter(new)
        try rename(pairs) { "ALTER TABLE \(try writer.qualified($0)) RENAME TO \(try SQLIdentifier.quote($1))" }
    }

    mutating func renameColumns(of table: Int) throws {
        guard let before = tableBefore[table], let names = columnBefore[table] else { return }
        let name = try qualified(new.tables[table].name)
        // What stays though the model no longer has it gives up a name that is needed.
        let wanted = Set(new.tables[table].columns.map(\.name))
        try dropGenerated(of: table, before)
        for column in old.tables[before].columns
        where columnAfter[before]?[column.name] == nil && wanted.contains(column.name) && !allowsDrops
            && !column.isGenerated
        {
            let other = keptName(of: column.name, table)
            send("ALTER TABLE \(name) RENAME COLUMN \(try quote(column.name)) TO \(try quote(other))")
        }
        let recreated = recreatedColumns(of: table)
        let pairs = new.tables[table].columns.compactMap { column in
            recreated.contains(column.name) ? nil : names[column.name].map { ($0, column.name) }
        }
        // A column that will be dropped may have a name that is needed.
        if allowsDrops {
            for column in old.tables[before].columns
            where columnAfter[before]?[column.name] == nil && !column.isGenerated {
                send("ALTER TABLE \(name) DROP COLUMN \(try quote(column.name))")
            }
        }
        try rename(pairs) {
            "ALTER TABLE \(name) RENAME COLUMN \(try SQLIdentifier.quote($0)) TO \(try SQLIdentifier.quote($1))"
        }
    }

    /// What a column is called that the model no longer has: its name, or another where that is needed.
    func keptName(of name: String, _ table: Int) -> String {
        guard new.tables[table].columns.contains(where: { $0.name == name }) else { return name }
        var names = NameSupply()
        for column in new.tables[table].columns { names.reserve(column.name) }
        return names.take("\(name)_old")
    }

    mutating func renameParts(_ kept: [Int: Kept]) throws {
        let writer = PlanWriter(new)
        // Indexes have names in the schema, and those of constraints give them theirs.
        let indexes = new.tables.indices.flatMap { table -> [(from: String, to: String)] in
            let withIndex = Set(new.tables[table].constraints.filter(\.hasIndex).map(\.name))
            let constraints = (kept[table]?.constraints ?? [:]).filter { withIndex.contains($0.key) }
            return (constraints.map { ($1, $0) } + (kept[table]?.indexes ?? [:]).map { ($1, $0) }).sorted { $0 < $1 }
        }
        try rename(indexes) { "ALTER INDEX \(try writer.qualified($0)) RENAME TO \(try SQLIdentifier.quote($1))" }
        for table in new.tables.indices {
            guard let stays = kept[table] else { continue }
            let name = try qualified(new.tables[table].name)
            let withIndex = Set(new.tables[table].constraints.filter(\.hasIndex).map(\.name))
            let constraints =
                (stays.constraints.filter { !withIndex.contains($0.key) }.map { ($1, $0) }
                + stays.foreignKeys.map { ($1, $0) }).sorted { $0 < $1 }
            try rename(constraints) {
                "ALTER TABLE \(name) RENAME CONSTRAINT \(try SQLIdentifier.quote($0)) TO \(try SQLIdentifier.quote($1))"
            }
        }
    }

    /// Drops the tables that the newer model no longer has, or lets them stay under names that it does not need.
    mutating func dropTables() throws {
        let gone = old.tables.indices.filter { tableAfter[$0] == nil }
        guard !gone.isEmpty else { return }
        if allowsDrops {
            send("DROP TABLE \(try gone.map { try qualified(old.tables[$0].name) }.joined(separator: ", "))")
            return
        }
        var names = NameSupply()
        for relation in Self.relations(of: new) + Self.relations(of: old) { names.reserve(relation) }
        let wanted = Set(Self.relations(of: new))
        for place in gone {
            let table = old.tables[place]
            let indexes = table.constraints.filter(\.hasIndex).map(\.name) + table.indexes.map(\.name)
            for index in indexes where wanted.contains(index) {
                let other = names.take("\(index)_old")
                send("ALTER INDEX \(try qualified(index)) RENAME TO \(try quote(other))")
            }
            var name = table.name
            if wanted.contains(name) {
                name = names.take("\(name)_old")
                send("ALTER TABLE \(try qualified(table.name)) RENAME TO \(try quote(name))")
            }
            report(.omitted, name, "the newer model has no such table; it stays, unless drops are allowed")
        }
    }

    /// The names that tables, types and indexes of a plan have in its schema.
    static func relations(of plan: SchemaPlan) -> [String] {
        plan.types.map(\.name)
            + plan.tables.flatMap { table in
                [table.name] + table.constraints.filter(\.hasIndex).map(\.name) + table.indexes.map(\.name)
            }
    }
}
