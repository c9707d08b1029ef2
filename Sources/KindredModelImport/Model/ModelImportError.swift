import HarmlessText
import KindredPostgres

/// Why a model cannot be read or made into tables.
public struct ModelImportError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of fault.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The name.
        public let description: String

        /// There is no such file or folder, it cannot be read, or it is too large.
        public static let unreadable = Code(description: "unreadable")
        /// It is a model in a form that is not read: the binary `elements` of Xcode 3, or a compiled one.
        public static let unsupported = Code(description: "unsupported")
        /// The file is no well-formed XML, or holds parts that a model has no use for: a DOCTYPE, entities, depth,
        /// size.
        public static let malformed = Code(description: "malformed")
        /// The model contradicts itself: names that repeat, an entity that is its own ancestor.
        public static let inconsistent = Code(description: "inconsistent")
        /// A configuration or entity that was asked for is not in the model.
        public static let unknownName = Code(description: "unknownName")
    }

    /// The kind of fault.
    public let code: Code
    /// The fault, as a sentence.
    public let message: String

    /// The sentence and the code.
    public var description: String { "\(message) [\(code)]" }

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message.harmless
    }
}
