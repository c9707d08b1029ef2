import KindredPostgres

// Tables, views and sequences, with their columns, constraints and indexes.
extension SnapshotReader {
    mutating func takeRelations(_ rows: [SnapshotCells], columns: [SnapshotCells]) throws {
        var kinds: [ServerText: (name: ItemName, kind: String)] = [:]
        for cells in rows {
            let (oid, kind) = (try cells.text("oid"), try cells.text("kind"))
            let itemKind: ItemName.Kind =
                switch kind {
                case "r", "p": .table
                case "v", "m": .view
                case "S": .sequence
                case "c": .type
                default: .foreignTable
                }
            let name = ItemName(kind: itemKind, schema: try cells.text("schema"), name: try cells.text("name"))
            kinds[oid] = (name, kind)
            names[Address(catalog: "pg_class", oid: oid)] = name
            for column in ["type", "array_type"] {
                if let type = try cells.optional(column), type != "0" {
                    names[Address(catalog: "pg_type", oid: type)] = name
                }
            }
        }
        var fields: [ServerText: [Field]] = [:]
        var inherited: [ItemName: [ServerText: ColumnOverride]] = [:]
        for cells in columns {
            let oid = try cells.text("relation")
            guard let relation = kinds[oid] else { continue }
            let field = Field(
                name: try cells.text("name"), type: try cells.text("type"), collation: try cells.optional("collation"))
            var name = relation.name
            name.kind = .column
            name.part = field.name
            let position = Int(try cells.text("number")) ?? 0
            guard relation.name.kind == .table else {
                fields[oid, default: []].append(field)
                if relation.name.kind == .view || relation.name.kind == .foreignTable {
                    let item = SchemaItem(
                        content: .viewColumn, comment: try cells.optional("comment"), position: position,
                        dependencies: [relation.name])
                    add(name, item)
                }
                continue
            }
            let isGenerated = !(try cells.text("generation")).isEmpty
            guard try cells.flag("is_own") else {
                let isComputed = try isGenerated || !cells.text("identity").isEmpty
                inherited[relation.name, default: [:]][field.name] = ColumnOverride(
                    defaultText: isComputed ? nil : try cells.optional("expression"),
                    isNotNull: try cells.flag("is_not_null"))
                continue
            }
            let expression = try cells.optional("expression")
            let column = ColumnItem(
                type: field.type, collation: field.collation, isNotNull: try cells.flag("is_not_null"),
                defaultText: isGenerated ? nil : expression, generation: isGenerated ? expression : nil,
                identity: ColumnItem.Identity(rawValue: try cells.text("identity")),
                identityOptions: try cells.list("identity_options"), base: try cells.text("base"),
                isText: try cells.flag("is_text"))
            add(
                name,
                SchemaItem(
                    content: .column(column), comment: try cells.optional("comment"), position: position,
                    dependencies: [relation.name]))
            names[Address(catalog: "pg_class", oid: oid, column: position)] = name
        }
        for cells in rows {
            let oid = try cells.text("oid")
            guard let (name, kind) = kinds[oid] else { continue }
            let parents = try cells.list("parents").compactMap { kinds[$0]?.name }
            add(
                name,
                SchemaItem(
                    content: try content(of: name, kind, cells, parents, fields[oid] ?? []),
                    comment: try cells.optional("comment"), grants: try cells.grants("grants"),
                    dependencies: Set(parents)))
        }
        takeOverrides(inherited)
    }

