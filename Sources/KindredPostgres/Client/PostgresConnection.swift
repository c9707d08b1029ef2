/// A connection of one's own, lent by ``PostgresClient/withConnection(_:)``.
public struct PostgresConnection: Sendable {
    let client: PostgresClient

    /// Runs a statement on this connection.
    @discardableResult
    public func query(_ sql: SQL, timeout: Duration? = nil) async throws -> QueryResult {
        try await client.query(sql, timeout: timeout)
    }
}

/// The connection that a task has for itself, outside of transactions.
final class Lease: Sendable {
    @TaskLocal static var current: Lease?

    let client: PostgresClient
    let connection: PooledConnection

    init(client: PostgresClient, connection: PooledConnection) {
        self.client = client
        self.connection = connection
    }
}

extension PostgresClient {
    /// Lends a connection for the time of `body`; everything its task sends over this client goes there.
    ///
    /// For settings, temporary tables and advisory locks. A connection that comes back with an open transaction is closed.
    /// Inside a transaction, and inside another call, it is the connection the task has already.
    public func withConnection<T>(_ body: (PostgresConnection) async throws -> T) async throws -> T {
        if currentTransaction != nil || Lease.current?.client === self {
            return try await body(PostgresConnection(client: self))
        }
        return try await withLease { connection in
            try await Lease.$current.withValue(Lease(client: self, connection: connection)) {
                try await body(PostgresConnection(client: self))
            }
        }
    }

    func withLease<T>(_ body: (PooledConnection) async throws -> T) async throws -> T {
        let connection = try await pool.acquire(.exclusive)
        defer { pool.release(connection) }
        return try await body(connection)
    }
}
