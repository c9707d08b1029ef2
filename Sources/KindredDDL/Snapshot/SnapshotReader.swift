package import KindredPostgres
import KindredSchema

/// Reads what is compared from a database's catalog.
package struct SnapshotReader {
    var snapshot = SchemaSnapshot()
    /// The names of what dependencies are told of: catalog, oid and number of the column.
    var names: [Address: ItemName] = [:]

    struct Address: Hashable {
        var catalog: String
        var oid: String
        var column = 0
    }

    /// Reads a snapshot in one round trip, inside of the task's transaction if there is one.
    package static func read(from client: PostgresClient) async throws -> SchemaSnapshot {
        let queries = ([SnapshotQueries.settings] + SnapshotQueries.all).map(statement)
        let results: [QueryResult]
        if client.isInTransaction {
            results = Array(try await client.executeBatch(queries).dropFirst())
        } else {
            let all = [statement(SnapshotQueries.begin)] + queries + [statement("COMMIT")]
            results = try await client.withConnection { _ in
                Array(try await client.executeBatch(all).dropFirst(2).dropLast())
            }
        }
        guard results.count == SnapshotQueries.all.count else {
            throw SchemaError(.unreadableCatalog, "The server's answer about its catalog has an unexpected shape.")
        }
        var reader = SnapshotReader()
        reader.snapshot.serverVersion = Int(try results[0].first.map { try Cells($0).text(0) } ?? "") ?? 0
        try reader.takeSchemas(results[1])
        try reader.takeTypes(results[6])
        try reader.takeRelations(results[2], columns: results[3])
        try reader.takeConstraints(results[4])
        try reader.takeIndexes(results[5])
        try reader.takeFunctions(results[7])
        try reader.takeOthers(results[8])
        try reader.takeDependencies(results[9])
        for row in results[10] {
            let cells = Cells(row)
            if try cells.flag(1) {
                reader.snapshot.assignmentCasts.insert(try cells.text(0))
            } else {
                reader.snapshot.explicitCasts.insert(try cells.text(0))
            }
        }
        return reader.snapshot.indexed()
    }

    private static func statement(_ text: String) -> Statement {
        Statement(text: StatementText(text), resultFormat: .text)
    }

    /// The cells of a row, all of them texts or arrays of texts.
    struct Cells {
        let row: Row

        init(_ row: Row) { self.row = row }

        func optional(_ column: Int) throws -> String? { try row.decode(column, as: String.self) }
        func text(_ column: Int) throws -> String { try optional(column) ?? "" }
        func flag(_ column: Int) throws -> Bool { try text(column) == "true" }
        func list(_ column: Int) throws -> [String] { try row.decode(column, as: [String].self) ?? [] }
        func grants(_ column: Int) throws -> [Grant] {
            try list(column).compactMap { text in
                let parts = text.split(separator: "\t", omittingEmptySubsequences: false)
                guard parts.count >= 3 else { return nil }
                return Grant(
                    role: parts.dropLast(2).joined(separator: "\t"), privilege: String(parts[parts.count - 2]),
                    isGrantable: parts.last == "true")
            }.sorted()
        }
    }

    mutating func add(_ name: ItemName, _ item: SchemaItem) {
        var item = item
        // Everything stands in a schema, and parts on their tables.
        if name.kind != .schema, !name.schema.isEmpty {
            item.dependencies.insert(ItemName(kind: .schema, schema: name.schema))
        }
        snapshot.items[name] = item
    }

    mutating func takeSchemas(_ rows: QueryResult) throws {
        for row in rows {
            let cells = Cells(row)
            let name = ItemName(kind: .schema, schema: try cells.text(0))
            add(name, SchemaItem(content: .schema, comment: try cells.optional(1), grants: try cells.grants(2)))
        }
    }

    mutating func takeTypes(_ rows: QueryResult) throws {
        for row in rows {
            let cells = Cells(row)
            let (schema, typeName) = (try cells.text(1), try cells.text(2))
            let content: ItemContent
            var name = ItemName(kind: .type, schema: schema, name: typeName)
            switch try cells.text(3) {
            case "e": content = .enumeration(labels: try cells.list(5))
            case "d":
                content = .domain(
                    Domain(
                        base: try cells.text(6), collation: try cells.optional(9), isNotNull: try cells.flag(7),
                        defaultText: try cells.optional(8)))
            default:
                name = ItemName(kind: .other, schema: schema, name: "range", part: "\(schema).\(typeName)")
                content = .other("range of \(try cells.text(12))")
            }
            add(name, SchemaItem(content: content, comment: try cells.optional(10), grants: try cells.grants(11)))
            names[Address(catalog: "pg_type", oid: try cells.text(0))] = name
            names[Address(catalog: "pg_type", oid: try cells.text(4))] = name
        }
    }

    mutating func takeFunctions(_ rows: QueryResult) throws {
        for row in rows {
            let cells = Cells(row)
            let (schema, signature) = (try cells.text(1), try cells.text(2))
            let isAggregate = try cells.flag(4)
            let name =
                isAggregate
                ? ItemName(kind: .other, schema: schema, name: "aggregate", part: "\(schema).\(signature)")
                : ItemName(kind: .function, schema: schema, name: signature)
            add(name, SchemaItem(content: .other(try cells.text(3)), grants: try cells.grants(5)))
            names[Address(catalog: "pg_proc", oid: try cells.text(0))] = name
        }
    }

    mutating func takeOthers(_ rows: QueryResult) throws {
        for row in rows {
            let cells = Cells(row)
            let (kind, catalog, oid) = (try cells.text(0), try cells.text(1), try cells.text(2))
            let (schema, name, definition) = (try cells.text(4), try cells.text(5), try cells.text(6))
            let relation = try cells.optional(3)
            let owner = relation.flatMap { names[Address(catalog: "pg_class", oid: $0)] }
            // On a relation that is nothing of the user's.
            if relation != nil, owner == nil { continue }
            let item: ItemName
            switch (kind, owner) {
            case ("trigger", let owner?):
                item = ItemName(kind: .trigger, schema: owner.schema, name: owner.name, part: name)
            case ("policy", let owner?):
                item = ItemName(kind: .policy, schema: owner.schema, name: owner.name, part: name)
            case ("extension", _): item = ItemName(kind: .extension, schema: "", name: name)
            default:
                let place = owner?.shown ?? schema
                item = ItemName(
                    kind: .other, schema: owner?.schema ?? schema, name: kind,
                    part: place.isEmpty ? name : "\(place).\(name)")
            }
            add(
                item,
                SchemaItem(
                    content: .other(kind == "extension" ? "\(schema)\t\(definition)" : definition),
                    roles: try cells.list(7), dependencies: owner.map { [$0] } ?? []))
            names[Address(catalog: catalog, oid: oid)] = item
        }
    }

    mutating func takeDependencies(_ rows: QueryResult) throws {
        for row in rows {
            let cells = Cells(row)
            guard let dependent = name(try cells.text(0), try cells.text(1), try cells.text(2)),
                let dependency = name(try cells.text(3), try cells.text(4), try cells.text(5)),
                dependent != dependency
            else { continue }
            // A sequence goes with its column; what uses it comes after it all the same.
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

    private func name(_ catalog: String, _ oid: String, _ column: String) -> ItemName? {
        let number = Int(column) ?? 0
        return names[Address(catalog: catalog, oid: oid, column: number)] ?? names[Address(catalog: catalog, oid: oid)]
    }
}
