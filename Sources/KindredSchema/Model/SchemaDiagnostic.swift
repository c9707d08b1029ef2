import HarmlessText

/// Something about the schema that its owner may want to know: what was not inferred, and why.
public struct SchemaDiagnostic: Sendable, Hashable, CustomStringConvertible {
    /// The kind of finding, stable across releases.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The code's stable name, such as `ambiguousHelper`.
        public let description: String

        private init(_ description: String) {
            self.description = description
        }

        /// More than one pair of a table's foreign keys could make it a helper table, so none was taken.
        public static let ambiguousHelper = Code("ambiguousHelper")
        /// Several foreign keys have the same columns and the same target; they are one relationship.
        public static let repeatedForeignKey = Code("repeatedForeignKey")
        /// Foreign keys of a table belong to, or refer to, single partitions; they make no relationship.
        public static let partitionForeignKey = Code("partitionForeignKey")
        /// A foreign key refers to a table, or has a column, that the role may not read; it makes no relationship.
        public static let unreadableForeignKey = Code("unreadableForeignKey")
        /// A foreign key compares periods; it makes no relationship, as its ends are not found by equality.
        public static let periodForeignKey = Code("periodForeignKey")
        /// So many views show a foreign key's columns that only those count which an annotation names.
        public static let manyViews = Code("manyViews")
        /// The entity has no key, so its objects can be read only and are not uniqued.
        public static let missingKey = Code("missingKey")
        /// A relationship could be reached by its generated name alone.
        public static let generatedNameOnly = Code("generatedNameOnly")
    }

    /// The kind of finding.
    public let code: Code
    /// The table or view concerned.
    public let entity: QualifiedName
    /// The constraints concerned, sorted.
    public let constraints: [String]
    /// One sentence for people.
    public let message: String

    package init(_ code: Code, entity: QualifiedName, constraints: [String] = [], message: String) {
        self.code = code
        self.entity = entity
        self.constraints = constraints
        self.message = message.harmless
    }

    /// The sentence and the code.
    public var description: String {
        "\(message) [\(code)]"
    }
}
