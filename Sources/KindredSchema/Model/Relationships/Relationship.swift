import KindredPostgres

/// One end of a relationship, as seen from its source entity.
///
/// Relationships are inferred from foreign keys and helper tables; each has an inverse on its destination.
/// Instances are immutable and compared by value.
public final class Relationship: Sendable {
    /// How many objects are on either side.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// At most one object on either side.
        case oneToOne
        /// One source, many destinations, which hold the foreign key.
        case oneToMany
        /// Many sources, which hold the foreign key, to one destination.
        case manyToOne
        /// Many on either side, joined by a helper table.
        case manyToMany
    }

    /// The primary name.
    public let name: String
    /// The aliases, sorted.
    public let aliases: [String]
    /// How many objects are on either side.
    public let kind: Kind
    /// Whether a source object may have no destination.
    ///
    /// On the side that holds the foreign key this follows from its columns; otherwise it is true.
    public let isOptional: Bool
    /// The entity that the relationship belongs to.
    public let source: QualifiedName
    /// The entity that it leads to.
    public let destination: QualifiedName
    /// The name of the same relationship on the destination.
    public let inverse: String
    /// The effect of deleting a source object on its destinations.
    public let deleteRule: DeleteRule
    /// The name of the foreign key constraint; nil for many-to-many.
    public let foreignKey: String?
    /// The source's columns that match `destinationColumns`, or the helper's.
    public let columns: [String]
    /// The destination's columns, one for each of `columns`; for many-to-many the columns that the helper refers to.
    public let destinationColumns: [String]
    /// Whether the source's table holds the foreign key.
    public let holdsForeignKey: Bool
    /// How the foreign key compares each of `columns`; empty where all are by the equality of their types, and for
    /// many-to-many.
    package let comparisons: [KeyComparison?]
    /// The table between the two ends of a many-to-many relationship.
    public let helper: RelationshipHelper?
    /// The position column that orders a to-many relationship: of the destination, or of the helper.
    public let orderedBy: String?
    /// Whether the position column belongs to a unique key that is checked row by row, so that one UPDATE cannot shift
    /// positions.
    package let isPositionUnique: Bool
    /// The smallest number of objects that a to-many relationship may have when its object is saved; nil for no limit.
    public let minimumCount: Int?
    /// The largest number of objects that a to-many relationship may have when its object is saved; nil for no limit.
    public let maximumCount: Int?
    /// The foreign-key columns that become NULL when a member leaves the relationship.
    ///
    /// They belong to the side that holds the foreign key. Of a composite key only nullable columns are among them;
    /// columns shared with other keys change only if the database itself clears them. Empty if every column is
    /// required, and for many-to-many.
    public let clearedColumns: [String]
    /// Whether the database enforces the foreign key, and performs its actions.
    ///
    /// False for NOT ENFORCED constraints. For many-to-many, whether it enforces both keys of the helper.
    public let isEnforced: Bool
    /// The database's own action on the rows that hold the key when the referenced row is deleted.
    ///
    /// `noAction` if it refuses, does nothing, or would fail for lack of a nullable column, and for many-to-many.
    package let databaseAction: DatabaseAction
    /// The database's own action on the rows that hold the key when the referenced values change.
    ///
    /// `noAction` for many-to-many.
    package let updateAction: DatabaseAction
    /// When the server checks the foreign key; `statement` for many-to-many.
    package let checkTime: CheckTime
    /// Whether a foreign key's value may have no row: the key is NOT ENFORCED or NOT VALID.
    package let mayDangle: Bool
    /// Whether a to-one relationship may temporarily have several rows at its other end: the key is deferred, or does not
    /// cover inheriting tables.
    package let mayRepeat: Bool
    /// Whether the source or the destination is a view that stands for a table of the foreign key.
    ///
    /// The view's rows are other objects than the table's. Deletions are not affected.
    package let isByView: Bool
    /// Every candidate name: the rule that offered it, and whether it was assigned.
    public let explanation: [NameExplanation]

    /// Whether a source object may have several destinations.
    public var isToMany: Bool {
        kind == .oneToMany || kind == .manyToMany
    }

    /// Whether a to-many relationship has an order, kept in the column `orderedBy`.
    public var isOrdered: Bool { orderedBy != nil }

    package init(
        name: String,
        aliases: [String],
        kind: Kind,
        isOptional: Bool,
        source: QualifiedName,
        destination: QualifiedName,
        inverse: String,
        deleteRule: DeleteRule,
        foreignKey: String?,
        columns: [String],
        destinationColumns: [String],
        holdsForeignKey: Bool,
        comparisons: [KeyComparison?] = [],
        helper: RelationshipHelper? = nil,
        orderedBy: String? = nil,
        isPositionUnique: Bool = false,
        minimumCount: Int? = nil,
        maximumCount: Int? = nil,
        clearedColumns: [String] = [],
        isEnforced: Bool = true,
        databaseAction: DatabaseAction = .noAction,
        updateAction: DatabaseAction = .noAction,
        checkTime: CheckTime = .statement,
        mayDangle: Bool? = nil,
        mayRepeat: Bool = false,
        isByView: Bool = false,
        explanation: [NameExplanation] = []
    ) {
        self.name = name
        self.aliases = aliases
        self.kind = kind
        self.isOptional = isOptional
        self.source = source
        self.destination = destination
        self.inverse = inverse
        self.deleteRule = deleteRule
        self.foreignKey = foreignKey
        self.columns = columns
        self.destinationColumns = destinationColumns
        self.holdsForeignKey = holdsForeignKey
        self.comparisons = comparisons
        self.helper = helper
        self.orderedBy = orderedBy
        self.isPositionUnique = isPositionUnique
        self.minimumCount = minimumCount
        self.maximumCount = maximumCount
        self.clearedColumns = clearedColumns
        self.isEnforced = isEnforced
        self.databaseAction = databaseAction
        self.updateAction = updateAction
        self.checkTime = checkTime
        self.mayDangle = mayDangle ?? !isEnforced
        self.mayRepeat = mayRepeat
        self.isByView = isByView
        self.explanation = explanation
    }
}

