/// A cursor on the server that answers a context's reads: on a replica, or on the primary, to which it moves if the
/// replica fails before the first row.
package final class RoutedCursor {
    private enum State {
        case unopened
        /// - Parameter isReplica: whether it is not on the primary.
        case open(ServerCursor, isReplica: Bool)
    }

    private let route: ReadRoute?
    private let primary: PostgresClient
    private let statement: Statement
    private let reason: ReadMetrics.Reason?
    private var state = State.unopened

    /// - Parameters:
    ///   - statement: the query.
    ///   - route: the way of the context's reads; nil for the primary.
    ///   - primary: the context's client.
    ///   - reason: why it cannot be on a replica; nil if it may.
    package init(
        _ statement: Statement, by route: ReadRoute?, over primary: PostgresClient,
        notOnReplica reason: ReadMetrics.Reason?
    ) {
        (self.statement, self.route, self.primary, self.reason) = (statement, route, primary, reason)
    }

    /// Fetches the next portion, never empty; nil after the last.
    ///
    /// Throws ``ReplicaConflict`` for a replica that fails after the first portion.
    package func next() async throws -> QueryResult? {
        switch state {
        case .unopened:
            let (cursor, portion, isReplica) = try await begin()
            state = .open(cursor, isReplica: isReplica)
            return portion
        case .open(let cursor, let isReplica):
            do {
                return try await cursor.next()
            } catch let error as PostgresError where isReplica && error.isOfReplica {
                throw ReplicaConflict(error: error)
            }
        }
    }

    private func begin() async throws -> (ServerCursor, QueryResult?, isReplica: Bool) {
        let found = try await route?.stream(statement, over: primary, notOnReplica: reason)
        if let found { return (found.cursor, found.portion, true) }
        let cursor = ServerCursor(client: primary, statement: statement, timeout: nil)
        return (cursor, try await cursor.next(), false)
    }
}

/// A replica that failed, or cancelled a query, whose first rows the program has.
package struct ReplicaConflict: Error {
    /// The server's error.
    package let error: PostgresError
}

extension ReadRoute {
    /// Begins a stream on a replica; nil where it has to be on the primary.
    fileprivate func stream(
        _ statement: Statement, over primary: PostgresClient, notOnReplica reason: ReadMetrics.Reason?
    ) async throws -> (cursor: ServerCursor, portion: QueryResult?)? {
        try await onReplica(over: primary, notOnReplica: reason) { client, guardian, _ in
            let cursor = ServerCursor(client: client, statement: statement, timeout: nil, guardian: guardian)
            do {
                let portion = try await cursor.next()
                return .result((cursor, portion), replayed: cursor.replayed)
            } catch let error as PostgresError where guardian.refused(error) {
                return .behind
            }
        }
    }
}
