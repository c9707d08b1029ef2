import KindredPostgres
public import KindredSchema

/// A picture of a database's entities and relationships, as data: its contents, not their places.
///
/// It is a pure function of a schema and the options, so equal schemas give equal diagrams and equal texts, which can be
/// committed and compared.
///
/// ```swift
/// let schema = try await SchemaReader.read(from: client)
/// let diagram = try Diagram(of: schema)
/// print(diagram.dot())
/// ```
public struct Diagram: Sendable, Hashable {
    /// The entities, sorted by schema and name.
    public let nodes: [Node]
    /// One line for each pair of inverse relationships, sorted by where it begins.
    public let edges: [Edge]
    /// Entities that more than ``mostLines`` lines end at, sorted: instead of their lines, pictures have labels or words with
    /// their names at the other ends.
    public let hubs: [QualifiedName]
    /// Entities that stand together, sorted by kind and title; a group may hold other groups.
    public let groups: [Group]
    /// How the ends of lines are drawn.
    public let notation: Notation
    /// How much of each entity is shown; never `automatic`.
    public let detail: Detail
    /// The entities that the diagram is about, sorted; none if it shows all.
    public let around: [QualifiedName]
    /// Whether there are too many entities for one web of lines: pictures draw only the lines within a group, and say
    /// the other lines in words beside the entity that holds the foreign key.
    public let isCut: Bool

    /// How the ends of lines are drawn.
    public enum Notation: String, Sendable, Hashable, CaseIterable {
        /// As a model editor does: one arrow head towards one object, two towards many.
        case arrows
        /// Crow's feet, which also tell whether there must be an object.
        case crow
    }

    /// How much of each entity is shown.
    public enum Detail: String, Sendable, Hashable, CaseIterable {
        /// All columns of up to 40 entities, the identifying columns of up to 100, the names of more.
        ///
        /// Around some entities: all of their columns, the identifying columns of up to 20 other entities, and the
        /// names of more.
        case automatic
        /// All columns, and the names of relationships.
        case columns
        /// The columns that identify objects, the columns that relationships compare, and the names of relationships.
        case keys
        /// The names of entities alone; texts that are no picture still have the columns of keys.
        case names
    }

    /// An entity.
    public struct Node: Sendable, Hashable {
        /// The entity's name.
        public let entity: QualifiedName
        /// The name that people see: without the schema where all entities of the diagram have the same, or where it is
        /// the schema of the entities that the diagram is about.
        public let title: String
        /// The kind of relation that holds its rows.
        public let kind: Entity.Kind
        /// The comment on it.
        public let comment: String?
        /// The columns, as far as the detail goes.
        public let columns: [Column]
        /// How many columns are not among them.
        public let hiddenColumns: Int
        /// Which of the columns pictures show.
        let pictured: PicturedColumns
        /// The names of its relationships that are the ends of lines, sorted; the place of a name is its line's port.
        public let relationships: [String]
        /// How many of its relationships have no line in the diagram.
        public let hiddenRelationships: Int
        /// The many-to-many relationships without a line of their own, because the entity is their helper table, and is
        /// shown.
        public let joins: [Edge]
        /// The tables whose columns a view shows as they are.
        public let shownTables: [QualifiedName]
    }

    /// The columns of an entity that pictures show.
    enum PicturedColumns {
        /// All that the diagram has.
        case all
        /// The columns that identify objects; the names of relationships tell the purpose of the other columns.
        case identifying
        /// None.
        case none
    }

    /// A column of an entity.
    public struct Column: Sendable, Hashable {
        /// The column's name.
        public let name: String
        /// Its type, as SQL writes it.
        public let type: String
        /// Whether it is one of the columns that identify an object.
        public let isKey: Bool
        /// Whether it is part of a foreign key.
        public let isForeignKey: Bool
        /// Whether NULL is refused.
        public let isNotNull: Bool
    }

    /// A pair of inverse relationships.
    public struct Edge: Sendable, Hashable {
        /// The end that is referred to; of a many-to-many relationship the end whose name comes first.
        public let from: End
        /// The end that holds the foreign key; of a many-to-many relationship the other end.
        public let to: End
        /// How many objects stand on either side, seen from `from`.
        public let kind: Relationship.Kind
        /// The foreign key; nil for many-to-many.
        public let foreignKey: String?
        /// The action of the database when the object referred to is deleted.
        package let action: DatabaseAction
        /// The helper table that the line stands for.
        public let helper: QualifiedName?
        /// The helper's columns besides its keys.
        public let helperColumns: [String]
        /// Whether a view takes part in place of a table.
        public let isByView: Bool
    }

    /// One end of a line.
    public struct End: Sendable, Hashable {
        /// The entity that stands at this end.
        public let entity: QualifiedName
        /// The name of its relationship, which leads to the other end.
        public let relationship: String
        /// Whether several of its objects may belong to one object at the other end.
        public let isMany: Bool
        /// Whether an object at the other end may have no object at this end.
        public let isOptional: Bool
        /// The columns that are compared, one for each of the other end's or of the helper's.
        public let columns: [String]
    }

    /// Entities that stand together.
    public struct Group: Sendable, Hashable {
        /// Why they do.
        public enum Kind: String, Sendable, Hashable {
            /// A comment or an override says so: `@kindred {"group": "sales"}`.
            case annotation
            /// They are in one schema, and the diagram shows several.
            case schema
            /// Relationships connect them.
            case part
            /// No relationship connects them to anything in the diagram.
            case unconnected
        }

        /// The title that people see.
        public let title: String
        /// Why the entities stand together.
        public let kind: Kind
        /// The entities that are in none of the inner groups, sorted.
        public let members: [QualifiedName]
        /// The inner groups.
        public let groups: [Group]
    }
}

extension Diagram {
    /// The parts of a schema that a diagram shows.
    public struct Options: Sendable, Hashable {
        /// How the ends of lines are drawn.
        public var notation: Notation = .arrows
        /// How much of each entity is shown.
        public var detail: Detail = .automatic
        /// Whether helper tables are entities of their own, instead of one line for each.
        public var showsHelpers = false
        /// Whether views and materialized views are shown; views that `around` or `included` names are always shown.
        public var showsViews = false
        /// Whether an entity with more than ``Diagram/mostLines`` lines is a hub, and large diagrams are cut; entities
        /// in `around` are no hubs unless the diagram is cut.
        public var labelsHubs = true
        /// Only these entities, such as `person` or `public.person`, and the entities within `distance` of them.
        public var around: [String] = []
        /// How many lines away from an entity in ``around`` another entity may be.
        public var distance = 1
        /// Only entities of these schemas; all if empty.
        public var schemas: Set<String> = []
        /// Only entities like one of these patterns, such as `person` or `sales.*`; all if empty.
        public var included: [String] = []
        /// No entity like one of these patterns.
        public var excluded: [String] = []

        /// Creates options that show all tables, as far as they can be read.
        public init() {}
    }

    /// The most entities that are shown with all of their columns, unless the detail is given.
    public static let largestWithColumns = 40
    /// The most entities that are shown with their keys, unless the detail is given.
    public static let largestWithKeys = 100
    /// The most lines of one entity that are drawn, unless hubs have no labels.
    public static let mostLines = 20
    /// The most entities that relationships connect in one group of a diagram that is cut.
    public static let largestPart = 40
    /// The most columns of one entity that are drawn.
    static let mostColumns = 60
    /// The most columns of a helper table that are named beside a line, besides the columns of its keys.
    static let mostHelperColumns = 2
}
