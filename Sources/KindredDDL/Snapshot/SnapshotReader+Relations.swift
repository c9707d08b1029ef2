import KindredPostgres

// Tables, views and sequences, with their columns, constraints and indexes.
extension SnapshotReader {
    mutating func takeRelations(_ rows: QueryResult, columns: QueryResult) throws {
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
                name = name.foreignTable
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
        var inherited: [ItemName: [String: ColumnOverride]] = [:]
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
            let isGenerated = !(try cells.text(7)).isEmpty
            guard try cells.flag(9) else {
                let isComputed = try isGenerated || !cells.text(6).isEmpty
                inherited[relation.name, default: [:]][field.name] = ColumnOverride(
                    defaultText: isComputed ? nil : try cells.optional(5), isNotNull: try cells.flag(4))
                continue
            }
            var name = relation.name
            name.kind = .column
            name.part = field.name
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
                    name.rowSecurity, SchemaItem(content: .other(security)))
            }
        }
        takeOverrides(inherited)
    }

    /// Keeps of inherited columns what is not as their parents have it.
    private mutating func takeOverrides(_ inherited: [ItemName: [String: ColumnOverride]]) {
        for (name, columns) in inherited {
            guard var table = snapshot.table(name) else { continue }
            table.overrides = columns.filter { column, own in
                let parents = table.parents.compactMap { parent in
                    inherited[parent]?[column] ?? snapshot.ownState(of: column, in: parent)
                }
                return parents.first.map { $0 != own } ?? false
            }
            snapshot.items[name]?.content = .table(table)
        }
    }

    mutating func takeConstraints(_ rows: QueryResult) throws {
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

    mutating func takeIndexes(_ rows: QueryResult) throws {
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
}
