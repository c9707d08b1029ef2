package import KindredPostgres
import KindredSchema

/// Reads one side of a comparison from a database's catalog.
package struct SnapshotReader {
    var snapshot = SchemaSnapshot()
    /// The names of all things that may have dependencies, by catalog, oid and number of the column.
    var names: [Address: ItemName] = [:]

    struct Address: Hashable {
        var catalog: String
        var oid: String
        var column = 0
    }

    /// Reads a snapshot in one round trip, inside of the task's transaction if there is one.
    package static func read(from client: PostgresClient) async throws -> SchemaSnapshot {
        let queries = ([SnapshotQueries.session] + SnapshotQueries.all).map(statement)
        let results: [QueryResult]
        if client.isInTransaction {
            results = try await client.executeBatch(queries)
        } else {
            let all = [statement(SnapshotQueries.begin)] + queries + [statement("COMMIT")]
            results = try await client.withConnection { _ in
                Array(try await client.executeBatch(all).dropFirst().dropLast())
            }
        }
        guard results.count == queries.count else {
            throw SchemaError(.unreadableCatalog, "The server's answer about its catalog has an unexpected shape.")
        }
        var reader = SnapshotReader()
        for cells in SnapshotCells.rows(of: results[0]) {
            reader.snapshot.serverVersion = Int(try cells.text("version")) ?? 0
        }
        let parts = results.dropFirst().map(SnapshotCells.rows)
        try reader.takeSchemas(parts[0])
        try reader.takeTypes(parts[5])
        try reader.takeRelations(parts[1], columns: parts[2])
        try reader.takeConstraints(parts[3])
        try reader.takeIndexes(parts[4])
        try reader.takeFunctions(parts[6])
        try reader.takeObjects(parts[7])
        try reader.takeSettings(parts[8])
        try reader.takeDependencies(parts[9])
        for cells in parts[10] {
            let types = try cells.text("types")
            if try cells.flag("is_assignment") {
                reader.snapshot.assignmentCasts.insert(types)
            } else {
                reader.snapshot.explicitCasts.insert(types)
            }
        }
        return reader.snapshot.indexed()
    }

    private static func statement(_ text: String) -> Statement {
        Statement(text: StatementText(text), resultFormat: .text)
    }

    mutating func add(_ name: ItemName, _ item: SchemaItem) {
        var item = item
        // Everything stands in a schema, and parts on their tables.
        if name.kind != .schema, !name.schema.isEmpty {
            item.dependencies.insert(ItemName(kind: .schema, schema: name.schema))
        }
        snapshot.items[name] = item
    }

    mutating func takeSchemas(_ rows: [SnapshotCells]) throws {
        for cells in rows {
            let name = ItemName(kind: .schema, schema: try cells.text("name"))
            add(
                name,
                SchemaItem(
                    content: .schema, comment: try cells.optional("comment"), grants: try cells.grants("grants")))
        }
    }

    mutating func takeTypes(_ rows: [SnapshotCells]) throws {
        for cells in rows {
            let name = ItemName(kind: .type, schema: try cells.text("schema"), name: try cells.text("name"))
            let content: ItemContent
            switch try cells.text("kind") {
            case "e": content = .enumeration(labels: try cells.list("labels"))
            case "d":
                content = .domain(
                    Domain(
                        base: try cells.text("base"), collation: try cells.optional("collation"),
                        isNotNull: try cells.flag("is_not_null"), defaultText: try cells.optional("default_text")))
            case "r": content = .range(try cells.text("definition"))
            // Base types and shells, and ranges whose function needs a shell.
            default: content = .other(try cells.text("definition"))
            }
            add(
                name,
                SchemaItem(
                    content: content, comment: try cells.optional("comment"), grants: try cells.grants("grants")))
            for column in ["oid", "array_type", "multirange"] {
                if let oid = try cells.optional(column), oid != "0" {
                    names[Address(catalog: "pg_type", oid: oid)] = name
                }
            }
        }
    }

    mutating func takeDependencies(_ rows: [SnapshotCells]) throws {
        for cells in rows {
            let dependent = name(try cells.text("catalog"), try cells.text("oid"), try cells.text("number"))
            if let dependent, let name = try cells.optional("extension"), dependent.kind != .extension {
                snapshot.items[dependent]?.extensions.insert(ServerText(name))
            }
            guard let dependent,
                let dependency = name(
                    try cells.text("needed_catalog"), try cells.text("needed_oid"), try cells.text("needed_number")),
                dependent != dependency
            else { continue }
            // A sequence goes with its column; things that use it come after it all the same.
            if dependent.kind == .sequence { continue }
            // A table is made before the parts that it is said to depend on.
            if dependent.kind == .table, dependency.kind == .column || dependency.kind == .constraint,
                dependency.owner() == dependent
            {
                continue
            }
            snapshot.items[dependent]?.dependencies.insert(dependency)
        }
    }

    func name(_ catalog: String, _ oid: String, _ column: String) -> ItemName? {
        let number = Int(column) ?? 0
        return names[Address(catalog: catalog, oid: oid, column: number)] ?? names[Address(catalog: catalog, oid: oid)]
    }
}
