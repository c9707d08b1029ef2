import Kindred
import KindredPostgres
import KindredSchema
import Synchronization

/// Leads a client that has seen a list before to the list of now.
struct LiveResumption {
    /// The first update of a client that comes back.
    struct Start {
        var snapshot: LiveSnapshot
        /// The difference to what the client has; empty if it has the list already, and if it gets the list whole.
        var difference = LiveDifference()
        let cause: LiveCause
    }

    /// The records that are read for one client: more than these are taken for a change of its list.
    private static let maximumRecords = 10_000

    let cursor: LiveCursor
    /// Whether the client can use the difference to a list that it alone has.
    let takesDifference: Bool

    /// The way to an answer.
    ///
    /// One statement for a list without hashes in its cursor, about the records since then. Throws `CancellationError`.
    func start(_ answer: LiveAnswer) async throws -> Start {
        let (known, current, query) = (cursor.changes, answer.cursor, answer.query)
        guard cursor.request == query.hash, known.system == current.system, known.database == current.database else {
            return Start(snapshot: answer.snapshot, cause: .everything(.foreignCursor))
        }
        guard let list = cursor.list else {
            let gap = try await gap(known, of: query)
            return Start(snapshot: answer.snapshot, cause: gap.map { .everything($0) } ?? .unchanged)
        }
        let start = self.start(answer.snapshot, isSorted: query.isSorted, from: list)
        if start.cause == .change, !takesDifference {
            return Start(snapshot: answer.snapshot, cause: .everything(.overflow))
        }
        return start
    }

    /// The difference to a list of which the hashes are known.
    private func start(_ snapshot: LiveSnapshot, isSorted: Bool, from list: LiveListHashes) -> Start {
        func hashes(of snapshot: LiveSnapshot) -> [LiveListHashes.Row] {
            snapshot.rows.map { LiveListHashes.row($0, in: snapshot, seed: list.seed) }
        }
        var (snapshot, rows) = (snapshot, hashes(of: snapshot))
        if !isSorted {
            let places = Dictionary(
                list.rows.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { first, _ in first })
            let found = Dictionary(
                zip(snapshot.rows, rows).map { ($0.key, places[$1.key]) }, uniquingKeysWith: { first, _ in first })
            snapshot = snapshot.ordered { found[$0] ?? nil }
            rows = hashes(of: snapshot)
        }
        let difference = LiveDifference(from: list.rows.map(\.key), to: rows.map(\.key)) {
            list.rows[$0].content == rows[$1].content
        }
        return Start(
            snapshot: snapshot, difference: difference, cause: difference.isEmpty ? .unchanged : .change)
    }

    /// Why the list may have changed since a place in the stream of changes; nil if it has not.
    private func gap(_ known: ChangeCursor, of query: LiveQuery) async throws -> Tracking.Gap? {
        let reading: ChangeReading
        do {
            reading = try await query.core.database.reading(since: known, limit: Self.maximumRecords)
        } catch let error as CancellationError {
            throw error
        } catch is UnknownTables {
            return .schemaChanged
        } catch {
            // The list itself was read; that it has not changed cannot be known.
            return .unrecorded
        }
        if let refusal = reading.refusal { return refusal }
        guard reading.isLast else { return .overflow }
        let tenant = TenantNames(query.core.settings, in: query.core.database)
        let concerning = reading.batch.named(for: tenant).changes.filter {
            query.isConcerned(by: $0, changing: $1.columns)
        }
        return concerning.isEmpty ? nil : concerning.values.compactMap(\.gap).first ?? .overflow
    }
}

extension Database {
    /// The changes since a client's cursor, up to a snapshot that is later than this call; read once for all tasks that ask for the
    /// same.
    ///
    /// One at a time, so that the clients that come back after a deploy do not take the pool's connections.
    fileprivate func reading(since cursor: ChangeCursor, limit: Int) async throws -> ChangeReading {
        let (reader, client) = (changeReader, client)
        let shared = live.readings.withLock { $0.first(or: SharedAnswers<ChangeCursor, ChangeReading>()) }
        return try await shared.answer(to: cursor, isFinal: { _ in false }) {
            try await live.readingGate.withLock {
                try Task.checkCancellation()
                // Detached: the caller may be in a transaction.
                return try await Task.detached {
                    try await client.withTransaction(
                        isolation: .repeatableRead, readOnly: true, retry: .attempts(3)
                    ) { _ in
                        try await reader.read(from: cursor, limit: limit)
                    }
                }.value
            }
        }
    }
}
