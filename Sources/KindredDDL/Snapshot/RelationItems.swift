package import KindredPostgres

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
    package var overrides: [ServerText: ColumnOverride] = [:]

    package init(
        isUnlogged: Bool, options: [String], partitionKey: String? = nil, bound: String? = nil, parents: [ItemName],
        overrides: [ServerText: ColumnOverride] = [:]
    ) {
        self.isUnlogged = isUnlogged
        self.options = options
        self.partitionKey = partitionKey
        self.bound = bound
        self.parents = parents
        self.overrides = overrides
    }
}

/// The default and NOT NULL that an inherited column has of its own.
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
    /// Whether it is a domain's constraint.
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
