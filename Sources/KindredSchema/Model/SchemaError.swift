import HarmlessText
import KindredPostgres

/// A failure of the schema layer: an unknown entity or key, or an invalid annotation.
///
/// Has names of the schema only, never values of rows, so both of its texts are safe to log.
public struct SchemaError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure, stable across releases; match it with `==`.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The code's stable name, such as `unknownEntity`.
        public let description: String

        private init(_ description: String) {
            self.description = description
        }

        /// No entity has the given name.
        public static let unknownEntity = Code("unknownEntity")
        /// The entity has no attribute or relationship of the given name.
        public static let unknownKey = Code("unknownKey")
        /// An annotation in a comment, or its counterpart in code, is malformed, names nothing, or clashes.
        public static let invalidAnnotation = Code("invalidAnnotation")
        /// The text is no file of names.
        public static let invalidNames = Code("invalidNames")
        /// The server's answer to a catalog query has an unexpected shape.
        public static let unreadableCatalog = Code("unreadableCatalog")
    }

    /// The kind of failure.
    public let code: Code
    /// One sentence: the failure and its remedy.
    public let message: String
    /// The entity concerned, such as `public.person`.
    public let entity: String?
    /// The place where the cause is written, such as `the comment on constraint email_person_id_fkey of public.email`.
    public let location: String?
    /// The nearest names that exist, best first.
    public let suggestions: [String]

    package init(
        _ code: Code,
        _ message: String,
        entity: String? = nil,
        location: String? = nil,
        suggestions: [String] = []
    ) {
        self.code = code
        self.message = message.harmless
        self.entity = entity
        self.location = location
        self.suggestions = suggestions
    }

    /// The sentence and the code.
    public var description: String {
        "\(message) [\(code)]"
    }
}
