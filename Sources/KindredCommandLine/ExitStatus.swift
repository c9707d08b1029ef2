/// The tool's exit status: the numbers of `sysexits.h`, stable for scripts.
public enum ExitStatus: Int32, Sendable, CaseIterable {
    /// Success.
    case success = 0
    /// A failure without a number of its own.
    case failure = 1
    /// The arguments are wrong.
    case usage = 64
    /// A requested name is not in the database, or a file is invalid.
    case badInput = 65
    /// The database is unreachable, or no server is installed.
    case unavailable = 69
}

/// Ends a command with one line on standard error, the lines that belong to it, and an exit code.
package struct CommandFailure: Error {
    package let status: ExitStatus
    package let message: String
    /// Facts behind the message, such as the server's words.
    package let details: [String]

    package init(_ status: ExitStatus, _ message: String, details: [String] = []) {
        self.status = status
        self.message = message
        self.details = details
    }
}
