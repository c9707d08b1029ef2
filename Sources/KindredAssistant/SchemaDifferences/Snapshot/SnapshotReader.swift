import KindredPostgres

/// Reads what is compared from a database's catalog.
struct SnapshotReader {
    private var snapshot = SchemaSnapshot()
    /// The names of what dependencies are told of: catalog, oid and number of the column.
    private var names: [Address: ItemName] = [:]

    private struct Address: Hashable {
        var catalog: String
        var oid: String
        var column = 0
    }

    /// Reads a snapshot in one round trip, inside of the task's transaction if there is one.
    static func read(from client: PostgresClient) async throws -> SchemaSnapshot {
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
            throw SchemaDifferencesError(.unreadable, "The server's answer about its catalog has an unexpected shape.")
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
        return reader.snapshot
    }

    private static func statement(_ text: String) -> Statement {
        Statement(text: StatementText(text), resultFormat: .text)
    }

    /// The cells of a row, all of them texts or arrays of texts.
    private struct Cells {
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

    private mutating func add(_ name: ItemName, _ item: SchemaItem) {
        var item = item
        // Everything stands in a schema, and parts on their tables.
        if name.kind != .schema, !name.schema.isEmpty {
            item.dependencies.insert(ItemName(kind: .schema, schema: name.schema))
        }
        snapshot.items[name] = item
    }

    private mutating func takeSchemas(_ rows: QueryResult) throws {
        for row in rows {
            let cells = Cells(row)
            let name = ItemName(kind: .schema, schema: try cells.text(0))
            add(name, SchemaItem(content: .schema, comment: try cells.optional(1), grants: try cells.grants(2)))
        }
    }

