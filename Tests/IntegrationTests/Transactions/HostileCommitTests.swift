import KindredPostgres
import KindredTesting
import Synchronization
import TestSupport
import Testing

/// Rows H of the fault catalogue, at the end of a transaction: what a server says about it that no PostgreSQL says.
@Suite(.database("CREATE TABLE note (id bigint PRIMARY KEY)")) struct HostileCommitTests {
    /// Lends a client of a server whose answers to COMMIT, or to ROLLBACK, are changed.
    private func withForgedEnd(
        of tag: String, _ change: @escaping @Sendable (_ message: [UInt8], _ isTag: Bool) -> [UInt8],
        _ body: (PostgresClient) async throws -> Void
    ) async throws {
        let proxy = try FaultProxy()
        defer { proxy.stop() }
        let state = Mutex((wasTag: false, isOver: false))
        let forger = MessageForger(seed: 1) { message, _ in
            let isTag = message[0] == UInt8(ascii: "C") && contains(message, tag)
            return state.withLock { state in
                // The first only: sessions are put back in transactions of their own.
                guard !state.isOver else { return message }
                let isChanged = isTag || state.wasTag
                state = (isTag, state.wasTag)
                return isChanged ? change(message, isTag) : message
            }
        }
        proxy.set { direction, bytes in direction == .toClient ? .replace(forger.forge(bytes)) : .forward }
        var configuration = proxy.configuration
        configuration.pool.maximumConnections = 1
        try await lend(configuration) { client in
            try await body(client)
            #expect(forger.count == 1)
        }
    }

    private static func count() async throws -> PostgresValue? {
        var count: PostgresValue?
        try await withClient { count = try await $0.query("SELECT count(*) FROM note")[0][0] }
        return count
    }

    /// The confirmation of a Sync, from inside a transaction.
    private static let readyInside = MessageForger.message("Z", [UInt8(ascii: "T")])

    @Test("H9: a session that is in a transaction after COMMIT is not used again", arguments: [true, false])
    func sessionInATransactionAfterCommit(isStream: Bool) async throws {
        try await withForgedEnd(of: "COMMIT") {
            $1 ? $0 : Self.readyInside
        } _: { client in
            await expectPostgresError(.commitUnknown) {
                if isStream {
                    for try await _ in try client.stream("SELECT generate_series(1, 10)") {}
                } else {
                    try await client.withTransaction(retry: .attempts(3)) { _ in
                        try await client.query("INSERT INTO note VALUES (1)")
                    }
                }
            }
            try await expectUsable(client)
            #expect(client.metrics.opened == 2 && client.metrics.lost == 1)
        }
        #expect(try await Self.count() == (isStream ? 0 : 1))
    }

    @Test("H9: a session that is in a transaction after ROLLBACK is not used again") func sessionAfterRollback()
        async throws
    {
        struct Unwanted: Error {}
        try await withForgedEnd(of: "ROLLBACK") {
            $1 ? $0 : Self.readyInside
        } _: { client in
            await #expect(throws: Unwanted.self) {
                try await client.withTransaction { _ in
                    try await client.query("INSERT INTO note VALUES (1)")
                    throw Unwanted()
                }
            }
            try await expectUsable(client)
            #expect(client.metrics.opened == 2)
        }
    }

    @Test("H10: an error behind COMMITs confirmation leaves open what became of it", arguments: ["40001", "23505"])
    func errorBehindCommit(state: String) async throws {
        let error = MessageForger.message("E", Array("SERROR\0VERROR\0C\(state)\0Mno\0\0".utf8))
        try await withForgedEnd(of: "COMMIT") {
            $1 ? $0 + error : $0
        } _: { client in
            let attempts = Atomic(0)
            let error = await expectPostgresError(.commitUnknown) {
                try await client.withTransaction(retry: .attempts(3)) { _ in
                    attempts.add(1, ordering: .relaxed)
                    try await client.query("INSERT INTO note VALUES (1)")
                }
            }
            #expect(attempts.load(ordering: .relaxed) == 1)
            #expect(error?.underlying.first?.contains(state) == true)
        }
        #expect(try await Self.count() == 1)
    }

    @Test("H10: a connection that breaks the protocol at COMMIT leaves open what became of it") func brokenAnswer()
        async throws
    {
        let second = MessageForger.message("C", Array("COMMIT\0".utf8))
        try await withForgedEnd(of: "COMMIT") {
            $1 ? $0 + second : $0
        } _: { client in
            await expectPostgresError(.commitUnknown) {
                try await client.withTransaction { _ in _ = try await client.query("INSERT INTO note VALUES (1)") }
            }
        }
        #expect(try await Self.count() == 1)
    }
}
