/// One end of a relationship, as seen from its source entity.
///
/// Relationships are inferred from foreign keys and helper tables; each has an inverse on its destination.
/// Instances are immutable and compared by value.
public final class Relationship: Sendable {
    /// How many objects stand on either side.
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

    /// The key that reads best of those that reach this relationship.
    public let name: String
    /// All other keys that reach it, sorted.
    public let aliases: [String]
    /// How many objects stand on either side.
    public let kind: Kind
    /// Whether a source object may have no destination.
    ///
    /// On the side that holds the foreign key this follows from its columns; on every other side it is true.
    public let isOptional: Bool
    /// The entity that the relationship belongs to.
    public let source: QualifiedName
    /// The entity that it leads to.
    public let destination: QualifiedName
    /// The name of the same relationship on the destination.
    public let inverse: String
    /// What deleting a source object does to its destinations.
    public let deleteRule: DeleteRule
    /// The name of the foreign key constraint; nil for many-to-many.
    public let foreignKey: String?
    /// The source's columns that are compared with `destinationColumns`, or with the helper's.
    public let columns: [String]
    /// The destination's columns, one for each of `columns`; for many-to-many those that the helper refers to.
    public let destinationColumns: [String]
    /// Whether the source's table holds the foreign key.
    public let holdsForeignKey: Bool
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
    /// They belong to the side that holds the foreign key. With a composite key these are the nullable ones alone,
    /// of which those that other keys share only change where the database itself clears them.
    /// Empty where every column is required, and for many-to-many.
    public let clearedColumns: [String]
    /// Whether the database enforces the foreign key, and so carries out its actions.
    ///
    /// False for NOT ENFORCED constraints. For many-to-many, whether it enforces both keys of the helper.
    public let isEnforced: Bool
    /// What the database itself does to the rows that hold the key when the row that they refer to is deleted.
    ///
    /// `noAction` where it refuses, does nothing, or would fail for want of a nullable column, and for many-to-many.
    package let databaseAction: DatabaseAction
    /// What the database itself does to the rows that hold the key when the values change that it refers to.
    ///
    /// `noAction` for many-to-many.
    package let updateAction: DatabaseAction
    /// Whether a foreign key's value may have no row: the database does not enforce the key, or has not checked old rows.
    package let mayDangle: Bool
    /// Whether a to-one relationship may have several rows at its other end for a while: the key is checked when a
    /// transaction ends, or does not cover tables that inherit.
    package let mayRepeat: Bool
    /// Whether the source or the destination is a view that stands for a table of the foreign key.
    ///
    /// Its rows are other objects than the table's. It changes nothing of what a deletion does.
    package let isByView: Bool
    /// Every name that was a candidate: which rule offered it, and whether the relationship was given it.
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
        helper: RelationshipHelper? = nil,
        orderedBy: String? = nil,
        isPositionUnique: Bool = false,
        minimumCount: Int? = nil,
        maximumCount: Int? = nil,
        clearedColumns: [String] = [],
        isEnforced: Bool = true,
        databaseAction: DatabaseAction = .noAction,
        updateAction: DatabaseAction = .noAction,
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
        self.helper = helper
        self.orderedBy = orderedBy
        self.isPositionUnique = isPositionUnique
        self.minimumCount = minimumCount
        self.maximumCount = maximumCount
        self.clearedColumns = clearedColumns
        self.isEnforced = isEnforced
        self.databaseAction = databaseAction
        self.updateAction = updateAction
        self.mayDangle = mayDangle ?? !isEnforced
        self.mayRepeat = mayRepeat
        self.isByView = isByView
        self.explanation = explanation
    }
}

extension Relationship {
    /// Whether a to-one relationship may lead to no object: it is optional, leads to a view, which need not show every row,
    /// or comes from a view whose column may be NULL where the table's is not.
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
                && left.holdsForeignKey == right.holdsForeignKey && left.helper == right.helper
                && left.orderedBy == right.orderedBy && left.isPositionUnique == right.isPositionUnique
                && left.minimumCount == right.minimumCount
                && left.maximumCount == right.maximumCount && left.clearedColumns == right.clearedColumns
                && left.isEnforced == right.isEnforced && left.databaseAction == right.databaseAction
                && left.updateAction == right.updateAction
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
