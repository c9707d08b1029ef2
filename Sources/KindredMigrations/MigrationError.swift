import HarmlessText
public import KindredPostgres

/// The reason why migrations were not applied.
///
/// `description` and `message` are safe to log; `debugDescription` adds the server's own words, which may quote values of rows.
public struct MigrationError: Error, Sendable, Hashable {
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
        /// A schema does not exist, or belongs to no tenant, since all tenants share it.
        public static let noTenant = Code("noTenant")
        /// There is such a schema already.
        public static let exists = Code("exists")
        /// Files are recorded already, so that no other files can be counted as run.
        public static let alreadyMigrated = Code("alreadyMigrated")
        /// A statement failed, or the end of a file's transaction.
        public static let failed = Code("failed")
        /// The table of the files that have run, or its schema, belongs to a role that is not trusted.
        public static let otherOwner = Code("otherOwner")
    }

    /// The kind of failure.
    public let code: Code
    /// The name of the file concerned.
    public let file: String?
    /// The line at which the statement begins that failed, counted from 1.
    public let line: Int?
    /// One sentence: the failure and its remedy; begins with file and line where they are known.
    public let message: String
    /// The server's message if a statement failed; its message, detail and context may quote values of rows.
    public let server: ServerMessage?
    /// The other problems that were found at the same time, in the order of the files.
    public private(set) var further: [MigrationError] = []

    init(_ code: Code, _ message: String, file: String? = nil, line: Int? = nil, server: ServerMessage? = nil) {
        self.code = code
        self.file = file
        self.line = line
        self.server = server
        let place = file.map { file in file + (line.map { ":\($0)" } ?? "") + ": " } ?? ""
        self.message = (place + message).harmless
    }

    /// The first of several problems, with the others; nil if there is none.
    init?(_ problems: [MigrationError]) {
        guard var first = problems.first else { return nil }
        first.further = Array(problems.dropFirst())
        self = first
    }
}

extension MigrationError: CustomStringConvertible, CustomDebugStringConvertible {
    /// The messages of all problems, or of the first twenty, on one line.
    public var description: String { ([message] + otherLines(\.message)).joined(separator: " ") }

    /// The messages with the server's message, detail, hint and context, and the names concerned.
    ///
    /// One fact a line; multi-line texts are indented.
    public var debugDescription: String { ([message] + details).joined(separator: "\n") }

    /// The lines of `debugDescription` behind the message.
    package var details: [String] {
        facts + otherLines { ([$0.message] + $0.facts).joined(separator: "\n") }
    }

    private func otherLines(_ text: (MigrationError) -> String) -> [String] {
        let shown = further.prefix(19)
        let rest = further.count - shown.count
        return shown.map(text) + (rest == 0 ? [] : ["And \(rest) more problem\(rest == 1 ? "" : "s")."])
    }

    /// The server's words, a fact a line; its message only if this error's own does not have it.
    private var facts: [String] { server?.facts(besides: message) ?? [] }
}

extension ServerMessage {
    /// The fields for readers with the right to see values of rows, a line each; the message unless another text has it
    /// already.
    package func facts(besides text: String) -> [String] {
        var facts: [String] = []
        if !text.lowercased().contains(message.harmless.lowercased()) {
            facts.append("\(severity) \(sqlState?.rawValue ?? ""): \(message)")
        }
        let table = table.map { table in (schema.map { "\($0)." } ?? "") + table }
        for (name, value) in [
            ("DETAIL", detail), ("HINT", hint), ("CONTEXT", context), ("CONSTRAINT", constraint),
            ("TABLE", table), ("COLUMN", column), ("DATA TYPE", dataType),
        ] {
            if let value { facts.append("\(name): \(value)") }
        }
        return facts.map { $0.harmlessLines() }
    }
}
