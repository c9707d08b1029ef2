import HarmlessText

/// The reason why an embedded server could not start, and its remedy.
public struct EmbeddedPostgresError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure; stable, for `switch` and `==`.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Value: String {
            case serverNotFound, invalidBinFolder, invalidOption, userNotFound, folderFailed, socketPathTooLong
            case launchFailed, initializationFailed, startFailed, timeout
        }

        private let value: Value

        private init(_ value: Value) { self.value = value }

        /// No folder with the programs `initdb` and `postgres` was found.
        public static let serverNotFound = Code(.serverNotFound)
        /// The named folder has no usable `initdb` and `postgres`.
        public static let invalidBinFolder = Code(.invalidBinFolder)
        /// A setting's name or value cannot be written to a configuration file.
        public static let invalidOption = Code(.invalidOption)
        /// The process runs as root, and there is no ordinary user to run the server as.
        public static let userNotFound = Code(.userNotFound)
        /// The server's folder could not be made.
        public static let folderFailed = Code(.folderFailed)
        /// The path of the server's socket would be longer than the system allows.
        public static let socketPathTooLong = Code(.socketPathTooLong)
        /// The supervising shell, or `pg_dump`, could not be run.
        public static let launchFailed = Code(.launchFailed)
        /// `initdb` failed, or `pg_basebackup` where another server is to be followed.
        public static let initializationFailed = Code(.initializationFailed)
        /// The server ended before it was ready.
        public static let startFailed = Code(.startFailed)
        /// The server was not ready in time.
        public static let timeout = Code(.timeout)

        /// The code's name.
        public var description: String { value.rawValue }
    }

    /// The kind of failure.
    public let code: Code

    /// One sentence: the failure and its remedy.
    public let message: String

    /// The last lines that the server or `initdb` printed, if any.
    public let log: String

    init(_ code: Code, _ message: String, log: String = "") {
        self.code = code
        self.message = message.harmless
        self.log = log
    }

    /// The message, and the log on the lines below it, indented.
    public var description: String {
        log.isEmpty ? message : "\(message)\n    \(log.harmlessLines())"
    }
}
