/// The outcome of a transaction whose answer to COMMIT was lost.
public enum CommitFate: Sendable, Hashable {
    /// It was committed.
    case committed
    /// It was rolled back.
    case rolledBack
    /// The server cannot tell, or not yet: it was unreachable, restored from a backup, or replaced by another server.
    case unknown
}

extension PostgresClient {
    /// Finds the outcome of a transaction that ended with `PostgresError` `.commitUnknown`.
    ///
    /// ```swift
    /// do {
    ///     try await client.withTransaction(tracksCommit: true) { … }
    /// } catch let error as PostgresError where error.code == .commitUnknown {
    ///     guard let id = error.transactionID, try await client.resolveCommit(id) == .committed else { throw error }
    /// }
    /// ```
    ///
    /// Sends one query, and repeats it while the transaction still runs or no connection can be made. An answer other
    /// than `.unknown` is definite. Throws `CancellationError`, and `PostgresError` `.closed` if the client is closed.
    ///
    /// - Parameters:
    ///   - id: the error's `transactionID`.
    ///   - timeout: how long to repeat the query.
    public func resolveCommit(_ id: PostgresTransactionID, timeout: Duration = .seconds(5)) async throws -> CommitFate {
        try await withThrowingTaskGroup(of: CommitFate.self) { group in
            group.addTask {
                while true {
                    if let fate = try await CommitQuestion(id: id, client: self).fate { return fate }
                    try await Task.sleep(for: .milliseconds(50))
                }
            }
            // The limit includes the query's wait for a connection.
            group.addTask {
                try await Task.sleep(for: timeout)
                return .unknown
            }
            defer { group.cancelAll() }
            return try await group.next() ?? .unknown
        }
    }
}

/// Asks for the outcome of a transaction by its number.
private struct CommitQuestion {
    let id: PostgresTransactionID
    let client: PostgresClient

    /// The outcome as the server knows it now; nil if it may know more later.
    var fate: CommitFate? {
        get async throws {
            // With two primaries on one timeline, each may have given the number to another transaction.
            guard client.pool.context.primary.refusal == nil else { return nil }
            let rows: QueryResult
            do {
                // Neither in the task's own transaction, which may have failed, nor on its exclusive connection.
                rows = try await PostgresTransaction.$current.withValue(nil) {
                    try await ConnectionLease.$current.withValue(nil) {
                        try await client.execute(question.statement(isProgrammed: false))
                    }
                }
            } catch let error as PostgresError {
                switch error.code {
                case .closed: throw error
                // The number is in the server's future: the server was restored, or is another server.
                case .server where error.sqlState?.rawValue == "22023": return .unknown
                default: return nil
                }
            }
            guard let row = rows.first else { return nil }
            // A standby may lag, and after a failover the number may belong to another transaction.
            guard let timeline = try row.decode(1, as: String.self) else { return nil }
            guard timeline == id.timeline else { return .unknown }
            switch try row.decode(0, as: String.self) {
            case "committed": return .committed
            case "aborted": return .rolledBack
            case "in progress": return nil
            // Too old: the server no longer keeps its status.
            default: return .unknown
            }
        }
    }

    private var question: SQL {
        """
        SELECT pg_catalog.pg_xact_status(\(String(id.number))::pg_catalog.text::pg_catalog.xid8), CASE WHEN pg_catalog.pg_is_in_recovery() \
        THEN NULL ELSE pg_catalog.substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_insert_lsn()), 1, 8) END
        """
    }
}
