import Kindred
import KindredTesting
import Synchronization
import TestSupport
import Testing

/// A write that was cancelled does not land later: once its call has returned, the next acknowledged write stands.
@Suite(.database(.sql(CancelledWriteLoad.schema), timeLimit: .seconds(900))) struct CancelledWriteTests {
    /// 100,000 rows in a long run.
    private static let rounds = TestAmount.of(14, full: 70, long: 3_340)

    private func expectLastValueStands(
        _ configuration: PostgresConfiguration, rounds: Int = rounds
    ) async throws -> [CancelledWriteLoad.Round] {
        let database = try await Database.connect(configuration)
        let found = try await CancelledWriteLoad(database: database, rounds: rounds).run()
        // The last call may have returned before its connection was given back.
        try await eventually("all connections are given back") { database.client.metrics.inUse == 0 }
        await database.close()
        try await withClient { try await CancelledWriteLoad.judge(found, $0) }
        return found
    }

    private func configuration(grace: Duration) throws -> PostgresConfiguration {
        var configuration = try PostgresConfiguration(uri: TestDatabase.current.uri)
        configuration.pool.maximumConnections = 4
        configuration.pool.acquireTimeout = .seconds(60)
        configuration.statementTimeout = .seconds(120)
        configuration.cancellationGrace = grace
        return configuration
    }

    @Test func theValueThatWasAcknowledgedLastStands() async throws {
        let found = try await expectLastValueStands(try configuration(grace: .seconds(60)))
        #expect(found.allSatisfy { $0.fate != .unknown })
        #expect(found.contains { $0.fate == .done })
    }

    /// Callers that wait for the server hardly at all: unknown outcomes are left out, and all others are certain.
    @Test func whatIsNotToldUnknownIsCertain() async throws {
        _ = try await expectLastValueStands(try configuration(grace: .milliseconds(20)), rounds: Self.rounds / 2)
    }

    @Test(.enabled(if: TestPooler.isInstalled, "PgBouncer is not installed"))
    func theValueThatWasAcknowledgedLastStandsBehindAPooler() async throws {
        let pooler = try await TestPooler(sessions: 4, "pooler=transaction&statementCacheCapacity=0")
        try await pooler.connect().close()
        var configuration = pooler.configuration
        configuration.pool.maximumConnections = 6
        configuration.statementTimeout = .seconds(120)
        configuration.cancellationGrace = .seconds(60)
        let found = try await expectLastValueStands(configuration, rounds: Self.rounds / 2)
        #expect(found.contains { $0.fate == .done })
        withExtendedLifetime(pooler) {}
    }

    /// The statement reaches the server, and nothing else comes through any more.
    @Test func aWriteInTheDarkIsUnknownAndItsObjectIsReadAgain() async throws {
        let proxy = try FaultProxy()
        defer { proxy.stop() }
        var configuration = proxy.configuration
        configuration.pool.maximumConnections = 1
        configuration.statementTimeout = .seconds(120)
        configuration.cancellationGrace = .milliseconds(200)
        let database = try await Database.connect(configuration)
        let note = try await database.makeContext().create("note", ["round": -1])
        // Prepares the statement, so that it is one message.
        try await note.setValue(5, forKey: "value")
        let isSent = Atomic(false)
        proxy.set { direction, _ in
            guard isSent.load(ordering: .relaxed) else {
                if direction == .toServer { isSent.store(true, ordering: .relaxed) }
                return .forward
            }
            return .drop
        }
        let write = Task { try await note.setValue(7, forKey: "value") }
        try await withClient { other in
            try await eventually("it is stored") {
                try await other.query("SELECT value FROM note WHERE round = -1").first?[0] == 7
            }
        }
        write.cancel()
        let error = await expectPostgresError(.outcomeUnknown) { try await write.value }
        #expect(error?.mayHaveTakenEffect == true && error?.category == .unavailable)
        #expect(note["value"] == 5)
        proxy.set { _, _ in .forward }
        #expect(try await note.object(forKey: "tag") == nil)
        #expect(note["value"] == 7)
        #expect(database.client.metrics.lost == 1)
        await database.close(timeout: .zero)
    }
}
