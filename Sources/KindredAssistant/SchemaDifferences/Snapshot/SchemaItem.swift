/// The name of a thing in a schema: what tells it from all others, on both sides of a comparison.
struct ItemName: Hashable, Comparable {
    /// Kinds in the order in which things are listed.
    enum Kind: Int, Comparable {
        case schema, `extension`, type, function, sequence, table, column, constraint, index, view, trigger, policy
        case other

        static func < (left: Kind, right: Kind) -> Bool { left.rawValue < right.rawValue }
    }

    var kind: Kind
    var schema: String
    /// The relation's, type's or function's own name; empty for a schema.
    var name = ""
    /// The column, constraint, trigger or policy of a relation.
    var part = ""

    static func < (left: ItemName, right: ItemName) -> Bool {
        (left.kind, left.schema, left.name, left.part) < (right.kind, right.schema, right.name, right.part)
    }

    /// The table or view that a part belongs to.
    func owner(_ kind: Kind = .table) -> ItemName { ItemName(kind: kind, schema: schema, name: name) }

    /// What another kind of thing of the same schema and name is called.
    func named(_ kind: Kind) -> ItemName { ItemName(kind: kind, schema: schema, name: name) }

    /// What a foreign table of the same schema and name is called.
    var foreignTable: ItemName {
        ItemName(kind: .other, schema: schema, name: "foreign table", part: named(.table).shown)
    }

    var isForeignTable: Bool { kind == .other && name == "foreign table" }

    /// Whether it keeps what it depends on from changing, and copies of a schema lack it, or its columns.
    ///
    /// Statistics go with their columns; a schema with range types has no copy.
    var isMissingFromCopies: Bool {
        kind == .other && ["rule", "aggregate", "operator", "foreign table"].contains(name)
    }

    /// What row security of a table is called.
    var rowSecurity: ItemName {
        ItemName(kind: .other, schema: schema, name: "row security of", part: named(.table).shown)
    }

    /// Whether its name stands among those of tables, views, sequences, indexes and composite types of the schema.
    var isRelation: Bool {
        switch kind {
        case .table, .view, .sequence, .index: true
        default: false
        }
    }

    /// The name for people.
    var shown: String {
        ([schema, name, part].filter { !$0.isEmpty }).joined(separator: ".")
    }

    /// The kind and the name for people.
    var described: String {
        let word =
            switch kind {
            case .schema: "schema"
            case .extension: "extension"
            case .type: "type"
            case .function: "function"
            case .sequence: "sequence"
            case .table: "table"
            case .column: "column"
            case .constraint: "constraint"
            case .index: "index"
            case .view: "view"
            case .trigger: "trigger"
            case .policy: "policy"
            case .other: "object"
            }
        return "\(word) \(kind == .other ? part.isEmpty ? name : "\(name) \(part)" : shown)"
    }
}

/// What a thing is, as far as two sides are compared.
enum ItemContent: Hashable {
    case schema
    case enumeration(labels: [String])
    case domain(Domain)
    case composite([Field])
    case sequence(SequenceItem)
    case table(TableItem)
    case column(ColumnItem)
    case constraint(ConstraintItem)
    case index(IndexItem)
    case view(ViewItem)
    /// What is compared and not changed: the statement that makes it, or a text that tells it from others.
    case other(String)
}

/// A domain without its constraints.
struct Domain: Hashable {
    var base: String
    var collation: String?
    var isNotNull: Bool
    var defaultText: String?
}

/// An attribute of a composite type.
struct Field: Hashable {
    var name: String
    var type: String
    var collation: String?
}

struct SequenceItem: Hashable {
    var type: String
    /// As in CREATE SEQUENCE: `INCREMENT BY 1`, `MINVALUE 1`, and so on.
    var options: [String]
    /// The column that it goes with.
    var owner: ItemName?
    var isUnlogged: Bool
}

struct TableItem: Hashable {
    var isPartitioned: Bool { partitionKey != nil }
    var isUnlogged: Bool
    var options: [String]
    var partitionKey: String?
    var bound: String?
    /// The partitioned table, or the tables that it inherits from.
    var parents: [ItemName]
    /// The inherited columns that are not as the parent's, by name.
    var overrides: [String: ColumnOverride] = [:]
}

/// What an inherited column has of its own: its default and NOT NULL.
struct ColumnOverride: Hashable {
    var defaultText: String?
    var isNotNull: Bool
}

struct ColumnItem: Hashable {
    enum Identity: String { case always = "a", byDefault = "d" }

    var type: String
    var collation: String?
    var isNotNull: Bool
    var defaultText: String?
    var generation: String?
    var identity: Identity?
    var identityOptions: [String]
    /// The type without modifier and domain, and whether it is a text; they follow from the type.
    var base: String
    var isText: Bool
}

struct ConstraintItem: Hashable {
    enum Kind: String { case primaryKey = "p", unique = "u", foreignKey = "f", check = "c", exclusion = "x" }

    var kind: Kind
    /// As `pg_get_constraintdef` writes it, without NOT VALID.
    var definition: String
    var isValid: Bool
    /// The statement for the index of a primary key or unique constraint.
    var index: String?
    /// DEFERRABLE and INITIALLY DEFERRED.
    var deferral: String
    /// Whether it is one of a domain.
    var isOfDomain: Bool
}

struct IndexItem: Hashable {
    /// The definition without the index's own name.
    var unnamed: String
    /// CREATE INDEX, as `pg_get_indexdef` writes it.
    var definition: String
    var isValid: Bool
    /// The table or materialized view.
    var relation: ItemName
}

struct ViewItem: Hashable {
    var query: String
    var isMaterialized: Bool
    var options: [String]
    var columns: [Field]
}

/// A privilege that a role has on a view.
struct Grant: Hashable, Comparable {
    /// Empty for PUBLIC.
    var role: String
    var privilege: String
    var isGrantable: Bool

    static func < (left: Grant, right: Grant) -> Bool {
        (left.role, left.privilege, left.isGrantable ? 1 : 0) < (right.role, right.privilege, right.isGrantable ? 1 : 0)
    }
}

/// A thing in a schema.
struct SchemaItem: Hashable {
    var content: ItemContent
    var comment: String?
    var grants: [Grant] = []
    /// The roles that its definition names.
    var roles: [String] = []
    /// Where it stands among its like: columns in their table.
    var position = 0
    var dependencies: Set<ItemName> = []
}
