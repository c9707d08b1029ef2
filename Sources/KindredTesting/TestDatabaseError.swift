import HarmlessText

/// Why a test got no database.
public struct TestDatabaseError: Error, Sendable, CustomStringConvertible {
    /// What went wrong; stable, for `switch` and `==`.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// The task belongs to no test with the trait.
        public static let noDatabase = Code("noDatabase")
        /// A script of the fixture failed or could not be read.
        public static let fixtureFailed = Code("fixtureFailed")
        /// The server refused to make a database.
        public static let creationFailed = Code("creationFailed")
    }

    /// What went wrong.
    public let code: Code

    /// A sentence that says what went wrong and what to do.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message.harmless
    }

    /// The message.
    public var description: String { message }
}
