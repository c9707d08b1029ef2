import KindredPostgres

// Functions, triggers, policies, extensions and other things that their own statements make.
extension SnapshotReader {
    mutating func takeFunctions(_ rows: [SnapshotCells]) throws {
        for cells in rows {
            let address = Address(catalog: "pg_proc", oid: try cells.text("oid"))
            // A range's constructors come and go with it.
            if let type = try cells.optional("type") {
                names[address] = names[Address(catalog: "pg_type", oid: type)]
                continue
            }
            let (schema, signature) = (try cells.text("schema"), try cells.text("name"))
            let name =
                try cells.flag("is_aggregate")
                ? ItemName(kind: .other, schema: schema, name: "aggregate", part: "\(schema).\(signature)")
                : ItemName(kind: .function, schema: schema, name: signature)
            let object = ObjectItem(
                definition: [try cells.text("definition")], target: try cells.text("target"),
                form: try cells.optional("form"))
            var item = SchemaItem(
                content: .object(object), comment: try cells.optional("comment"), grants: try cells.grants("grants"))
            item.privilege = try cells.optional("privilege")
            add(name, item)
            names[address] = name
        }
    }

    mutating func takeObjects(_ rows: [SnapshotCells]) throws {
        for cells in rows {
            let kind = try cells.text("kind")
            let relation = try cells.optional("relation")
            let owner = relation.flatMap { names[Address(catalog: "pg_class", oid: $0)] }
            // On a relation that is nothing of the user's.
            if relation != nil, owner == nil { continue }
            let name = Self.name(kind, try cells.text("name"), in: try cells.text("schema"), on: owner)
            var item = SchemaItem(
                content: try content(kind, cells), comment: try cells.optional("comment"),
                grants: try cells.grants("grants"), roles: try cells.list("roles"),
                dependencies: owner.map { [$0] } ?? [])
            if case .extension(let `extension`) = item.content {
                item.dependencies.insert(ItemName(kind: .schema, schema: `extension`.schema))
            }
            add(name, item)
            names[Address(catalog: try cells.text("catalog"), oid: try cells.text("oid"))] = name
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

    private func content(_ kind: String, _ cells: SnapshotCells) throws -> ItemContent {
        switch kind {
        case "extension":
            return .extension(
                ExtensionItem(schema: try cells.text("schema"), version: try cells.optional("detail")))
        case "default privileges":
            return .defaultPrivileges(
                DefaultPrivileges(statement: try cells.text("target"), objects: try cells.text("detail")))
        default:
            let definition = try cells.list("definition")
            if definition.isEmpty { return .other(try cells.text("detail")) }
            return .object(
                ObjectItem(definition: definition, target: try cells.text("target"), form: try cells.optional("form")))
        }
    }

    mutating func takeSettings(_ rows: [SnapshotCells]) throws {
        for cells in rows {
            guard let owner = name(try cells.text("catalog"), try cells.text("oid"), try cells.text("number")) else {
                continue
            }
            let setting = Setting(
                key: try cells.text("key"), value: try cells.text("value"), reset: try cells.optional("reset"),
                needed: try cells.optional("needed").flatMap { name("pg_class", $0, "0") },
                column: try cells.optional("column"))
            snapshot.items[owner]?.settings.append(setting)
        }
    }
}
