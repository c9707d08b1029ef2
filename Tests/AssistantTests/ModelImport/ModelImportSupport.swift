import Foundation
import Kindred
import KindredModelImport
import KindredTesting
import Testing

/// The models of the tests, written as Xcode writes them.
enum ModelFixture {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")

    static func path(_ name: String) -> String { folder.appending(path: "\(name).xcdatamodeld").path }

    static func model(_ name: String, version: String? = nil) throws -> CoreDataModel {
        try CoreDataModel(at: path(name), version: version)
    }

    /// The text of every version's file.
    static func allContents() throws -> [[UInt8]] {
        let files = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        return try files.filter { $0.hasSuffix("/contents") }.sorted().map {
            [UInt8](try Data(contentsOf: folder.appending(path: $0)))
        }
    }

    /// A model of the text between `<model>` and `</model>`.
    static func model(xml: String) throws -> CoreDataModel {
        try CoreDataModel(contents: Array("<model>\(xml)</model>".utf8), name: "Test")
    }
}

/// Lends a client for the test's database.
func withClient<T>(_ body: (PostgresClient) async throws -> T) async throws -> T {
    try await PostgresClient.connect(PostgresConfiguration(uri: TestDatabase.current.uri)).lend(body)
}

/// Removes every table.
func emptyDatabase(_ client: PostgresClient) async throws {
    try await client.query("DROP SCHEMA public CASCADE")
    try await client.query("CREATE SCHEMA public")
}

/// Imports a model into the test's database and connects to it.
func importModel(_ model: CoreDataModel, _ options: ModelImportOptions = ModelImportOptions()) async throws -> Database
{
    let tables = try ModelImport(model, options)
    try await withClient { try await tables.apply(to: $0) }
    return try await TestDatabase.current.connect()
}

/// Expects that what inspection finds is what a model says: entities, kinds, inverses, names, rules, counts and orders.
struct ModelExpectation {
    let model: CoreDataModel
    var inheritance = ModelImportOptions.Inheritance.single

    /// The name of the table that an entity's objects are in.
    func table(of entity: String) -> String {
        var name = entity
        if inheritance == .joined { return name }
        while let parent = model.entities.first(where: { $0.name == name })?.parent,
            model.entities.contains(where: { $0.name == parent })
        {
            name = parent
        }
        return name
    }

    private func isWhole(_ entity: CoreDataModel.Entity) -> Bool {
        inheritance == .joined || table(of: entity.name) == entity.name
    }

    func check(_ schema: DatabaseSchema, _ note: String = "", sourceLocation: SourceLocation = #_sourceLocation) throws
    {
        for entity in model.entities {
            let found = try schema.entity(named: table(of: entity.name))
            for attribute in entity.attributes {
                let lines = differences(attribute, entity, found)
                #expect(
                    lines.isEmpty, "\(note) \(entity.name).\(attribute.name): \(lines)", sourceLocation: sourceLocation)
            }
            for relationship in entity.relationships {
                let place = "\(entity.name).\(relationship.name)"
                guard let made = found.relationship(named: relationship.name) else {
                    Issue.record("\(note) \(place) is missing", sourceLocation: sourceLocation)
                    continue
                }
                let lines = try differences(relationship, entity, made)
                #expect(lines.isEmpty, "\(note) \(place): \(lines)", sourceLocation: sourceLocation)
            }
        }
        // Nothing is there that the model does not have, except relationships to helper tables and to parents' rows.
        let helpers = Set(schema.entities.flatMap { $0.relationships.compactMap { $0.helper?.entity.name } })
        let tables = Set(model.entities.map { table(of: $0.name) })
        #expect(Set(schema.entities.map(\.name.name)).subtracting(helpers) == tables, sourceLocation: sourceLocation)
        for entity in schema.entities where !helpers.contains(entity.name.name) {
            let wanted = model.entities.filter { table(of: $0.name) == entity.name.name }
                .flatMap { $0.relationships.map(\.name) }
            // The relationship from a sub-entity's row to its parent's row leads from key to key.
            let others = entity.relationships.filter { relationship in
                !helpers.contains(relationship.destination.name)
                    && !(relationship.helper == nil && relationship.columns == entity.primaryKey
                        && relationship.destinationColumns == schema[relationship.destination]?.primaryKey)
            }
            #expect(
                others.map(\.name).sorted() == wanted.sorted(), "\(note) \(entity.name)", sourceLocation: sourceLocation
            )
        }
    }

    private static let types = [
        "Integer 16": "smallint", "Integer 32": "integer", "Integer 64": "bigint", "Decimal": "numeric",
        "Double": "double precision", "Float": "real", "String": "text", "Boolean": "boolean",
        "Date": "timestamp with time zone", "Binary": "bytea", "UUID": "uuid", "URI": "text", "Transformable": "bytea",
    ]

    private func differences(
        _ attribute: CoreDataModel.Attribute, _ entity: CoreDataModel.Entity, _ table: Entity
    ) -> [String] {
        guard let made = table.attribute(named: attribute.name) else { return ["missing"] }
        var lines: [String] = []
        if made.typeName != Self.types[attribute.type] { lines.append(made.typeName) }
        if made.isNotNull != (!attribute.isOptional && isWhole(entity)) { lines.append("NOT NULL \(made.isNotNull)") }
        if made.hasDefault != (attribute.defaultValue != nil) { lines.append("DEFAULT \(made.hasDefault)") }
        return lines
    }

    private func differences(
        _ relationship: CoreDataModel.Relationship, _ entity: CoreDataModel.Entity, _ made: Relationship
    ) throws -> [String] {
        let destination = try #require(model.entities.first { $0.name == relationship.destination })
        let inverse = try #require(destination.relationships.first { $0.name == relationship.inverse })
        let kind: Relationship.Kind =
            switch (relationship.isToMany, inverse.isToMany) {
            case (true, true): .manyToMany
            case (true, false): .oneToMany
            case (false, true): .manyToOne
            case (false, false): .oneToOne
            }
        var lines: [String] = []
        func compare<Value: Equatable>(_ what: String, _ found: Value, _ wanted: Value) {
            if found != wanted { lines.append("\(what) \(found), not \(wanted)") }
        }
        compare("name", made.name, relationship.name)
        compare("kind", made.kind, kind)
        compare("destination", made.destination.name, table(of: destination.name))
        compare("inverse", made.inverse, inverse.name)
        compare(
            "rule", made.deleteRule.rawValue.lowercased(),
            relationship.deleteRule.rawValue.lowercased().filter { $0 != " " })
        let isRequired = !relationship.isOptional && made.holdsForeignKey && isWhole(entity)
        compare("optional", made.isOptional, !isRequired)
        compare("ordered", made.isOrdered, relationship.isToMany && relationship.isOrdered)
        let declared = relationship.minimumCount ?? 0
        let minimum = relationship.isOptional ? (declared > 1 ? declared : nil) : max(1, declared)
        compare("minimum", made.minimumCount, relationship.isToMany ? minimum : nil)
        compare("maximum", made.maximumCount, relationship.isToMany ? relationship.maximumCount : nil)
        return lines
    }
}
