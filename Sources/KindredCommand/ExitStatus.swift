/// The tool's exit status: the numbers of `sysexits.h`, stable for scripts.
public enum ExitStatus: Int32, Sendable, CaseIterable {
    /// Success.
    case success = 0
    /// A failure without a number of its own.
    case failure = 1
    /// The arguments are wrong.
    case usage = 64
    /// A requested name is not in the database, or a file is not what it should be.
    case badInput = 65
    /// The database is unreachable, or no server is installed.
    case unavailable = 69
}

/// Ends a command with one line on standard error and an exit code.
struct CommandFailure: Error {
    let status: ExitStatus
    let message: String

    init(_ status: ExitStatus, _ message: String) {
        self.status = status
        self.message = message
    }
}
