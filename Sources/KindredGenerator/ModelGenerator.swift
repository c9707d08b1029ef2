import KindredPostgres
public import KindredSchema

/// Writes Swift classes for the entities of a database.
///
/// A pure function of the model, the options and the earlier names: the same database gives the same bytes.
public struct ModelGenerator {
    /// The access level of generated declarations.
    public enum Access: String, Sendable, CaseIterable {
        /// Other packages too.
        case `public`
        /// The package that the files belong to.
        case package
        /// The module that the files belong to.
        case `internal`
    }

    /// The types of properties for `timestamp` and `timestamp with time zone`.
    public enum Dates: String, Sendable, Hashable, CaseIterable, Codable {
        /// `PostgresTimestamp`, which can represent every value of the database.
        case postgres
        /// Foundation's `Date`: rows with an infinity, or with microseconds that a `Date` cannot represent, cannot be read.
        case foundation
    }

    /// Which property has the name of a foreign key's column, where the relationship would have the same, as `author` without `_id`.
    public enum ForeignKeyNames: String, Sendable, Hashable, CaseIterable, Codable {
        /// The column, `author`; the relationship is `authorObject`.
        case column
        /// The relationship, `author`; the column is `authorID`.
        case id
    }

    let schema: DatabaseSchema
    let entities: [Entity]
    let access: Access
    let names: ModelNames
    let types: SwiftTypes

    /// Prepares the files for entities of a database.
    ///
    /// - Parameters:
    ///   - schema: The model of the database.
    ///   - entities: The entities that get a class; all of the model by default.
    ///   - access: The declarations' access level.
    ///   - dates: The types of moments; nil for the lock's types, or PostgreSQL's own if the lock names none.
    ///   - foreignKeys: Which property has the name of a foreign key's column; nil for the lock's choice, or the column if the lock
    ///     has none. Another choice than the lock's gives foreign keys and their relationships new names.
    ///   - lock: The earlier names, which are kept.
    ///   - takesAnnotations: Whether relationships get the names of annotations that are newer than the lock.
    public init(
        schema: DatabaseSchema,
        entities: [Entity]? = nil,
        access: Access = .public,
        dates: Dates? = nil,
        foreignKeys: ForeignKeyNames? = nil,
        lock: NameLock = NameLock(),
        takesAnnotations: Bool = false
    ) {
        self.schema = schema
        self.entities = entities ?? schema.entities
        self.access = access
        var lock = lock
        if let dates { lock.dates = dates == .postgres ? nil : dates }
        let renamesForeignKeys = foreignKeys.map { $0 != lock.foreignKeys ?? .column } ?? false
        if let foreignKeys { lock.foreignKeys = foreignKeys == .column ? nil : foreignKeys }
        names = ModelNames(
            schema: schema, entities: self.entities, lock: lock, takesAnnotations: takesAnnotations,
            renamesForeignKeys: renamesForeignKeys)
        types = SwiftTypes(schema: schema, names: names, dates: lock.dates ?? .postgres)
    }

    /// The names in the files and the earlier names, to be stored beside the files.
    public var lock: NameLock { names.lock }

    /// Why the names cannot be used, as where two properties of a class have one name; the lock and annotations give them.
    public var problems: [String] { names.problems }

    /// The keys that classes keep, of tables of which another unique key would be chosen today.
    public var otherKeys: [QualifiedName: [String]] {
        entities.reduce(into: [:]) { keys, entity in
            guard let kept = names.chosenKey(of: entity), Set(texts: kept) != Set(texts: entity.primaryKey) else {
                return
            }
            keys[entity.name] = kept
        }
    }

    /// The classes of the lock whose tables are gone, sorted.
    public var orphans: [String] {
        let known = Set(schema.entities.map { NameLock.key($0.name) })
        return lock.entities.filter { !known.contains($0.key) }.map(\.value.name).sorted()
    }

    /// All files, sorted by name.
    public var files: [GeneratedFile] {
        var files = [GeneratedFile(name: "KindredModels.swift", text: listFile)]
        for entity in entities {
            files.append(
                GeneratedFile(name: "\(names.className(of: entity)).swift", text: ownFile(entity), isOwn: true))
            files.append(
                GeneratedFile(name: "\(names.className(of: entity))+Properties.swift", text: propertiesFile(entity)))
        }
        for type in types.enumerations(of: entities) {
            files.append(GeneratedFile(name: "\(names.typeName(of: type.name)).swift", text: enumFile(type)))
        }
        for type in types.composites(of: entities) {
            files.append(GeneratedFile(name: "\(names.typeName(of: type.name)).swift", text: compositeFile(type)))
        }
        files.append(GeneratedFile(name: NameLock.fileName, text: lock.text))
        return files.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// The first line of every file that is always rewritten.
    static let header = "// Written by `kindred generate`; changes to this file are lost."

    /// The access modifier and a space; empty for internal declarations.
    var modifier: String { access == .internal ? "" : "\(access.rawValue) " }

    private var listFile: String {
        let classes = entities.map { "        \(names.className(of: $0)).self," }.joined(separator: "\n")
        return """
            \(Self.header)

            \(modifier)import Kindred

            /// The classes of this folder: `Database.connect(uri, classes: KindredModels.all)`.
            \(modifier)enum KindredModels {
                /// Every class, to be registered with a database.
                \(modifier)static let all: [any TypedObject.Type] = [
            \(classes)
                ]
            }

            """
    }

    private func ownFile(_ entity: Entity) -> String {
        let name = names.className(of: entity)
        return """
            \(modifier)import Kindred

            /// A row of \(SwiftText.code(entity.name.description)).
            ///
            /// This file is yours: `kindred generate` wrote it once and leaves it alone from now on. Stored properties of your
            /// own must be constant or behind a lock, since objects are used by any task.
            \(modifier)final class \(name): DatabaseObject, @unchecked Sendable {
            }

            """
    }
}

/// A generated file.
public struct GeneratedFile: Sendable, Hashable {
    /// The file's name.
    public let name: String
    /// Its contents.
    public let text: String
    /// Whether it belongs to the user after it was written.
    public let isOwn: Bool

    /// Whether a file's header says that a generator wrote it and may overwrite it.
    public static func isGenerated(_ text: String) -> Bool { text.hasPrefix(ModelGenerator.header) }

    init(name: String, text: String, isOwn: Bool = false) {
        self.name = name
        self.text = text
        self.isOwn = isOwn
    }
}