extension Relationship {
    /// Whether a to-one relationship may have no destination: it is optional, its destination is a view, which may not show
    /// every row, or its source is a view, whose column may be NULL though the table's is not.
    package func mayLeadNowhere(from source: Entity) -> Bool {
        if isOptional { return true }
        return isByView && (mayDangle || columns.contains { source.attribute(named: $0)?.isNotNull != true })
    }
}

extension Relationship: Hashable {
    /// Whether both describe the same end in every respect.
    public static func == (left: Relationship, right: Relationship) -> Bool {
        left === right
            || left.source == right.source && left.name == right.name && left.aliases == right.aliases
                && left.kind == right.kind && left.isOptional == right.isOptional
                && left.destination == right.destination && left.inverse == right.inverse
                && left.deleteRule == right.deleteRule && left.foreignKey == right.foreignKey
                && left.columns == right.columns && left.destinationColumns == right.destinationColumns
                && left.holdsForeignKey == right.holdsForeignKey && left.comparisons == right.comparisons
                && left.helper == right.helper
                && left.orderedBy == right.orderedBy && left.isPositionUnique == right.isPositionUnique
                && left.minimumCount == right.minimumCount
                && left.maximumCount == right.maximumCount && left.clearedColumns == right.clearedColumns
                && left.isEnforced == right.isEnforced && left.databaseAction == right.databaseAction
                && left.updateAction == right.updateAction && left.checkTime == right.checkTime
                && left.mayDangle == right.mayDangle && left.mayRepeat == right.mayRepeat
                && left.isByView == right.isByView && left.explanation == right.explanation
    }

    /// Hashes the source and the name, which no two relationships share.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(source)
        hasher.combine(name)
    }
}

extension Relationship: CustomStringConvertible {
    /// The source, the name and the destination, such as `public.person.emailSet -> public.email`.
    public var description: String {
        "\(source).\(name) -> \(destination)"
    }
}

/// The table between the two ends of a many-to-many relationship, seen from the source.
public struct RelationshipHelper: Sendable, Hashable {
    /// The helper table.
    public let entity: QualifiedName
    /// The helper's foreign key to the source.
    public let sourceForeignKey: String
    /// The helper's foreign key to the destination.
    public let destinationForeignKey: String
    /// The helper's columns that refer to the relationship's `columns`, in their order.
    public let sourceColumns: [String]
    /// The helper's columns that refer to the relationship's `destinationColumns`, in their order.
    public let destinationColumns: [String]
    /// Columns outside both keys that need a value in a new row: NOT NULL, without a default, not generated.
    public let requiredPayload: [String]
    /// Columns outside both keys that hold more than the pair's existence.
    ///
    /// Not among them are the helper's primary key, identities, generated columns, the version, the columns of its
    /// filter and of its soft deletion, columns that order the relationship, and moments whose default is the time of
    /// the insert. Where there are payload columns, the foreign key decides the effect of a deletion on the helper's
    /// rows: deleting a product deletes no order lines unless the database cascades. In contexts of a tenant by row,
    /// the tenant's column is not payload, either.
    public let payload: [String]
    /// The delete rule that the relationship would have without payload.
    package let ruleWithoutPayload: DeleteRule
    /// How both foreign keys compare their columns; empty where all are by the equality of their types.
    package var sourceComparisons: [KeyComparison?] = []
    package var destinationComparisons: [KeyComparison?] = []
}
