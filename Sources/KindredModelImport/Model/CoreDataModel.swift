import KindredPostgres

/// A version of a Core Data model, as its file describes it.
///
/// It is a value, read once from a `.xcdatamodeld` or `.xcdatamodel` folder or a `contents` file. ``ModelImport`` makes
/// tables of it.
public struct CoreDataModel: Sendable, Hashable {
    /// The version's name, without its extension: `Shop 2` of `Shop 2.xcdatamodel`.
    public let name: String
    /// The entities, in the file's order.
    public let entities: [Entity]
    /// The types of composite attributes.
    public let composites: [Composite]
    /// The configurations.
    public let configurations: [Configuration]
    /// Reports of everything that was read and says nothing to a database, or is not known.
    public let remarks: [ModelReport]

    /// An entity.
    public struct Entity: Sendable, Hashable {
        /// The name.
        public var name: String
        /// The name of the entity that it inherits from.
        public var parent: String?
        /// Whether there are objects of its sub-entities only.
        public var isAbstract = false
        /// The attributes, in the file's order.
        public var attributes: [Attribute] = []
        /// The relationships, in the file's order.
        public var relationships: [Relationship] = []
        /// The names of the properties of each uniqueness constraint.
        public var uniquenessConstraints: [[String]] = []
        /// The indexes, including the older forms `compoundIndex` and `indexed`.
        public var indexes: [Index] = []
        /// The entries of the user info, sorted by key.
        public var userInfo: [UserInfoEntry] = []
        /// Its ties to an entity of another version.
        public var identity = Identity()
    }

    /// An attribute of an entity or of a composite type.
    public struct Attribute: Sendable, Hashable {
        /// The name.
        public var name: String
        /// The type as it is written, such as `Integer 16`.
        public var type: String
        /// Whether it may be left without a value.
        public var isOptional = false
        /// Whether it is not stored.
        public var isTransient = false
        /// The expression that it is derived by, if it is derived.
        public var derivation: String?
        /// The default as it is written; of a date the seconds since the beginning of 2001.
        public var defaultValue: String?
        /// The smallest value or length as it is written; of a date the seconds since the beginning of 2001.
        public var minimum: String?
        /// The largest value or length as it is written; of a date the seconds since the beginning of 2001.
        public var maximum: String?
        /// The regular expression that the whole text matches.
        public var pattern: String?
        /// The transformer's or class's name of a transformable attribute.
        public var transformer: String?
        /// The name of a composite attribute's type.
        public var composite: String?
        /// Whether large values may be kept outside of the store.
        public var isExternal = false
        /// The entries of the user info, sorted by key.
        public var userInfo: [UserInfoEntry] = []
        /// Its ties to an attribute of another version.
        public var identity = Identity()
    }

    /// A relationship.
    public struct Relationship: Sendable, Hashable {
        /// The effect on the destinations of deleting the source.
        public enum DeleteRule: String, Sendable, Hashable, CaseIterable {
            /// They forget it.
            case nullify = "Nullify"
            /// They are deleted too.
            case cascade = "Cascade"
            /// It is not deleted while there are any.
            case deny = "Deny"
            /// Nothing.
            case noAction = "No Action"
        }

        /// The name.
        public var name: String
        /// The name of the destination entity.
        public var destination: String
        /// The name of the inverse relationship.
        public var inverse: String?
        /// The name of the entity that has the inverse, where it is not the destination.
        public var inverseEntity: String?
        /// Whether it may lead to no object.
        public var isOptional = false
        /// Whether it may lead to several objects.
        public var isToMany = false
        /// Whether its objects have an order.
        public var isOrdered = false
        /// Whether it is not stored.
        public var isTransient = false
        /// The effect on the destinations of deleting the source.
        public var deleteRule = DeleteRule.nullify
        /// The smallest number of objects; nil for none.
        public var minimumCount: Int?
        /// The largest number of objects; nil for none.
        public var maximumCount: Int?
        /// The entries of the user info, sorted by key.
        public var userInfo: [UserInfoEntry] = []
        /// Its ties to a relationship of another version.
        public var identity = Identity()
    }

    /// An index.
    public struct Index: Sendable, Hashable {
        /// A part of an index.
        public struct Element: Sendable, Hashable {
            /// The name of the property; nil for an expression.
            public var property: String?
            /// The expression, if it is one.
            public var expression: String?
            /// Whether it is sorted downwards.
            public var isDescending = false
            /// Whether it is meant for a search in several dimensions.
            public var isRTree = false
        }

        /// The name; nil where the form has none.
        public var name: String?
        /// The parts, in their order.
        public var elements: [Element]
    }

    /// A type of composite attributes.
    public struct Composite: Sendable, Hashable {
        /// The name.
        public var name: String
        /// Its fields.
        public var attributes: [Attribute]
    }

    /// A configuration: a choice of entities.
    public struct Configuration: Sendable, Hashable {
        /// The name.
        public var name: String
        /// The names of its entities.
        public var entities: [String]
    }

    /// An entry of a user info.
    public struct UserInfoEntry: Sendable, Hashable {
        /// The key.
        public var key: String
        /// The value.
        public var value: String
    }

    /// The ties of an entity or property to one of another version.
    public struct Identity: Sendable, Hashable {
        /// The renaming identifier: by rule the name in the earlier version.
        public var renamingIdentifier: String?
        /// The identifier that Xcode gave it.
        public var elementID: String?
    }

    /// Puts a model together; tests do.
    package init(
        name: String, entities: [Entity], composites: [Composite] = [], configurations: [Configuration] = [],
        remarks: [ModelReport] = []
    ) {
        self.name = name
        self.entities = entities
        self.composites = composites
        self.configurations = configurations
        self.remarks = remarks
    }
}
