import KindredPostgres
import KindredSchema

// Functions, triggers, policies, extensions and other things that their own statements make.
extension SnapshotReader {
    mutating func takeFunctions(_ rows: CatalogRows) throws {
        try rows.forEach { row in
            let address = Address(catalog: "pg_proc", oid: row.text("oid"))
            // A range's constructors come and go with it.
            if let type: String = row["type"] {
                names[address] = names[Address(catalog: "pg_type", oid: type)]
                return
            }
            let (schema, signature) = (row.text("schema"), row.text("name"))
            let name =
                row["is_aggregate"] as Bool
                ? ItemName(kind: .other, schema: schema, name: "aggregate", part: "\(schema).\(signature)")
                : ItemName(kind: .function, schema: schema, name: signature)
            let object = ObjectItem(definition: [row.text("definition")], target: row.text("target"), form: row["form"])
            var item = SchemaItem(content: .object(object), comment: row["comment"], grants: row.grants())
            item.privilege = row["privilege"]
            add(name, item)
            names[address] = name
        }
    }

    mutating func takeObjects(_ rows: CatalogRows) throws {
        try rows.forEach { row in
            let kind = row.text("kind")
            let relation: String? = row["relation"]
            let owner = relation.flatMap { names[Address(catalog: "pg_class", oid: $0)] }
            // On a relation that is nothing of the user's.
            if relation != nil, owner == nil { return }
            let name = Self.name(kind, row.text("name"), in: row.text("schema"), on: owner)
            var item = SchemaItem(
                content: try content(kind, &row), comment: row["comment"],
                grants: row.grants(), roles: row["roles"],
                dependencies: owner.map { [$0] } ?? [])
            if case .extension(let `extension`) = item.content {
                item.dependencies.insert(ItemName(kind: .schema, schema: `extension`.schema))
            }
            add(name, item)
            names[Address(catalog: row.text("catalog"), oid: row.text("oid"))] = name
        }
    }

    private static func name(_ kind: String, _ name: String, in schema: String, on owner: ItemName?) -> ItemName {
        switch (kind, owner) {
        case ("trigger", let owner?):
            return ItemName(kind: .trigger, schema: owner.schema, name: owner.name, part: name)
        case ("policy", let owner?):
            return ItemName(kind: .policy, schema: owner.schema, name: owner.name, part: name)
        case ("extension", _): return ItemName(kind: .extension, schema: "", name: name)
        default:
            let place = owner?.shown ?? schema
            return ItemName(
                kind: .other, schema: owner?.schema ?? schema, name: kind,
                part: place.isEmpty ? name : "\(place).\(name)")
        }
    }

    private func content(_ kind: String, _ row: inout CatalogRow) throws -> ItemContent {
        switch kind {
        case "extension":
            return .extension(ExtensionItem(schema: row.text("schema"), version: row["detail"]))
        case "default privileges":
            return .defaultPrivileges(DefaultPrivileges(statement: row.text("target"), objects: row.text("detail")))
        default:
            let definition: [String] = row["definition"]
            if definition.isEmpty { return .other(row.text("detail")) }
            return .object(ObjectItem(definition: definition, target: row.text("target"), form: row["form"]))
        }
    }

    mutating func takeSettings(_ rows: CatalogRows) throws {
        try rows.forEach { row in
            guard let owner = name(row.text("catalog"), row.text("oid"), row.text("number")) else {
                return
            }
            let setting = Setting(
                key: row.text("key"), value: row.text("value"), reset: row["reset"],
                needed: (row["needed"] as String?).flatMap { name("pg_class", $0, "0") }, column: row["column"],
                isUnknown: row["is_unknown"])
            snapshot.items[owner]?.settings.append(setting)
        }
    }
}
