/// The name of a thing in a schema: what tells it from all others, on both sides of a comparison.
package struct ItemName: Hashable, Comparable {
    /// Kinds in the order in which things are listed.
    package enum Kind: Int, Comparable {
        case schema, `extension`, type, function, sequence, table, column, constraint, index, view, trigger, policy
        case other

        package static func < (left: Kind, right: Kind) -> Bool { left.rawValue < right.rawValue }
    }

    package var kind: Kind
    package var schema: String
    /// The relation's, type's or function's own name; empty for a schema.
    package var name = ""
    /// The column, constraint, trigger or policy of a relation.
    package var part = ""

    package static func < (left: ItemName, right: ItemName) -> Bool {
        (left.kind, left.schema, left.name, left.part) < (right.kind, right.schema, right.name, right.part)
    }

    /// The table or view that a part belongs to.
    package func owner(_ kind: Kind = .table) -> ItemName { ItemName(kind: kind, schema: schema, name: name) }

    /// What another kind of thing of the same schema and name is called.
    package func named(_ kind: Kind) -> ItemName { ItemName(kind: kind, schema: schema, name: name) }

    /// What a foreign table of the same schema and name is called.
    package var foreignTable: ItemName {
        ItemName(kind: .other, schema: schema, name: "foreign table", part: named(.table).shown)
    }

    package var isForeignTable: Bool { kind == .other && name == "foreign table" }

    /// Whether it keeps what it depends on from changing, and copies of a schema lack it, or its columns.
    ///
    /// Statistics go with their columns; a schema with range types has no copy.
    package var isMissingFromCopies: Bool {
        kind == .other && ["rule", "aggregate", "operator", "foreign table"].contains(name)
    }

    /// What row security of a table is called.
    package var rowSecurity: ItemName {
        ItemName(kind: .other, schema: schema, name: "row security of", part: named(.table).shown)
    }

    /// Whether its name stands among those of tables, views, sequences, indexes and composite types of the schema.
    package var isRelation: Bool {
        switch kind {
        case .table, .view, .sequence, .index: true
        default: false
        }
    }

    /// The name for people.
    package var shown: String {
        ([schema, name, part].filter { !$0.isEmpty }).joined(separator: ".")
    }

    /// The kind and the name for people.
    package var described: String {
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

    package init(kind: Kind, schema: String, name: String = "", part: String = "") {
        self.kind = kind
        self.schema = schema
        self.name = name
        self.part = part
    }
}

/// What a thing is, as far as two sides are compared.
package enum ItemContent: Hashable {
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
package struct Domain: Hashable {
    package var base: String
    package var collation: String?
    package var isNotNull: Bool
    package var defaultText: String?

    package init(base: String, collation: String? = nil, isNotNull: Bool, defaultText: String? = nil) {
        self.base = base
        self.collation = collation
        self.isNotNull = isNotNull
        self.defaultText = defaultText
    }
}

/// An attribute of a composite type.
package struct Field: Hashable {
    package var name: String
    package var type: String
    package var collation: String?

    package init(name: String, type: String, collation: String? = nil) {
        self.name = name
        self.type = type
        self.collation = collation
    }
}

package struct SequenceItem: Hashable {
    package var type: String
    /// As in CREATE SEQUENCE: `INCREMENT BY 1`, `MINVALUE 1`, and so on.
    package var options: [String]
    /// The column that it goes with.
    package var owner: ItemName?
    package var isUnlogged: Bool

    package init(type: String, options: [String], owner: ItemName? = nil, isUnlogged: Bool) {
        self.type = type
        self.options = options
        self.owner = owner
        self.isUnlogged = isUnlogged
    }
}

package struct TableItem: Hashable {
    package var isPartitioned: Bool { partitionKey != nil }
    package var isUnlogged: Bool
    package var options: [String]
    package var partitionKey: String?
    package var bound: String?
    /// The partitioned table, or the tables that it inherits from.
    package var parents: [ItemName]
    /// The inherited columns that are not as the parent's, by name.
    package var overrides: [String: ColumnOverride] = [:]

    package init(
        isUnlogged: Bool, options: [String], partitionKey: String? = nil, bound: String? = nil, parents: [ItemName],
        overrides: [String: ColumnOverride] = [:]
    ) {
        self.isUnlogged = isUnlogged
        self.options = options
        self.partitionKey = partitionKey
        self.bound = bound
        self.parents = parents
        self.overrides = overrides
    }
}

/// What an inherited column has of its own: its default and NOT NULL.
package struct ColumnOverride: Hashable {
    package var defaultText: String?
    package var isNotNull: Bool

    package init(defaultText: String? = nil, isNotNull: Bool) {
        self.defaultText = defaultText
        self.isNotNull = isNotNull
    }
}

package struct ColumnItem: Hashable {
    package enum Identity: String { case always = "a", byDefault = "d" }

    package var type: String
    package var collation: String?
    package var isNotNull: Bool
    package var defaultText: String?
    package var generation: String?
    package var identity: Identity?
    package var identityOptions: [String]
    /// The type without modifier and domain, and whether it is a text; they follow from the type.
    package var base: String
    package var isText: Bool

    package init(
        type: String, collation: String? = nil, isNotNull: Bool, defaultText: String? = nil, generation: String? = nil,
        identity: Identity? = nil, identityOptions: [String], base: String, isText: Bool
    ) {
        self.type = type
        self.collation = collation
        self.isNotNull = isNotNull
        self.defaultText = defaultText
        self.generation = generation
        self.identity = identity
        self.identityOptions = identityOptions
        self.base = base
        self.isText = isText
    }
}

package struct ConstraintItem: Hashable {
    package enum Kind: String { case primaryKey = "p", unique = "u", foreignKey = "f", check = "c", exclusion = "x" }

    package var kind: Kind
    /// As `pg_get_constraintdef` writes it, without NOT VALID.
    package var definition: String
    package var isValid: Bool
    /// The statement for the index of a primary key or unique constraint.
    package var index: String?
    /// DEFERRABLE and INITIALLY DEFERRED.
    package var deferral: String
    /// Whether it is one of a domain.
    package var isOfDomain: Bool

    package init(
        kind: Kind, definition: String, isValid: Bool, index: String? = nil, deferral: String, isOfDomain: Bool
    ) {
        self.kind = kind
        self.definition = definition
        self.isValid = isValid
        self.index = index
        self.deferral = deferral
        self.isOfDomain = isOfDomain
    }
}

package struct IndexItem: Hashable {
    /// The definition without the index's own name.
    package var unnamed: String
    /// CREATE INDEX, as `pg_get_indexdef` writes it.
    package var definition: String
    package var isValid: Bool
    /// The table or materialized view.
    package var relation: ItemName

    package init(unnamed: String, definition: String, isValid: Bool, relation: ItemName) {
        self.unnamed = unnamed
        self.definition = definition
        self.isValid = isValid
        self.relation = relation
    }
}

package struct ViewItem: Hashable {
    package var query: String
    package var isMaterialized: Bool
    package var options: [String]
    package var columns: [Field]

    package init(query: String, isMaterialized: Bool, options: [String], columns: [Field]) {
        self.query = query
        self.isMaterialized = isMaterialized
        self.options = options
        self.columns = columns
    }
}

/// A privilege that a role has on a view.
package struct Grant: Hashable, Comparable {
    /// Empty for PUBLIC.
    package var role: String
    package var privilege: String
    package var isGrantable: Bool

    package static func < (left: Grant, right: Grant) -> Bool {
        (left.role, left.privilege, left.isGrantable ? 1 : 0) < (right.role, right.privilege, right.isGrantable ? 1 : 0)
    }

    package init(role: String, privilege: String, isGrantable: Bool) {
        self.role = role
        self.privilege = privilege
        self.isGrantable = isGrantable
    }
}

/// A thing in a schema.
package struct SchemaItem: Hashable {
    package var content: ItemContent
    package var comment: String?
    package var grants: [Grant] = []
    /// The roles that its definition names.
    package var roles: [String] = []
    /// Where it stands among its like: columns in their table.
    package var position = 0
    package var dependencies: Set<ItemName> = []

    package init(
        content: ItemContent, comment: String? = nil, grants: [Grant] = [], roles: [String] = [], position: Int = 0,
        dependencies: Set<ItemName> = []
    ) {
        self.content = content
        self.comment = comment
        self.grants = grants
        self.roles = roles
        self.position = position
        self.dependencies = dependencies
    }
}
