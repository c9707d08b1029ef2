import HarmlessText
import KindredPostgres

/// A finding about the schema: a part that was not inferred, and the reason.
public struct SchemaDiagnostic: Sendable, Hashable, CustomStringConvertible {
    /// The kind of finding, stable across releases.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The code's stable name, such as `ambiguousHelper`.
        public let description: String

        private init(_ description: String) {
            self.description = description
        }

        /// Several pairs of a table's foreign keys could make it a helper table, so none was chosen.
        public static let ambiguousHelper = Code("ambiguousHelper")
        /// Several foreign keys have the same columns and the same target; they are one relationship.
        public static let repeatedForeignKey = Code("repeatedForeignKey")
        /// Foreign keys of a table belong to, or refer to, single partitions; they make no relationship.
        public static let partitionForeignKey = Code("partitionForeignKey")
        /// A foreign key refers to a table, or has a column, that the role may not read; it makes no relationship.
        public static let unreadableForeignKey = Code("unreadableForeignKey")
        /// A foreign key compares periods; it makes no relationship, because equality does not find its ends.
        public static let periodForeignKey = Code("periodForeignKey")
        /// Too many views show a foreign key's columns, so only annotated views make relationships.
        public static let manyViews = Code("manyViews")
        /// The entity has no key, so its objects are read-only and not uniqued.
        public static let missingKey = Code("missingKey")
        /// A relationship has only its generated name.
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