    private func content(
        of name: ItemName, _ kind: String, _ cells: SnapshotCells, _ parents: [ItemName], _ fields: [Field]
    ) throws -> ItemContent {
        let isUnlogged = try cells.flag("is_unlogged")
        switch kind {
        case "r", "p":
            return .table(
                TableItem(
                    isUnlogged: isUnlogged, options: try cells.list("options"),
                    partitionKey: try cells.optional("partition_key"), bound: try cells.optional("bound"),
                    parents: parents))
        case "v", "m":
            return .view(
                ViewItem(
                    query: try cells.text("definition"), isMaterialized: kind == "m",
                    options: try cells.list("options"),
                    columns: fields))
        case "S":
            let owner = try cells.optional("owned_by").flatMap { text -> ItemName? in
                let parts = text.split(separator: "/")
                guard parts.count == 2, let number = Int(parts[1]) else { return nil }
                return names[Address(catalog: "pg_class", oid: String(parts[0]), column: number)]
            }
            return .sequence(
                SequenceItem(
                    type: try cells.text("sequence_type"), options: try cells.list("sequence_options"), owner: owner,
                    isUnlogged: isUnlogged))
        case "c": return .composite(fields)
        default:
            return .object(
                ObjectItem(definition: [try cells.text("definition")], target: "FOREIGN TABLE \(try DDL.path(name))"))
        }
    }

    /// Keeps the properties of inherited columns that differ from their parents'.
    private mutating func takeOverrides(_ inherited: [ItemName: [ServerText: ColumnOverride]]) {
        for (name, columns) in inherited {
            guard var table = snapshot.table(name) else { continue }
            table.overrides = columns.filter { column, own in
                let parents = table.parents.compactMap { parent in
                    inherited[parent]?[column] ?? snapshot.ownState(of: column.text, in: parent)
                }
                return parents.first.map { $0 != own } ?? false
            }
            snapshot.items[name]?.content = .table(table)
        }
    }

    mutating func takeConstraints(_ rows: [SnapshotCells]) throws {
        for cells in rows {
            let relation = names[Address(catalog: "pg_class", oid: try cells.text("relation"))]
            let domain = names[Address(catalog: "pg_type", oid: try cells.text("domain"))]
            guard let owner = relation ?? domain, owner.kind == .table || owner.kind == .type,
                let kind = ConstraintItem.Kind(rawValue: try cells.text("kind"))
            else { continue }
            var name = owner
            name.kind = .constraint
            name.part = try cells.text("name")
            var definition = try cells.text("definition")
            if definition.hasSuffix(" NOT VALID") { definition.removeLast(" NOT VALID".count) }
            let constraint = ConstraintItem(
                kind: kind, definition: definition, isValid: try cells.flag("is_valid"),
                index: try cells.optional("index").map {
                    Self.withoutOnly($0, of: (try? cells.text("quoted_name")) ?? "")
                },
                deferral: try cells.text("deferral"), isOfDomain: owner.kind == .type)
            add(
                name,
                SchemaItem(
                    content: .constraint(constraint), comment: try cells.optional("comment"), dependencies: [owner]))
            names[Address(catalog: "pg_constraint", oid: try cells.text("oid"))] = name
            // The index of a foreign key belongs to the referenced key.
            if kind != .foreignKey, kind != .check {
                names[Address(catalog: "pg_class", oid: try cells.text("index_oid"))] = name
            }
        }
    }

    mutating func takeIndexes(_ rows: [SnapshotCells]) throws {
        for cells in rows {
            guard let relation = names[Address(catalog: "pg_class", oid: try cells.text("relation"))],
                relation.kind == .table || relation.kind == .view
            else { continue }
            let name = ItemName(kind: .index, schema: try cells.text("schema"), name: try cells.text("name"))
            let definition = Self.withoutOnly(try cells.text("definition"), of: try cells.text("quoted_name"))
            let isUnique = definition.hasPrefix("CREATE UNIQUE")
            let start = "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(try cells.text("quoted_name"))".count
            let index = IndexItem(
                unnamed: "\(isUnique)\(definition.dropFirst(start))", definition: definition,
                isValid: try cells.flag("is_valid"), relation: relation)
            add(
                name,
                SchemaItem(content: .index(index), comment: try cells.optional("comment"), dependencies: [relation]))
            names[Address(catalog: "pg_class", oid: try cells.text("oid"))] = name
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
}
