import KindredPostgres

/// A table or view with its attributes and relationships.
///
/// Instances are immutable and compared by value.
public final class Entity: Sendable {
    /// What holds an entity's rows.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// An ordinary table.
        case table
        /// A partitioned table; its partitions are part of it.
        case partitionedTable
        /// A view.
        case view
        /// A materialized view.
        case materializedView
        /// A table of another server.
        case foreignTable
    }

    /// What the role may do with an entity's rows besides reading them.
    public struct Privileges: OptionSet, Sendable, Hashable {
        /// One bit for each privilege.
        public let rawValue: UInt8

        /// Creates a set from its bits.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Rows may be inserted, with all columns or some.
        public static let insert = Privileges(rawValue: 1)
        /// Rows may be updated, in all columns or some.
        public static let update = Privileges(rawValue: 2)
        /// Rows may be deleted.
        public static let delete = Privileges(rawValue: 4)
        /// All three.
        public static let all: Privileges = [.insert, .update, .delete]
    }

    /// The entity's name.
    public let name: QualifiedName
    /// What holds its rows.
    public let kind: Kind
    /// Its OID in `pg_class`.
    public let oid: UInt32
    /// The columns that the role may read, in the table's order; a hidden one may follow.
    public let attributes: [Attribute]
    /// The attributes that identify an object; empty if there is no key.
    ///
    /// The primary key; without one, a UNIQUE constraint over NOT NULL columns; for a view the key of the table it shows.
    public let primaryKey: [String]
    /// Whether objects can only be read: there is no key, or the view takes no changes.
    public let isReadOnly: Bool
    /// All relationships, sorted by name.
    public let relationships: [Relationship]
    /// How writes notice that a row has been changed since it was read; nil if they do not.
    public let optimisticLocking: OptimisticLocking?
    /// The comment on the table, without its annotation.
    public let comment: String?
    /// What the role may do with the rows besides reading them.
    public let privileges: Privileges

    /// Whether a trigger sees new rows before they are stored, and may give values to columns that were left out.
    package let hasInsertTrigger: Bool
    /// The sets of attributes that are unique together at every moment, the primary key first.
    package let uniqueKeys: [[String]]
    /// Whether a UNIQUE or EXCLUDE constraint is looked at only when a statement or the transaction ends.
    package let hasDeferrableKeys: Bool
    /// The UNIQUE and EXCLUDE constraints that are checked after each statement and can be deferred by their name.
    package let deferrableConstraints: [DeferrableConstraint]
    /// The unique constraints and indexes that are checked row by row, the primary key among them.
    package let uniqueChecks: [UniqueCheck]
    /// The tables whose columns a view shows as they are, directly or through other views; empty for tables.
    package let shownTables: [QualifiedName]
    /// The places in `attributes` of the primary key's columns.
    package let primaryKeyIndexes: [Int]
    private let attributeIndexes: [String: Int]
    private let relationshipIndexes: [String: Int]

    package init(
        name: QualifiedName,
        kind: Kind,
        oid: UInt32,
        attributes: [Attribute],
        attributeIndexes: [String: Int]? = nil,
        primaryKey: [String] = [],
        isReadOnly: Bool = false,
        relationships: [Relationship] = [],
        optimisticLocking: OptimisticLocking? = nil,
        comment: String? = nil,
        privileges: Privileges = .all,
        hasInsertTrigger: Bool = false,
        uniqueKeys: [[String]] = [],
        uniqueChecks: [UniqueCheck] = [],
        hasDeferrableKeys: Bool = false,
        deferrableConstraints: [DeferrableConstraint] = [],
        shownTables: [QualifiedName] = []
    ) {
        self.name = name
        self.kind = kind
        self.oid = oid
        self.attributes = attributes
        self.primaryKey = primaryKey
        self.isReadOnly = isReadOnly
        self.relationships = relationships
        self.optimisticLocking = optimisticLocking
        self.comment = comment
        self.privileges = privileges
        self.hasInsertTrigger = hasInsertTrigger
        self.uniqueKeys = uniqueKeys
        self.uniqueChecks = uniqueChecks
        self.hasDeferrableKeys = hasDeferrableKeys
        self.deferrableConstraints = deferrableConstraints
        self.shownTables = shownTables
        let attributeIndexes = attributeIndexes ?? Self.indexes(of: attributes)
        self.attributeIndexes = attributeIndexes
        primaryKeyIndexes = primaryKey.compactMap { Self.index(of: $0, in: attributes, attributeIndexes) }
        var indexes: [String: Int] = [:]
        indexes.reserveCapacity(relationships.reduce(0) { $0 + 1 + $1.aliases.count })
        for (index, relationship) in relationships.enumerated() {
            indexes[relationship.name] = index
            for alias in relationship.aliases { indexes[alias] = index }
        }
        relationshipIndexes = indexes
    }

    /// Whether its rows are those of other relations.
    package var isView: Bool { kind == .view || kind == .materializedView }

    /// Returns the attribute of exactly this name, or nil.
    public func attribute(named name: String) -> Attribute? {
        attributeIndex(of: name).map { attributes[$0] }
    }

    /// Returns the relationship that has this name, as its `name` or as an alias, or nil.
    public func relationship(named name: String) -> Relationship? {
        relationshipIndex(of: name).map { relationships[$0] }
    }

    /// Returns the place in `relationships` of the one that has this name, as its `name` or as an alias, or nil.
    package func relationshipIndex(of name: String) -> Int? { relationshipIndexes[name] }

    /// Returns the attribute's place in `attributes`, or nil.
    package func attributeIndex(of name: String) -> Int? {
        Self.index(of: name, in: attributes, attributeIndexes)
    }

    /// Returns the attributes' places in `attributes`, or nil if one of them is missing.
    package func attributeIndexes(of names: [String]) -> [Int]? {
        let found = names.compactMap(attributeIndex(of:))
        return found.count == names.count ? found : nil
    }

    /// The places of attributes by name, the first of equal ones.
    package static func indexes(of attributes: [Attribute]) -> [String: Int] {
        var indexes: [String: Int] = [:]
        indexes.reserveCapacity(attributes.count)
        for (index, attribute) in attributes.enumerated() where indexes[attribute.name] == nil {
            indexes[attribute.name] = index
        }
        return indexes
    }

    private static func index(of name: String, in attributes: [Attribute], _ indexes: [String: Int]) -> Int? {
        guard let index = indexes[name] else { return nil }
        if attributes[index].name.hasSameBytes(as: name) { return index }
        // Two columns whose names differ in bytes and yet are equal to Swift.
        return attributes.firstIndex { $0.name.hasSameBytes(as: name) }
    }
}

extension Entity: Hashable {
    /// Whether both describe the same entity in every respect.
    public static func == (left: Entity, right: Entity) -> Bool {
        left === right
            || left.name == right.name && left.kind == right.kind && left.oid == right.oid
                && left.attributes == right.attributes && left.primaryKey == right.primaryKey
                && left.isReadOnly == right.isReadOnly && left.relationships == right.relationships
                && left.optimisticLocking == right.optimisticLocking && left.comment == right.comment
                && left.privileges == right.privileges && left.hasInsertTrigger == right.hasInsertTrigger
                && left.uniqueKeys == right.uniqueKeys && left.hasDeferrableKeys == right.hasDeferrableKeys
                && left.uniqueChecks == right.uniqueChecks && left.deferrableConstraints == right.deferrableConstraints
                && left.shownTables == right.shownTables
    }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
    }
}

extension Entity: CustomStringConvertible {
    /// The qualified name.
    public var description: String {
        name.description
    }
}
