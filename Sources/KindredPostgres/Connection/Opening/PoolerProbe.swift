/// Finds out whether a pooler answers instead of the server.
///
/// A pooler invents the process number by which a connection is cancelled, since its sessions change: PgBouncer takes 32
/// random bits, nearly always beyond the numbers of processes. Only a connection with such a mark is asked for its process.
enum PoolerProbe {
    /// The largest process number of Linux; other systems' are smaller.
    private static let largestProcessID: Int32 = 1 << 22

    static var question: Connector.Question { Connector.Question("SELECT pg_catalog.pg_backend_pid()") }

    /// Begins and ends a transaction.
    static var transaction: [Connector.Question] { [Connector.Question("BEGIN"), Connector.Question("COMMIT")] }

    /// The error of a pooler that has ended the connection when a transaction was begun.
    static func refusal(ofTransaction error: PostgresError, by address: String) -> PostgresError {
        PostgresError(
            .connectionFailed,
            """
            \(address) has ended the connection when a transaction was begun, as a pooler does that lends its sessions by \
            statement: set its pool_mode to transaction, or connect to the server itself
            """,
            sqlState: error.sqlState, server: error.server, underlying: [error.description])
    }

    /// Whether the beginning of a session is unlike a server's.
    ///
    /// - Parameters:
    ///   - processID: the number that it was given.
    ///   - refusesOptions: whether startup options were refused.
    static func suspects(processID: Int32, refusesOptions: Bool) -> Bool {
        refusesOptions || !(1...largestProcessID).contains(processID)
    }

    /// Whether the answer to the question is another process's; where there is none, a pooler cannot be ruled out.
    static func isPooler(processID: Int32, answer: Result<[String?], PostgresError>?) -> Bool {
        guard case .success(let values)? = answer, let own = values.first else { return true }
        return own != String(processID)
    }
}
