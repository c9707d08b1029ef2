import KindredPostgres

/// How a model becomes tables.
public struct ModelImportOptions: Sendable, Hashable {
    /// How entities that inherit become tables.
    public enum Inheritance: String, Sendable, Hashable, CaseIterable {
        /// One table for a root entity and all below it, with a column that names each row's entity, as Core Data stores it.
        case single
        /// A table for each entity; a row of a sub-entity has the key of its parent's row.
        case joined
    }

    /// The schema that the tables are made in.
    public var schema: String
    /// How entities that inherit become tables.
    public var inheritance: Inheritance
    /// The configuration whose entities are taken; nil for all.
    public var configuration: String?
    /// The entities that are taken, together with the entities that they inherit from; empty for all.
    public var entities: [String]
    /// Whether a migration removes entities and properties that the newer version no longer has, with their data, and
    /// changes values that do not fit the newer type, such as 1.5 for a whole number.
    public var allowsDrops: Bool

    /// The usual way: everything, into `public`, with a table for each line of inheritance.
    public init(
        schema: String = "public", inheritance: Inheritance = .single, configuration: String? = nil,
        entities: [String] = [], allowsDrops: Bool = false
    ) {
        self.schema = schema
        self.inheritance = inheritance
        self.configuration = configuration
        self.entities = entities
        self.allowsDrops = allowsDrops
    }
}