    private mutating func takeTypes(_ rows: QueryResult) throws {
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

    private mutating func takeRelations(_ rows: QueryResult, columns: QueryResult) throws {
        var kinds: [String: (name: ItemName, kind: String)] = [:]
        for row in rows {
            let cells = Cells(row)
            let (oid, kind) = (try cells.text(0), try cells.text(3))
            let itemKind: ItemName.Kind =
                switch kind {
                case "r", "p": .table
                case "v", "m": .view
                case "S": .sequence
                case "c": .type
                default: .other
                }
            var name = ItemName(kind: itemKind, schema: try cells.text(1), name: try cells.text(2))
            if itemKind == .other {
                name = ItemName(kind: .other, schema: name.schema, name: "foreign table", part: name.shown)
            }
            kinds[oid] = (name, kind)
            names[Address(catalog: "pg_class", oid: oid)] = name
            for column in [13, 14] {
                if let type = try cells.optional(column), type != "0" {
                    names[Address(catalog: "pg_type", oid: type)] = name
                }
            }
        }
        var fields: [String: [Field]] = [:]
        for row in columns {
            let cells = Cells(row)
            let oid = try cells.text(0)
            guard let relation = kinds[oid] else { continue }
            let field = Field(name: try cells.text(2), type: try cells.text(3), collation: try cells.optional(8))
            guard relation.name.kind == .table else {
                fields[oid, default: []].append(field)
                // Of a view's columns the comments are compared.
                if relation.name.kind == .view {
                    var name = relation.name
                    name.kind = .column
                    name.part = field.name
                    add(
                        name,
                        SchemaItem(
                            content: .other("column of a view"), comment: try cells.optional(10),
                            dependencies: [relation.name]))
                }
                continue
            }
            guard try cells.flag(9) else { continue }
            var name = relation.name
            name.kind = .column
            name.part = field.name
            let isGenerated = !(try cells.text(7)).isEmpty
            let column = ColumnItem(
                type: field.type, collation: field.collation, isNotNull: try cells.flag(4),
                defaultText: isGenerated ? nil : try cells.optional(5),
                generation: isGenerated ? try cells.optional(5) : nil,
                identity: ColumnItem.Identity(rawValue: try cells.text(6)), identityOptions: try cells.list(11),
                base: try cells.text(12), isText: try cells.flag(13))
            let position = Int(try cells.text(1)) ?? 0
            add(
                name,
                SchemaItem(
                    content: .column(column), comment: try cells.optional(10), position: position,
                    dependencies: [relation.name]))
            names[Address(catalog: "pg_class", oid: oid, column: position)] = name
        }
        for row in rows {
            let cells = Cells(row)
            let oid = try cells.text(0)
            guard let (name, kind) = kinds[oid] else { continue }
            let isUnlogged = try cells.text(4) == "u"
            let parents = try cells.list(8).compactMap { kinds[$0]?.name }
            let content: ItemContent
            switch kind {
            case "r", "p":
                content = .table(
                    TableItem(
                        isUnlogged: isUnlogged, options: try cells.list(5), partitionKey: try cells.optional(6),
                        bound: try cells.optional(7), parents: parents))
            case "v", "m":
                content = .view(
                    ViewItem(
                        query: try cells.text(9), isMaterialized: kind == "m", options: try cells.list(5),
                        columns: fields[oid] ?? []))
            case "S":
                let owner = try cells.optional(17).flatMap { text -> ItemName? in
                    let parts = text.split(separator: "/")
                    guard parts.count == 2, let number = Int(parts[1]) else { return nil }
                    return names[Address(catalog: "pg_class", oid: String(parts[0]), column: number)]
                }
                content = .sequence(
                    SequenceItem(
                        type: try cells.text(15), options: try cells.list(16), owner: owner, isUnlogged: isUnlogged))
            case "c": content = .composite(fields[oid] ?? [])
            default: content = .other("foreign table")
            }
            add(
                name,
                SchemaItem(
                    content: content, comment: try cells.optional(10), grants: try cells.grants(11),
                    dependencies: Set(parents)))
            if let security = try cells.optional(12) {
                add(
                    ItemName(kind: .other, schema: name.schema, name: "row security of", part: name.shown),
                    SchemaItem(content: .other(security)))
            }
        }
    }

    private mutating func takeConstraints(_ rows: QueryResult) throws {
        for row in rows {
            let cells = Cells(row)
            let relation = names[Address(catalog: "pg_class", oid: try cells.text(1))]
            let domain = names[Address(catalog: "pg_type", oid: try cells.text(2))]
            guard let owner = relation ?? domain, owner.kind == .table || owner.kind == .type,
                let kind = ConstraintItem.Kind(rawValue: try cells.text(4))
            else { continue }
            var name = owner
            name.kind = .constraint
            name.part = try cells.text(3)
            var definition = try cells.text(5)
            if definition.hasSuffix(" NOT VALID") { definition.removeLast(" NOT VALID".count) }
            let constraint = ConstraintItem(
                kind: kind, definition: definition, isValid: try cells.flag(6),
                index: try cells.optional(8).map {
                    Self.withoutOnly($0, of: (try? cells.text(11)) ?? "")
                },
                deferral: try cells.text(10), isOfDomain: owner.kind == .type)
            add(
                name,
                SchemaItem(
                    content: .constraint(constraint), comment: try cells.optional(7), dependencies: [owner]))
            names[Address(catalog: "pg_constraint", oid: try cells.text(0))] = name
            // The index of a foreign key is the one it refers to.
            if kind != .foreignKey, kind != .check {
                names[Address(catalog: "pg_class", oid: try cells.text(9))] = name
            }
        }
    }

    private mutating func takeIndexes(_ rows: QueryResult) throws {
        for row in rows {
            let cells = Cells(row)
            guard let relation = names[Address(catalog: "pg_class", oid: try cells.text(1))],
                relation.kind == .table || relation.kind == .view
            else { continue }
            let name = ItemName(kind: .index, schema: try cells.text(2), name: try cells.text(3))
            let definition = Self.withoutOnly(try cells.text(4), of: try cells.text(7))
            let isUnique = definition.hasPrefix("CREATE UNIQUE")
            let start = "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(try cells.text(7))".count
            let index = IndexItem(
                unnamed: "\(isUnique)\(definition.dropFirst(start))", definition: definition,
                isValid: try cells.flag(5), relation: relation)
            add(name, SchemaItem(content: .index(index), comment: try cells.optional(6), dependencies: [relation]))
            names[Address(catalog: "pg_class", oid: try cells.text(0))] = name
        }
    }

    /// An index of a partitioned table is written with ONLY, which would leave its partitions without.
    private static func withoutOnly(_ definition: String, of quotedName: String) -> String {
        for start in ["CREATE INDEX \(quotedName) ON ", "CREATE UNIQUE INDEX \(quotedName) ON "]
        where definition.hasPrefix(start + "ONLY ") {
            return start + definition.dropFirst(start.count + "ONLY ".count)
        }
        return definition
    }

    private mutating func takeFunctions(_ rows: QueryResult) throws {
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

    private mutating func takeOthers(_ rows: QueryResult) throws {
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

    private mutating func takeDependencies(_ rows: QueryResult) throws {
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
