import Kindred
import Synchronization
import Testing

/// Transfers between accounts by several tasks, and the answers that they got.
final class TransferLoad: Sendable {
    /// The answer to the caller of a transfer.
    enum Outcome {
        case committed, failed, unknown
    }

    private struct State {
        var outcomes: [Int: Outcome] = [:]
        var unknown: [PostgresTransactionID] = []
        var lastCommit: ContinuousClock.Instant?
        var longestFailure = Duration.zero
        var last = 0
        var isOver = false
    }

    static let accounts = 10
    /// No constraint keeps a transfer from being done twice.
    static let tables = """
        CREATE TABLE account (id integer PRIMARY KEY, balance bigint NOT NULL);
        INSERT INTO account SELECT i, 1000 FROM generate_series(1, \(accounts)) AS i;
        CREATE TABLE transfer (id bigint NOT NULL, source integer NOT NULL, target integer NOT NULL, amount bigint NOT NULL);
        """

    private let client: PostgresClient
    private let state = Mutex(State())

    init(_ client: PostgresClient) { self.client = client }

    func count(_ outcome: Outcome) -> Int { state.withLock { $0.outcomes.values.count { $0 == outcome } } }

    func ids(_ outcome: Outcome) -> Set<Int> {
        state.withLock { Set($0.outcomes.filter { $0.value == outcome }.keys) }
    }

    /// The transactions whose outcome is unknown.
    var unknown: [PostgresTransactionID] { state.withLock { $0.unknown } }
    var lastCommit: ContinuousClock.Instant? { state.withLock { $0.lastCommit } }
    /// The time of the failed call that took the longest.
    var longestFailure: Duration { state.withLock { $0.longestFailure } }

    /// Transfers by several tasks, until `body` has returned.
    func run(tasks: Int, while body: () async throws -> Void) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            for _ in 0..<tasks {
                group.addTask { while let id = self.next() { await self.transfer(id) } }
            }
            defer { state.withLock { $0.isOver = true } }
            try await body()
        }
    }

    private func next() -> Int? {
        state.withLock { state in
            state.last += 1
            return state.isOver ? nil : state.last
        }
    }

    private func transfer(_ id: Int) async {
        let source = Int.random(in: 1...Self.accounts)
        let target = source % Self.accounts + 1
        let amount = Int.random(in: 1...10)
        // In one order, so that transfers do not wait for each other in a circle.
        let steps = [(source, -amount), (target, amount)].sorted { $0.0 < $1.0 }
        let start = ContinuousClock.now
        do {
            // A transfer that is run again is done once, like the others.
            let retry = RetryPolicy.attempts(id.isMultiple(of: 2) ? 5 : 1)
            try await client.withTransaction(tracksCommit: true, retry: retry) { _ in
                for (account, change) in steps {
                    try await client.query("UPDATE account SET balance = balance + \(change) WHERE id = \(account)")
                }
                try await client.query("INSERT INTO transfer VALUES (\(id), \(source), \(target), \(amount))")
            }
            state.withLock { state in
                state.outcomes[id] = .committed
                state.lastCommit = .now
            }
        } catch {
            let error = error as? PostgresError
            state.withLock { state in
                state.longestFailure = max(state.longestFailure, .now - start)
                state.outcomes[id] = error?.mayHaveTakenEffect == false ? .failed : .unknown
                if let id = error?.transactionID { state.unknown.append(id) }
            }
        }
    }

    /// Compares the answers with the rows of a server.
    func check(_ server: PostgresClient) async throws {
        let found = try await server.values("SELECT id FROM transfer").compactMap { value -> Int? in
            if case .integer(let id)? = value { Int(id) } else { nil }
        }
        let rows = Set(found)
        #expect(rows.count == found.count, "done twice")
        #expect(ids(.committed).isSubset(of: rows), "lost")
        #expect(ids(.failed).isDisjoint(with: rows), "failed, and done")
        #expect(rows.subtracting(ids(.committed)).isSubset(of: ids(.unknown)))
        #expect(
            try await server.value("SELECT sum(balance)::bigint FROM account") == .integer(Int64(Self.accounts) * 1000))
        let wrong = try await server.values(
            """
            SELECT id FROM account AS a WHERE balance <> 1000 + (
                SELECT coalesce(sum(CASE a.id WHEN target THEN amount ELSE -amount END), 0) FROM transfer
                WHERE a.id IN (source, target))
            """)
        #expect(wrong == [])
    }
}
