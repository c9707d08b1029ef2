import HarmlessText

/// The reason why migrations were not applied.
public struct MigrationError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure; stable, for `switch` and `==`.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// The folder or a file cannot be read, a file has no number, or two have the same.
        public static let invalidFolder = Code("invalidFolder")
        /// A file holds a statement that a migration cannot run, such as BEGIN or COPY from the client.
        public static let invalidFile = Code("invalidFile")
        /// A file has changed since it ran.
        public static let changed = Code("changed")
        /// A file that ran is not in the folder.
        public static let missing = Code("missing")
        /// A file has not run, although one with a higher number has.
        public static let outOfOrder = Code("outOfOrder")
        /// A file that runs without a transaction began and did not come to its end.
        public static let unfinished = Code("unfinished")
        /// Another process applies migrations, and goes on doing so.
        public static let locked = Code("locked")
        /// The server has no advisory locks, or the role may not take them; nothing was done.
        public static let unsupported = Code("unsupported")
        /// A schema is not there, or is that of no tenant, since all share it.
        public static let noTenant = Code("noTenant")
        /// There is such a schema already.
        public static let exists = Code("exists")
        /// A statement failed.
        public static let failed = Code("failed")
    }

    /// The kind of failure.
    public let code: Code
    /// The name of the file concerned.
    public let file: String?
    /// The line at which the statement begins that failed, counted from 1.
    public let line: Int?
    /// One sentence: the failure and its remedy; begins with file and line where they are known.
    public let message: String

    init(_ code: Code, _ message: String, file: String? = nil, line: Int? = nil) {
        self.code = code
        self.file = file
        self.line = line
        let place = file.map { file in file + (line.map { ":\($0)" } ?? "") + ": " } ?? ""
        self.message = (place + message).harmless
    }

    /// The message.
    public var description: String { message }
}
