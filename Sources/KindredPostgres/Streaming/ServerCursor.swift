/// A server-side cursor from which one task fetches portions.
///
/// A cursor dropped before its last row closes itself. If it has a connection of its own, that is rolled back and returned
/// to the pool; in the task's transaction only the cursor is closed.
package final class ServerCursor {
    private enum State {
        case unopened
        case open(CursorPlace)
        case finished
    }

    private let client: PostgresClient
    private let statement: Statement
    private let timeout: Duration?
    /// The guard of a cursor on a replica, before its query.
    private let guardian: ReplicaGuard?
    /// The place that the replica had replayed behind the first portion.
    package private(set) var replayed: UInt64?
    /// Unique in the process.
    private let name = "kindred_cursor_\(Request.nextID())"
    private var state = State.unopened
    private var format = PostgresFormat.binary
    private var size = PortionSize()

    package convenience init(client: PostgresClient, statement: Statement, timeout: Duration?) {
        self.init(client: client, statement: statement, timeout: timeout, guardian: nil)
    }

    /// - Parameter guardian: the guard of a cursor on a replica.
    init(client: PostgresClient, statement: Statement, timeout: Duration?, guardian: ReplicaGuard?) {
        self.guardian = guardian
        self.client = client
        self.statement = client.route.resolved([statement])[0]
        self.timeout = timeout
    }

    deinit {
        if case .open(let place) = state { place.abandon(closing: close) }
    }

    /// Fetches the next portion, never empty; nil after the last.
    package func next() async throws -> QueryResult? {
        let deadline = client.deadline(timeout)
        do {
            let portion: QueryResult
            switch state {
            case .finished: return nil
            case .unopened: portion = try await open(by: deadline)
            case .open(let place): portion = try await fetch(from: place, by: deadline)
            }
            if portion.count < size.rows { try await finish(by: deadline) }
            size.adapt(to: portion)
            return portion.isEmpty ? nil : portion
        } catch {
            if case .open(let place) = state { await place.fail() }
            state = .finished
            throw error
        }
    }

    private func open(by deadline: MonotonicTime) async throws -> QueryResult {
        try client.requireSettings()
        try client.route.requireNoSession([statement])
        try requireCursor()
        format =
            if let wanted = statement.resultFormat { wanted } else {
                try await client.resultFormat(of: statement, by: deadline)
            }
        let place = try await CursorPlace.find(for: client, by: deadline)
        state = .open(place)
        let hold = place.outlivesTransactions ? "WITH HOLD " : ""
        let declare = Statement(
            text: StatementText(
                oneTime: "DECLARE \(name) NO SCROLL CURSOR \(hold)FOR \(statement.text.text)",
                effect: place.outlivesTransactions ? .lasting : .plain,
                // The cursor may be left open.
                mayChangeSession: place.outlivesTransactions || statement.text.mayChangeSession),
            bindings: statement.bindings)
        let fetch = fetchStatement
        let results = try await client.observing([declare, fetch]) {
            guard let guardian else {
                return try await place.open(
                    [declare, fetch], for: client, mayWrite: statement.text.mayWrite, by: deadline)
            }
            let results = try await place.open(
                [guardian.statement, declare, fetch] + guardian.questions, for: client, mayWrite: false, by: deadline)
            replayed = guardian.location(in: results)
            return Array(results.dropFirst().dropLast(guardian.questions.count))
        }
        for result in results where !result.columns.unknownTypes.isEmpty {
            await client.learn(result.columns.unknownTypes) { try await place.run($0, by: deadline) }
        }
        return try last(of: results)
    }

    /// Throws where a session would keep the cursor that a pooler lends to other clients.
    private func requireCursor() throws {
        guard client.pooler == .transaction, client.currentTransaction == nil, client.currentLease != nil else {
            return
        }
        throw PostgresError(
            .sessionNeeded,
            """
            A stream inside of withConnection keeps its cursor in the session, and \(client.configuration) counts as a pooler \
            that lends sessions by transaction: stream in a transaction, or outside of withConnection. Set `pooler` to session \
            if it lends whole sessions
            """,
            statement: statement.text.text)
    }

    private func fetch(from place: CursorPlace, by deadline: MonotonicTime) async throws -> QueryResult {
        let fetch = fetchStatement
        return try last(of: try await client.observing([fetch]) { try await place.run([fetch], by: deadline) })
    }

    private var fetchStatement: Statement {
        Statement(
            text: StatementText(oneTime: "FETCH \(size.rows) FROM \(name)", effect: .plain), resultFormat: format)
    }

    private var close: Statement {
        Statement(text: StatementText(oneTime: "CLOSE \(name)", effect: .plain), resultFormat: .binary)
    }

    private func last(of results: [QueryResult]) throws -> QueryResult {
        guard let result = results.last else {
            throw PostgresError(.protocolViolation, "The server gave no result for a statement")
        }
        return result
    }

    /// Closes the cursor after its last row.
    private func finish(by deadline: MonotonicTime) async throws {
        guard case .open(let place) = state else { return }
        try await place.finish(closing: close, by: deadline)
        state = .finished
    }
}

/// The number of rows that make up some hundred kilobytes.
struct PortionSize {
    private static let bytes = 512 << 10

    private(set) var rows = 64

    /// Estimates the size of rows from a portion.
    mutating func adapt(to portion: QueryResult) {
        guard portion.count > 0 else { return }
        let each = max(1, portion.memorySize / portion.count)
        // Later rows may be larger, so a portion has at most four times the rows of the last.
        rows = min(max(1, Self.bytes / each), rows * 4, 16_384)
    }
}
