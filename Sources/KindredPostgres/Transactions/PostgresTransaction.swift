import Synchronization

/// A transaction, or a savepoint in one, bound to the task that runs its closure and to that task's children.
///
/// Statements of a scope wait while a sibling task has a savepoint open in it, so that they never end up inside.
public final class PostgresTransaction: Sendable {
    @TaskLocal static var current: PostgresTransaction?

    let client: PostgresClient
    let connection: PooledConnection
    /// The scope around this one, of the same client or of another.
    let outer: PostgresTransaction?
    let depth: Int
    private let gate = AsyncGate()
    private let state = Mutex<(isOver: Bool, firstError: PostgresError?)>((false, nil))

    init(client: PostgresClient, connection: PooledConnection, outer: PostgresTransaction?, depth: Int) {
        self.client = client
        self.connection = connection
        self.outer = outer
        self.depth = depth
    }

    /// The error that failed the transaction, if one did.
    var firstError: PostgresError? { state.withLock { $0.firstError } }

    func end() { state.withLock { $0.isOver = true } }

    /// A savepoint was rolled back to: what failed after it counts no more.
    func forgetErrors() { state.withLock { $0.firstError = nil } }

    /// Runs a statement inside.
    ///
    /// Throws `.transactionEnded` once the scope is over.
    public func query(_ sql: SQL) async throws -> QueryResult {
        try await client.query(sql)
    }

    /// Runs statements under one Sync in this scope.
    func run(_ content: Request.Content, deadline: UInt64) async throws -> [QueryResult] {
        try await gate.withLock {
            try requireOpen()
            do {
                return try await connection.run(content, deadline: deadline)
            } catch let error as PostgresError {
                throw state.withLock { state in
                    if error.sqlState == .inFailedTransaction, let first = state.firstError {
                        return PostgresError(
                            .transactionAborted,
                            "The transaction has failed already: \(first.message)",
                            sqlState: error.sqlState,
                            server: error.server,
                            statement: error.statement,
                            underlying: [first.description]
                        )
                    }
                    if state.firstError == nil { state.firstError = error }
                    return error
                }
            }
        }
    }

    /// Runs the closure of a savepoint while statements of this scope wait.
    func withSavepoint<T>(_ body: () async throws -> T) async throws -> T {
        try await gate.withLock {
            try requireOpen()
            return try await body()
        }
    }

    private func requireOpen() throws {
        guard state.withLock({ $0.isOver }) else { return }
        throw PostgresError(
            .transactionEnded,
            "The transaction has ended; a task that outlives it cannot use it any more"
        )
    }
}
