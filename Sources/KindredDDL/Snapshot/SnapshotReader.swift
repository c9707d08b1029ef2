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
        var answers = try await client.readCatalog([SnapshotQueries.session] + SnapshotQueries.all, isAlone: true)
        var reader = SnapshotReader()
        try answers.rows("the session").forEach { reader.snapshot.serverVersion = Int($0["version"] as Int32) }
        try reader.takeSchemas(answers.rows("schemas"))
        try reader.takeTypes(answers.rows("types"))
        try reader.takeRelations(answers.rows("relations"), columns: answers.rows("columns"))
        try reader.takeConstraints(answers.rows("constraints"))
        try reader.takeIndexes(answers.rows("indexes"))
        try reader.takeFunctions(answers.rows("functions"))
        try reader.takeObjects(answers.rows("objects"))
        try reader.takeSettings(answers.rows("properties"))
        try reader.takeDependencies(answers.rows("dependencies"))
        try answers.rows("casts").forEach { row in
            let types = ServerText(row.text("types"))
            if row["is_assignment"] {
                reader.snapshot.assignmentCasts.insert(types)
            } else {
                reader.snapshot.explicitCasts.insert(types)
            }
        }
        return reader.snapshot.indexed()
    }

    mutating func add(_ name: ItemName, _ item: SchemaItem) {
        var item = item
        // Everything stands in a schema, and parts on their tables.
        if name.kind != .schema, !name.schema.isEmpty {
            item.dependencies.insert(ItemName(kind: .schema, schema: name.schema))
        }
        snapshot.items[name] = item
    }

    mutating func takeSchemas(_ rows: CatalogRows) throws {
        try rows.forEach { row in
            let name = ItemName(kind: .schema, schema: row.text("name"))
            add(name, SchemaItem(content: .schema, comment: row["comment"], grants: row.grants()))
        }
    }

    mutating func takeTypes(_ rows: CatalogRows) throws {
        try rows.forEach { row in
            let name = ItemName(kind: .type, schema: row.text("schema"), name: row.text("name"))
            let content: ItemContent
            switch row.text("kind") {
            case "e": content = .enumeration(labels: row["labels"])
            case "d":
                content = .domain(
                    Domain(
                        base: row.text("base"), collation: row["collation"],
                        isNotNull: row["is_not_null"], defaultText: row["default_text"]))
            case "r": content = .range(row.text("definition"))
            // Base types and shells, and ranges whose function needs a shell.
            default: content = .other(row.text("definition"))
            }
            add(name, SchemaItem(content: content, comment: row["comment"], grants: row.grants()))
            for column in ["oid", "array_type", "multirange"] {
                if let oid: String = row[column], oid != "0" {
                    names[Address(catalog: "pg_type", oid: oid)] = name
                }
            }
        }
    }

    mutating func takeDependencies(_ rows: CatalogRows) throws {
        try rows.forEach { row in
            let dependent = name(row.text("catalog"), row.text("oid"), row.text("number"))
            if let dependent, let name: String = row["extension"], dependent.kind != .extension {
                snapshot.items[dependent]?.extensions.insert(ServerText(name))
            }
            guard let dependent,
                let dependency = name(row.text("needed_catalog"), row.text("needed_oid"), row.text("needed_number")),
                dependent != dependency
            else { return }
            // A sequence goes with its column; things that use it come after it all the same.
            if dependent.kind == .sequence { return }
            // A table is made before the parts that it is said to depend on.
            if dependent.kind == .table, dependency.kind == .column || dependency.kind == .constraint,
                dependency.owner() == dependent
            {
                return
            }
            snapshot.items[dependent]?.dependencies.insert(dependency)
        }
    }

    func name(_ catalog: String, _ oid: String, _ column: String) -> ItemName? {
        let number = Int(column) ?? 0
        return names[Address(catalog: catalog, oid: oid, column: number)] ?? names[Address(catalog: catalog, oid: oid)]
    }
}

extension CatalogRow {
    /// A text; empty for NULL.
    mutating func text(_ column: String) -> String { self[column] ?? "" }

    /// Privileges: the privilege, whether it can be passed on, the length of a column's name, and both names.
    mutating func grants() -> [Grant] {
        let texts: [String] = self["grants"]
        return texts.compactMap { text in
            let parts = text.split(separator: "\t", maxSplits: 3, omittingEmptySubsequences: false)
            guard parts.count == 4, let length = Int(parts[2]) else { return nil }
            let names = parts[3].unicodeScalars
            return Grant(
                role: String(names.dropFirst(length)), privilege: String(parts[0]),
                column: String(names.prefix(length)), isGrantable: parts[1] == "true")
        }.sorted()
    }
}
