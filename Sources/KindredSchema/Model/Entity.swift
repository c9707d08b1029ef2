package import KindredPostgres
import Synchronization

/// A table or view with its attributes and relationships.
///
/// Instances are immutable and compared by value.
public final class Entity: Sendable {
    /// The kind of an entity's relation.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// An ordinary table.
        case table
        /// A partitioned table; its partitions are part of it.
        case partitionedTable
        /// A view.
        case view
        /// A materialized view.
        case materializedView
        /// A foreign table.
        case foreignTable
    }

    /// The role's privileges on an entity's rows, besides SELECT.
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
    /// The kind of its relation.
    public let kind: Kind
    /// Its OID in `pg_class`.
    public let oid: UInt32
    /// The columns that the role may read, in the table's order; a hidden one may follow.
    public let attributes: [Attribute]
    /// The attributes that identify an object; empty if there is no key.
    ///
    /// The primary key; without one, a UNIQUE constraint or unique index over NOT NULL columns; for a view the key of the table it shows. Where
    /// other tables inherit from the entity's, rows of several tables may have the same key: then the row's table, which is not
    /// listed here, identifies an object too.
    public let primaryKey: [String]
    /// Whether objects are read-only: there is no key, or the view is not updatable.
    public let isReadOnly: Bool
    /// All relationships, sorted by name.
    public let relationships: [Relationship]
    /// How a write detects that the row has changed since it was read; nil if it does not.
    public let optimisticLocking: OptimisticLocking?
    /// The condition of the rows that are shown, in addition to ``softDelete``, as its annotation has it; nil for all.
    public let filter: String?
    /// The column that marks a row as deleted, so that it is not shown; nil if deleted rows are gone.
    public let softDelete: String?
    /// Whether a row belongs to the tenant in the column that the tenants of contexts are told by; an annotation leaves it out.
    public let belongsToTenants: Bool
    /// The comment on the table, without its annotation.
    public let comment: String?
    /// The group in which diagrams show the entity, set by an annotation; nil without one.
    public let group: String?
    /// The role's privileges on the rows, besides SELECT.
    public let privileges: Privileges

    /// Whether a BEFORE INSERT row trigger exists, which may fill omitted columns.
    package let hasInsertTrigger: Bool
    /// The obstacles that may keep rows from being written; for a view, in the tables below it too.
    package let obstacles: RowObstacles
    /// The sets of attributes that are unique together at every moment, the primary key first.
    package let uniqueKeys: [[String]]
    /// The unique keys of a table without a primary key: the entity's key is taken from them.
    package let choosableKeys: [[String]]
    /// The sets of attributes that are unique together among some of the rows.
    package let partialKeys: [PartialKey]
    /// Whether a UNIQUE or EXCLUDE constraint is checked only when a statement or the transaction ends.
    package let hasDeferrableKeys: Bool
    /// The UNIQUE and EXCLUDE constraints that are checked after each statement and can be deferred by name.
    package let deferrableConstraints: [DeferrableConstraint]
    /// The columns of single-column CHECK constraints, by constraint name.
    package let checkedColumns: [ServerText: ServerText]
    /// The names of its constraints, the primary key and foreign keys among them.
    package let constraintNames: Set<ServerText>
    /// The columns by which the table's rows are distributed among partitions or shards; empty for other tables.
    package let partitionColumns: [String]
    /// Whether Citus distributes the table's rows, by the first of these columns.
    package let isDistributed: Bool
    /// The unique constraints and indexes that are checked row by row, including the primary key.
    package let uniqueChecks: [UniqueCheck]
    /// The unique indexes and EXCLUDE constraints whose conflicts only the server can find.
    package let serverChecks: [ServerCheck]
    /// Whether policies of row-level security apply to the role that has read the model.
    package let hasActivePolicies: Bool
    /// The columns that the role may change where it may not change all; empty without such.
    package let updatableColumns: [String]
    /// The tables whose columns a view shows unchanged, directly or through other views; empty for tables.
    package let shownTables: [QualifiedName]
    /// The tables whose rows it shows; nil if no other table inherits from its own.
    package let rowTables: RowTables?
    /// The other tables that show some of the same rows, because one inherits from the other or a third from both.
    package let relatives: [QualifiedName]
    /// The indexes in `attributes` of the columns that identify an object: the primary key's columns, and the column of
    /// the row's table where other tables inherit from the entity's.
    package let primaryKeyIndexes: [Int]
    private let renderedColumns = RankedMutex<String?>(nil, .text)
    private let attributeIndexes: [ServerText: Int]
    private let relationshipIndexes: [ServerText: Int]

    /// The list of columns of a SELECT of whole rows, which is rendered once.
    package func columnList(_ render: () throws -> String) rethrows -> String {
        if let known = renderedColumns.withLock({ $0 }) { return known }
        let list = try render()
        renderedColumns.withLock { $0 = list }
        return list
    }

    package init(
        name: QualifiedName,
        kind: Kind,
        oid: UInt32,
        attributes: [Attribute],
        attributeIndexes: [ServerText: Int]? = nil,
        primaryKey: [String] = [],
        isReadOnly: Bool = false,
        relationships: [Relationship] = [],
        optimisticLocking: OptimisticLocking? = nil,
        filter: String? = nil,
        softDelete: String? = nil,
        belongsToTenants: Bool = true,
        comment: String? = nil,
        group: String? = nil,
        privileges: Privileges = .all,
        hasInsertTrigger: Bool = false,
        obstacles: RowObstacles = [],
        hasActivePolicies: Bool = false,
        updatableColumns: [String] = [],
        uniqueKeys: [[String]] = [],
        choosableKeys: [[String]] = [],
        partialKeys: [PartialKey] = [],
        uniqueChecks: [UniqueCheck] = [],
        serverChecks: [ServerCheck] = [],
        hasDeferrableKeys: Bool = false,
        deferrableConstraints: [DeferrableConstraint] = [],
        checkedColumns: [ServerText: ServerText] = [:],
        constraintNames: Set<ServerText> = [],
        partitionColumns: [String] = [],
        isDistributed: Bool = false,
        shownTables: [QualifiedName] = [],
        rowTables: RowTables? = nil,
        relatives: [QualifiedName] = []
    ) {
        self.name = name
        self.kind = kind
        self.oid = oid
        self.attributes = attributes
        self.primaryKey = primaryKey
        self.isReadOnly = isReadOnly
        self.relationships = relationships
        self.optimisticLocking = optimisticLocking
        self.filter = filter
        self.softDelete = softDelete
        self.belongsToTenants = belongsToTenants
        self.comment = comment
        self.group = group
        self.privileges = privileges
        self.hasInsertTrigger = hasInsertTrigger
        self.obstacles = obstacles
        self.hasActivePolicies = hasActivePolicies
        self.updatableColumns = updatableColumns
        self.uniqueKeys = uniqueKeys
        self.choosableKeys = choosableKeys
        self.partialKeys = partialKeys
        self.uniqueChecks = uniqueChecks
        self.serverChecks = serverChecks
        self.hasDeferrableKeys = hasDeferrableKeys
        self.deferrableConstraints = deferrableConstraints
        self.checkedColumns = checkedColumns
        self.constraintNames = constraintNames
        self.partitionColumns = partitionColumns
        self.isDistributed = isDistributed
        self.shownTables = shownTables
        self.rowTables = rowTables
        self.relatives = relatives
        let attributeIndexes = attributeIndexes ?? Self.indexes(of: attributes)
        self.attributeIndexes = attributeIndexes
        let identity = rowTables == nil || primaryKey.isEmpty ? primaryKey : primaryKey + [Attribute.table.name]
        primaryKeyIndexes = identity.compactMap { Self.index(of: $0, in: attributes, attributeIndexes) }
        var indexes: [ServerText: Int] = [:]
        indexes.reserveCapacity(relationships.reduce(0) { $0 + 1 + $1.aliases.count })
        for (index, relationship) in relationships.enumerated() {
            indexes[relationship.name] = index
            for alias in relationship.aliases { indexes[alias] = index }
        }
        relationshipIndexes = indexes
    }

    /// The names of the attributes that identify an object, including the attribute of the row's table where it does.
    package var identity: [String] { primaryKeyIndexes.map { attributes[$0].name } }

    /// Whether it shows rows of other relations.
    package var isView: Bool { kind == .view || kind == .materializedView }

    /// Returns the attribute of exactly this name, or nil.
    public func attribute(named name: String) -> Attribute? {
        attributeIndex(of: name).map { attributes[$0] }
    }

    /// Returns the relationship that has this name, as its `name` or as an alias, or nil.
    public func relationship(named name: String) -> Relationship? {
        relationshipIndexes[name].map { relationships[$0] }
    }

    /// Returns the attribute's index in `attributes`, or nil.
    package func attributeIndex(of name: String) -> Int? {
        Self.index(of: name, in: attributes, attributeIndexes)
    }

    /// Returns the attributes' indexes in `attributes`, or nil if one of them is missing.
    package func attributeIndexes(of names: [String]) -> [Int]? {
        let found = names.compactMap(attributeIndex(of:))
        return found.count == names.count ? found : nil
    }

    /// The indexes of attributes by name; of equal names, the first.
    package static func indexes(of attributes: [Attribute]) -> [ServerText: Int] {
        var indexes: [ServerText: Int] = [:]
        indexes.reserveCapacity(attributes.count)
        for (index, attribute) in attributes.enumerated() where indexes[attribute.name] == nil {
            indexes[attribute.name] = index
        }
        return indexes
    }

    /// Whether the role may change a column.
    package func mayUpdate(_ column: String) -> Bool {
        privileges.contains(.update) && (updatableColumns.isEmpty || updatableColumns.contains(column))
    }

    private static func index(of name: String, in attributes: [Attribute], _ indexes: [ServerText: Int]) -> Int? {
        if attributes.count <= 8 {
            // To hash a name costs more than to compare it with few.
            let (attributes, size) = (attributes.span, name.utf8.count)
            for index in attributes.indices
            where attributes[index].name.utf8.count == size && attributes[index].name == name {
                return index
            }
            return nil
        }
        return indexes[name]
    }
}

