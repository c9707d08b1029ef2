import HarmlessText
import KindredPostgres

/// Why two schemas could not be compared.
public struct SchemaDifferencesError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure; stable, for `switch` and `==`.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// A side is no script, address or document that can be read.
        public static let invalidSource = Code("invalidSource")
        /// The script of a side failed on the server.
        public static let scriptFailed = Code("scriptFailed")
        /// A database cannot be reached.
        public static let unreachable = Code("unreachable")
        /// No server can be started to normalise a script.
        public static let noServer = Code("noServer")
        /// A rename names nothing, or names something that is not there afterwards.
        public static let invalidRename = Code("invalidRename")
        /// The catalog has something that cannot be read.
        public static let unreadable = Code("unreadable")
        /// The statements do not lead from one side to the other.
        public static let notProven = Code("notProven")
    }

    /// The kind of failure.
    public let code: Code

    /// A sentence that names the problem and its remedy.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message.harmless
    }

    /// The message.
    public var description: String { message }
}
