import KindredPostgres
import KindredSchema

// Tables, views and sequences, with their columns, constraints and indexes.
extension SnapshotReader {
    mutating func takeRelations(_ rows: CatalogRows, columns: CatalogRows) throws {
        var kinds: [ServerText: (name: ItemName, kind: String)] = [:]
        try rows.forEach { row in
            let (oid, kind) = (row.text("oid"), row.text("kind"))
            let itemKind: ItemName.Kind =
                switch kind {
                case "r", "p": .table
                case "v", "m": .view
                case "S": .sequence
                case "c": .type
                default: .foreignTable
                }
            let name = ItemName(kind: itemKind, schema: row.text("schema"), name: row.text("name"))
            kinds[oid] = (name, kind)
            names[Address(catalog: "pg_class", oid: oid)] = name
            for column in ["type", "array_type"] {
                if let type: String = row[column], type != "0" {
                    names[Address(catalog: "pg_type", oid: type)] = name
                }
            }
        }
        var fields: [ServerText: [Field]] = [:]
        var inherited: [ItemName: [ServerText: ColumnOverride]] = [:]
        try columns.forEach { row in
            let oid = row.text("relation")
            guard let relation = kinds[oid] else { return }
            let field = Field(name: row.text("name"), type: row.text("type"), collation: row["collation"])
            var name = relation.name
            name.kind = .column
            name.part = field.name
            let position = Int(row.text("number")) ?? 0
            guard relation.name.kind == .table else {
                fields[oid, default: []].append(field)
                if relation.name.kind == .view || relation.name.kind == .foreignTable {
                    let item = SchemaItem(
                        content: .viewColumn, comment: row["comment"], position: position,
                        dependencies: [relation.name])
                    add(name, item)
                }
                return
            }
            let isGenerated = !(row.text("generation")).isEmpty
            guard row["is_own"] else {
                let isComputed = isGenerated || !row.text("identity").isEmpty
                inherited[relation.name, default: [:]][field.name] = ColumnOverride(
                    defaultText: isComputed ? nil : row["expression"],
                    isNotNull: row["is_not_null"])
                return
            }
            let expression: String? = row["expression"]
            let column = ColumnItem(
                type: field.type, collation: field.collation, isNotNull: row["is_not_null"],
                defaultText: isGenerated ? nil : expression, generation: isGenerated ? expression : nil,
                identity: ColumnItem.Identity(rawValue: row.text("identity")),
                identityOptions: row["identity_options"], base: row.text("base"),
                isText: row["is_text"])
            add(
                name,
                SchemaItem(
                    content: .column(column), comment: row["comment"], position: position,
                    dependencies: [relation.name]))
            names[Address(catalog: "pg_class", oid: oid, column: position)] = name
        }
        try rows.forEach { row in
            let oid = row.text("oid")
            guard let (name, kind) = kinds[oid] else { return }
            let parents = (row["parents"] as [String]).compactMap { kinds[$0]?.name }
            add(
                name,
                SchemaItem(
                    content: try content(of: name, kind, &row, parents, fields[oid] ?? []),
                    comment: row["comment"], grants: row.grants(),
                    dependencies: Set(parents)))
        }
        takeOverrides(inherited)
    }

    private func content(
        of name: ItemName, _ kind: String, _ row: inout CatalogRow, _ parents: [ItemName], _ fields: [Field]
    ) throws -> ItemContent {
        let isUnlogged: Bool = row["is_unlogged"]
        switch kind {
        case "r", "p":
            return .table(
                TableItem(
                    isUnlogged: isUnlogged, options: row["options"],
                    partitionKey: row["partition_key"], bound: row["bound"],
                    parents: parents))
        case "v", "m":
            return .view(
                ViewItem(
                    query: row.text("definition"), isMaterialized: kind == "m",
                    options: row["options"],
                    columns: fields))
        case "S":
            let owner = (row["owned_by"] as String?).flatMap { text -> ItemName? in
                let parts = text.split(separator: "/")
                guard parts.count == 2, let number = Int(parts[1]) else { return nil }
                return names[Address(catalog: "pg_class", oid: String(parts[0]), column: number)]
            }
            return .sequence(
                SequenceItem(
                    type: row.text("sequence_type"), options: row["sequence_options"], owner: owner,
                    isUnlogged: isUnlogged))
        case "c": return .composite(fields)
        default:
            return .object(
                ObjectItem(definition: [row.text("definition")], target: "FOREIGN TABLE \(try name.quotedPath)"))
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

    mutating func takeConstraints(_ rows: CatalogRows) throws {
        try rows.forEach { row in
            let relation = names[Address(catalog: "pg_class", oid: row.text("relation"))]
            let domain = names[Address(catalog: "pg_type", oid: row.text("domain"))]
            guard let owner = relation ?? domain, owner.kind == .table || owner.kind == .type,
                let kind = ConstraintItem.Kind(rawValue: row.text("kind"))
            else { return }
            var name = owner
            name.kind = .constraint
            name.part = row.text("name")
            var definition = row.text("definition")
            if definition.hasSuffix(" NOT VALID") { definition.removeLast(" NOT VALID".count) }
            let constraint = ConstraintItem(
                kind: kind, definition: definition, isValid: row["is_valid"],
                index: (row["index"] as String?).map {
                    Self.withoutOnly($0, of: row.text("quoted_name"))
                },
                deferral: row.text("deferral"), isOfDomain: owner.kind == .type)
            add(name, SchemaItem(content: .constraint(constraint), comment: row["comment"], dependencies: [owner]))
            names[Address(catalog: "pg_constraint", oid: row.text("oid"))] = name
            // The index of a foreign key belongs to the referenced key.
            if kind != .foreignKey, kind != .check {
                names[Address(catalog: "pg_class", oid: row.text("index_oid"))] = name
            }
        }
    }

    mutating func takeIndexes(_ rows: CatalogRows) throws {
        try rows.forEach { row in
            guard let relation = names[Address(catalog: "pg_class", oid: row.text("relation"))],
                relation.kind == .table || relation.kind == .view
            else { return }
            let name = ItemName(kind: .index, schema: row.text("schema"), name: row.text("name"))
            let definition = Self.withoutOnly(row.text("definition"), of: row.text("quoted_name"))
            let isUnique = definition.hasPrefix("CREATE UNIQUE")
            let start = "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(row.text("quoted_name"))".count
            let index = IndexItem(
                unnamed: "\(isUnique)\(definition.dropFirst(start))", definition: definition,
                isValid: row["is_valid"], relation: relation)
            add(name, SchemaItem(content: .index(index), comment: row["comment"], dependencies: [relation]))
            names[Address(catalog: "pg_class", oid: row.text("oid"))] = name
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