extension Entity: Hashable {
    /// Whether both describe the same entity in every respect but the names of constraints that nothing else shows.
    public static func == (left: Entity, right: Entity) -> Bool {
        left === right
            || left.name == right.name && left.kind == right.kind && left.oid == right.oid
                && left.attributes == right.attributes && left.primaryKey == right.primaryKey
                && left.isReadOnly == right.isReadOnly && left.relationships == right.relationships
                && left.optimisticLocking == right.optimisticLocking && left.comment == right.comment
                && left.filter == right.filter && left.softDelete == right.softDelete
                && left.belongsToTenants == right.belongsToTenants
                && left.partialKeys == right.partialKeys
                && left.group == right.group && left.privileges == right.privileges
                && left.hasInsertTrigger == right.hasInsertTrigger && left.obstacles == right.obstacles
                && left.hasActivePolicies == right.hasActivePolicies
                && left.updatableColumns == right.updatableColumns
                && left.uniqueKeys == right.uniqueKeys && left.choosableKeys == right.choosableKeys
                && left.hasDeferrableKeys == right.hasDeferrableKeys
                && left.uniqueChecks == right.uniqueChecks && left.deferrableConstraints == right.deferrableConstraints
                && left.serverChecks == right.serverChecks
                && left.shownTables == right.shownTables && left.rowTables == right.rowTables
                && left.relatives == right.relatives && left.checkedColumns == right.checkedColumns
                && left.partitionColumns == right.partitionColumns && left.isDistributed == right.isDistributed
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

extension Entity {
    /// Returns the error for a key that is neither an attribute nor a relationship, with the nearest keys.
    public func unknownKey(_ key: String) -> SchemaError {
        let key = key.propertyKey ?? key
        let suggestions = nearestKeys(to: key)
        return SchemaError(
            .unknownKey,
            "\(name) has no key \"\(key)\"\(NearestNames.question(suggestions))",
            entity: name.description,
            suggestions: suggestions
        )
    }

    /// Returns the attributes and relationships whose names are nearest to a key, best first.
    public func nearestKeys(to key: String) -> [String] {
        var candidates = attributes.map(\.name)
        for relationship in relationships {
            candidates.append(relationship.name)
            candidates += relationship.aliases
        }
        return NearestNames.suggestions(for: key, among: candidates)
    }
}
