import KindredPostgres

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The keys of all relationships at one time, each with its meaning.
///
/// A file of them, as `kindred inspect --save` writes it, tells when a key that a program uses has got another meaning:
///
/// ```swift
/// let names = try RelationshipNames(text: String(contentsOf: file, encoding: .utf8))
/// let database = try await Database.connect(uri, names: names)  // .keysChanged if a key leads elsewhere
/// ```
///
/// The meaning of a key is the entity that it leads to, and the columns that join the two; the names of constraints
/// play no part, except the names of a helper table's constraints.
public struct RelationshipNames: Sendable, Hashable {
    /// The meaning of each key, by entity and key.
    private var entities: [ServerText: [ServerText: ServerText]]

    /// The keys of a model, aliases too.
    public init(_ schema: DatabaseSchema) {
        entities = [:]
        for entity in schema.entities {
            for relationship in entity.relationships {
                let end = RelationshipMeaning(relationship)
                for key in [relationship.name] + relationship.aliases {
                    add(key, of: entity.name.description, leadingTo: end)
                }
            }
        }
    }

    package init() { entities = [:] }

    package mutating func add(_ key: String, of entity: String, leadingTo end: RelationshipMeaning) {
        entities[entity, default: [:]][key] = ServerText(end.description)
    }

    /// Reads a file's text.
    ///
    /// Throws `SchemaError` `.invalidNames` for a text that is no such file.
    public init(text: String) throws {
        do {
            let file = try JSONDecoder().decode(File.self, from: Data(text.utf8))
            guard file.version == 1 else {
                throw SchemaError(.invalidNames, "The file of names has the version \(file.version); known is 1")
            }
            entities = Dictionary(
                file.entities.map { entity, keys in
                    (
                        ServerText(entity),
                        Dictionary(keys.map { (ServerText($0), ServerText($1)) }) { first, _ in first }
                    )
                }, uniquingKeysWith: { first, _ in first })
        } catch let error as DecodingError {
            throw SchemaError(.invalidNames, "The text is no file of names of `kindred inspect --save`: \(error)")
        }
    }

    /// The text of a file, with a line for each key, sorted.
    public var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Texts can always be encoded.
        guard let data = try? encoder.encode(File(version: 1, entities: entities.mapValues(\.texts).texts)) else {
            return "{}\n"
        }
        return String(decoding: data, as: UTF8.self) + "\n"
    }

    private struct File: Codable {
        let version: Int
        let entities: [String: [String: String]]
    }

    /// The number of keys.
    public var count: Int { entities.values.reduce(0) { $0 + $1.count } }

    /// The keys that lead elsewhere by newer names, or nowhere, sorted; entities that are gone have no keys.
    public func changes(to newer: RelationshipNames) -> [KeyChange] {
        entities.sorted { $0.key < $1.key }.flatMap { entity, keys -> [KeyChange] in
            guard let now = newer.entities[entity] else { return [] }
            return keys.sorted { $0.key < $1.key }.compactMap { key, meaning in
                guard now[key] != meaning else { return nil }
                let others = now.filter { $0.value == meaning }.map(\.key.text).sorted {
                    ($0.count, $0) < ($1.count, $1)
                }
                return KeyChange(
                    entity: entity.text, key: key.text, before: meaning.text, after: now[key]?.text,
                    otherKey: others.first)
            }
        }
    }
}

/// A key of a relationship that does not lead where it led.
public struct KeyChange: Sendable, Hashable, CustomStringConvertible {
    /// The entity, such as `public.task`.
    public let entity: String
    /// The key.
    public let key: String
    /// The meaning that it had: the entity, and the columns that join the two.
    public let before: String
    /// The meaning that it has now; nil if it is no longer a key.
    public let after: String?
    /// The shortest key that now has the meaning it had; nil if none has.
    public let otherKey: String?

    /// One line for people.
    public var description: String {
        let now = after.map { "leads to \($0) now, and led to \(before)" } ?? "is no key any more; it led to \(before)"
        return "\(entity).\(key) \(now)" + (otherKey.map { ", as \($0) does" } ?? "")
    }
}

/// The meaning of a key, in words: the entity, and the columns or helper that join the two.
package struct RelationshipMeaning: CustomStringConvertible {
    package let description: String

    package init(
        destination: String, isToMany: Bool, columns: [String], destinationColumns: [String],
        helper: (entity: String, foreignKeys: [String])?
    ) {
        let end = destination + (isToMany ? "[]" : "")
        if let helper {
            description = "\(end) through \(helper.entity) by \(helper.foreignKeys.joined(separator: ", "))"
        } else {
            let pairs = zip(columns, destinationColumns).map { "\($0) = \($1)" }
            description = "\(end) by \(pairs.joined(separator: ", "))"
        }
    }

    init(_ relationship: Relationship) {
        self.init(
            destination: relationship.destination.description, isToMany: relationship.isToMany,
            columns: relationship.columns, destinationColumns: relationship.destinationColumns,
            helper: relationship.helper.map {
                ($0.entity.description, [$0.sourceForeignKey, $0.destinationForeignKey])
            })
    }
}

extension [ServerText: ServerText] {
    /// For a file, whose format takes two spellings of a letter for one.
    fileprivate var texts: [String: String] { mapValues(\.text).texts }
}

extension Dictionary where Key == ServerText {
    fileprivate var texts: [String: Value] {
        Dictionary<String, Value>(map { ($0.key.text, $0.value) }, uniquingKeysWith: { first, _ in first })
    }
}
