/// How the tool ended: the numbers of `sysexits.h`, which scripts may rely on.
public enum ExitStatus: Int32, Sendable, CaseIterable {
    /// All was done.
    case success = 0
    /// Something failed that no other number describes.
    case failure = 1
    /// The arguments are wrong.
    case usage = 64
    /// A name that was asked for is not in the database.
    case unknownName = 65
    /// The database cannot be reached, or no server is installed to start one.
    case unavailable = 69
}
