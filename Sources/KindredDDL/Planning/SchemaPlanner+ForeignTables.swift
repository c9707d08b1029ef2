// Foreign tables are not managed: they are only made in copies, and dropped where something else takes their names.
extension SchemaPlanner {
    /// Finds the relations of the new side that have names of foreign tables.
    mutating func findForeignTables() -> [ItemName] {
        replacedForeignTables = to.items.keys.filter {
            $0.isRelation && from[$0] == nil && from[$0.foreignTable] != nil
        }.sorted()
        return replacedForeignTables.map(\.foreignTable)
    }

    mutating func dropForeignTables() throws {
        for name in replacedForeignTables {
            main.append(
                SchemaStatement(
                    "DROP FOREIGN TABLE \(try DDL.path(name))",
                    lock: "ACCESS EXCLUSIVE on \(name.shown)", canLoseData: true))
        }
    }

    /// Makes foreign tables without columns, so that a copy has their names; nothing can read them.
    mutating func makeForeignTables() throws {
        let paths = try to.items.keys.filter(\.isForeignTable).sorted().map { name in
            // The part is the schema's name, a point and the table's name.
            try DDL.path(
                ItemName(kind: .table, schema: name.schema, name: String(name.part.dropFirst(name.schema.count + 1))))
        }
        guard !paths.isEmpty else { return }
        main.append(SchemaStatement("CREATE FOREIGN DATA WRAPPER kindred_scratch"))
        main.append(SchemaStatement("CREATE SERVER kindred_scratch FOREIGN DATA WRAPPER kindred_scratch"))
        for path in paths { main.append(SchemaStatement("CREATE FOREIGN TABLE \(path) () SERVER kindred_scratch")) }
    }
}
