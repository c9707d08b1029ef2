import KindredPostgres
public import KindredSchema

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension SchemaDifferences {
    /// The keys of relationships that lead elsewhere on the new side, or nowhere, sorted: a program that uses keys by
    /// name has to look at them.
    ///
    /// A database gets the statements of `SchemaReader.read`; a script runs in a new database of the private server.
    ///
    /// - Parameters:
    ///   - from: The schema that is there.
    ///   - to: The schema that is wanted.
    ///   - extensions: As ``Options/extensions``.
    /// - Throws: ``SchemaDifferencesError``, and `PostgresError` if a server fails otherwise.
    public static func keyChanges(
        _ from: SchemaSource, _ to: SchemaSource, extensions: [String] = []
    ) async throws -> [KeyChange] {
        let (old, new) = (
            try await model(of: from, extensions: extensions), try await model(of: to, extensions: extensions)
        )
        return old.model.names.changes(to: new.model.names)
    }

    /// Compares the contents of an inspection's JSON.
    static func betweenModels(_ from: SchemaSource, _ to: SchemaSource) async throws -> SchemaDifferences {
        var result = SchemaDifferences()
        result.isOfModels = true
        result.proof = .skipped("an inspection's JSON holds no whole schema")
        let (old, new) = (try await model(of: from), try await model(of: to))
        result.unmanaged = InspectedModel.differences(old.model, new.model)
        result.remarks = [
            "Compared is what the JSON of an inspection holds: entities, attributes with type, NOT NULL, whether they have a "
                + "default or are generated, primary keys and relationships. There are no statements."
        ]
        result.remarks += (old.problems + new.problems).map {
            "Without an annotation that does not fit: \($0.location): \($0.reason)"
        }
        return result
    }

    /// A side's model, and the annotations that do not fit and are not in it.
    private typealias Side = (model: InspectedModel, problems: [AnnotationProblem])

    private static func model(of source: SchemaSource, extensions: [String] = []) async throws -> Side {
        switch source {
        case .inspection(let text, let name): return (try InspectedModel(text, name: name), [])
        case .database(let configuration):
            let client: PostgresClient
            do {
                client = try await PostgresClient.connectCatalogOnly(configuration)
            } catch let error as PostgresError {
                throw SchemaDifferencesError(.unreachable, error.message)
            }
            return try await inspect(client)
        case .sql(let text, let name):
            let script = try ScratchScript(text, name: name)
            return try await ScratchServer.withServer(extensions: extensions) { server in
                try await script.withDatabase(of: server) { client, _ in
                    let (schema, problems) = try await SchemaReader.readDiagnosed(from: client)
                    return (try InspectedModel(schema.json(), name: name), problems)
                }
            }
        }
    }

    private static func inspect(_ client: PostgresClient) async throws -> Side {
        let (schema, problems) = try await client.lend { try await SchemaReader.readDiagnosed(from: $0) }
        return (try InspectedModel(schema.json(), name: "the database"), problems)
    }
}

/// The part of an inspection's JSON that is compared.
struct InspectedModel: Decodable {
    struct Entity: Decodable {
        struct Attribute: Decodable, Equatable {
            let name: String
            let type: String
            let notNull: Bool
            let hasDefault: Bool
            let generated: Bool

            var described: String {
                type + (notNull ? " not null" : "") + (generated ? " generated" : hasDefault ? " with a default" : "")
            }
        }

        struct Relationship: Decodable, Equatable {
            let name: String
            let kind: String
            let destination: String
            let inverse: String
            let deleteRule: String
            // Not in inspections of early versions.
            private let aliases: [String]?
            private let toMany: Bool?
            private let columns: [String]?
            private let destinationColumns: [String]?
            private let helper: Helper?

            struct Helper: Decodable, Equatable {
                let entity: String
                let sourceForeignKey: String
                let destinationForeignKey: String
            }

            var keys: [String] { [name] + (aliases ?? []) }

            var meaning: RelationshipMeaning {
                RelationshipMeaning(
                    destination: destination, isToMany: toMany ?? false, columns: columns ?? [],
                    destinationColumns: destinationColumns ?? [],
                    helper: helper.map { ($0.entity, [$0.sourceForeignKey, $0.destinationForeignKey]) })
            }

            static func == (left: Self, right: Self) -> Bool {
                left.name == right.name && left.described == right.described
            }

            var described: String { "\(kind) to \(destination), inverse \(inverse), deleting: \(deleteRule)" }
        }

        let name: String
        let schema: String
        let kind: String
        let primaryKey: [String]
        let attributes: [Attribute]
        let relationships: [Relationship]

        var path: String { "\(schema).\(name)" }
    }

    let format: Int
    let entities: [Entity]

    /// Reads JSON that a later version may have added members to.
    init(_ text: String, name: String) throws {
        do {
            self = try JSONDecoder().decode(InspectedModel.self, from: Data(text.utf8))
        } catch {
            throw SchemaDifferencesError(
                .invalidSource, "\(name) is not the JSON that `kindred inspect --format json` prints.")
        }
        guard format == 1 else {
            throw SchemaDifferencesError(.invalidSource, "\(name) has the format \(format); known is 1.")
        }
    }

    /// The keys of relationships.
    var names: RelationshipNames {
        var names = RelationshipNames()
        for entity in entities {
            for relationship in entity.relationships {
                for key in relationship.keys { names.add(key, of: entity.path, leadingTo: relationship.meaning) }
            }
        }
        return names
    }

    /// A line for each difference.
    static func differences(_ old: InspectedModel, _ new: InspectedModel) -> [String] {
        // The first of two entities with the same name in hostile JSON counts.
        let before = Dictionary(old.entities.map { ($0.path, $0) }) { first, _ in first }
        let after = Dictionary(new.entities.map { ($0.path, $0) }) { first, _ in first }
        return Set(before.keys).union(after.keys).sorted().flatMap { path -> [String] in
            guard let old = before[path] else { return ["\(path) is only on the new side."] }
            guard let new = after[path] else { return ["\(path) is only on the old side."] }
            var lines: [String] = []
            if old.kind != new.kind { lines.append("\(path) was a \(old.kind) and is a \(new.kind).") }
            if old.primaryKey != new.primaryKey {
                lines.append(
                    "\(path) had the key (\(old.primaryKey.joined(separator: ", "))) and has "
                        + "(\(new.primaryKey.joined(separator: ", "))).")
            }
            lines += parts(path, old.attributes, new.attributes, \.name, \.described)
            lines += parts(path, old.relationships, new.relationships, \.name, \.described)
            return lines
        }
    }

    private static func parts<Part: Equatable>(
        _ path: String, _ old: [Part], _ new: [Part], _ name: (Part) -> String, _ described: (Part) -> String
    ) -> [String] {
        let before = Dictionary(old.map { (name($0), $0) }) { first, _ in first }
        let after = Dictionary(new.map { (name($0), $0) }) { first, _ in first }
        return Set(before.keys).union(after.keys).sorted().compactMap { key in
            switch (before[key], after[key]) {
            case (nil, let new?): "\(path).\(key) is only on the new side (\(described(new)))."
            case (let old?, nil): "\(path).\(key) is only on the old side (\(described(old)))."
            case (let old?, let new?) where old != new:
                "\(path).\(key) was \(described(old)) and is \(described(new))."
            default: nil
            }
        }
    }
}
