import KindredPostgres
import KindredTesting
import Synchronization
import Testing

@Suite(.database("CREATE TABLE note (id bigint PRIMARY KEY)")) struct ResolveCommitTests {
    /// The two messages of a transaction's end that a proxy has seen; they may come in either order.
    private final class Passed: Sendable {
        let isAnswered = Atomic(false)
        let isCommitSent = Atomic(false)
    }

    /// Runs a transaction over a proxy that does something to its COMMIT; returns the error's transaction.
    private func transactionThatIsCut(_ rule: @escaping FaultProxy.Rule) async throws -> PostgresTransactionID? {
        let proxy = try FaultProxy()
        defer { proxy.stop() }
        var configuration = proxy.configuration
        configuration.pool.maximumConnections = 1
        let client = try await PostgresClient.connect(configuration)
        proxy.set(rule)
        let error = await expectPostgresError(.commitUnknown) {
            try await client.withTransaction(tracksCommit: true) { _ in
                _ = try await client.query("INSERT INTO note VALUES (1)")
            }
        }
        await client.close(timeout: .zero)
        return error?.transactionID
    }

    @Test("T1: a commit whose answer was lost is found to be committed") func lostAnswer() async throws {
        let id = try await transactionThatIsCut { direction, bytes in
            guard direction == .toClient, let tag = position(of: "COMMIT", in: bytes) else { return .forward }
            return .cutAfter(tag - 5)
        }
        try await withClient { client in
            let fate = try await client.resolveCommit(try #require(id), timeout: .seconds(120))
            #expect(fate == .committed)
            let count = try await client.query("SELECT count(*) FROM note")
            #expect(try count[0][0] == 1)
        }
    }

    @Test("T2: a commit that was lost itself is found to be rolled back") func lostRequest() async throws {
        let passed = Passed()
        let id = try await transactionThatIsCut { direction, bytes in
            // The question for the number goes through, its answer too, and COMMIT, once the client has sent it, does not.
            switch direction {
            case .toServer:
                guard let commit = position(of: "COMMIT", in: bytes) else { return .forward }
                passed.isCommitSent.store(true, ordering: .relaxed)
                return passed.isAnswered.load(ordering: .relaxed) ? .cutAfter(commit) : .stallAfter(commit)
            case .toClient:
                guard contains(bytes, "0000") else { return .forward }
                passed.isAnswered.store(true, ordering: .relaxed)
                return passed.isCommitSent.load(ordering: .relaxed) ? .cutAfter(bytes.count) : .forward
            }
        }
        try await withClient { client in
            let fate = try await client.resolveCommit(try #require(id), timeout: .seconds(120))
            #expect(fate == .rolledBack)
            let count = try await client.query("SELECT count(*) FROM note")
            #expect(try count[0][0] == 0)
        }
    }

    /// The work of a transaction before its COMMIT.
    enum Work: String, CaseIterable {
        case insert, readThenInsert, savepoint, childTasks, afterFailedSavepoint, batch

        func run(_ client: PostgresClient) async throws {
            switch self {
            case .insert: try await client.query("INSERT INTO note VALUES (1)")
            case .readThenInsert:
                try await client.query("SET LOCAL lock_timeout = '1min'")
                try await client.query("LOCK TABLE note IN SHARE ROW EXCLUSIVE MODE")
                try await client.query("SELECT count(*) FROM note")
                try await client.query("INSERT INTO note VALUES (1)")
            case .savepoint:
                try await client.withTransaction { _ in _ = try await client.query("INSERT INTO note VALUES (1)") }
            case .childTasks:
                async let first = client.query("INSERT INTO note VALUES (1)")
                async let second = client.query("INSERT INTO note VALUES (2)")
                _ = try await (first, second)
            case .afterFailedSavepoint:
                _ = try? await client.withTransaction { _ in _ = try await client.query("SELECT 1 / 0") }
                try await client.query("INSERT INTO note VALUES (1)")
            case .batch:
                try await client.query("WITH one AS (INSERT INTO note VALUES (1) RETURNING id) SELECT id FROM one")
            }
        }
    }

    @Test("T1: a line that breaks as soon as COMMIT is sent does not lose the number", arguments: Work.allCases)
    func breakWithCommit(work: Work) async throws {
        let proxy = try FaultProxy()
        defer { proxy.stop() }
        var configuration = proxy.configuration
        configuration.pool.maximumConnections = 1
        let client = try await PostgresClient.connect(configuration)
        let isCommitSent = Atomic(false)
        proxy.set { direction, bytes in
            if direction == .toServer, contains(bytes, "COMMIT\0") { isCommitSent.store(true, ordering: .relaxed) }
            // No answer comes from here on, whichever of them it is.
            return direction == .toClient && isCommitSent.load(ordering: .relaxed) ? .cut : .forward
        }
        let error = await expectPostgresError(.commitUnknown) {
            try await client.withTransaction(tracksCommit: true) { _ in try await work.run(client) }
        }
        await client.close(timeout: .zero)
        #expect(error?.mayHaveTakenEffect == true)
        let id = try #require(error?.transactionID)
        try await withClient { client in
            let fate = try await client.resolveCommit(id, timeout: .seconds(120))
            let count = try await client.query("SELECT count(*) FROM note")
            #expect(try fate == .committed && count[0][0] != 0)
        }
    }

    @Test func theNumberIsAskedForOnceAndNotBeforeTheFirstSnapshot() async throws {
        try await withClient { client in
            let (_, recorder) = try await recordingStatements {
                try await client.withTransaction(isolation: .repeatableRead, tracksCommit: true) { _ in
                    try await client.query("SET LOCAL lock_timeout = '1min'")
                    try await client.query("LOCK TABLE note IN SHARE ROW EXCLUSIVE MODE")
                    try await client.query("INSERT INTO note VALUES (1)")
                    try await client.query("INSERT INTO note VALUES (2)")
                }
            }
            let questions = recorder.all.indices.filter {
                recorder.all[$0].sql.contains("pg_current_xact_id_if_assigned")
            }
            let lock = try #require(recorder.all.firstIndex { $0.sql.hasPrefix("LOCK") })
            #expect(questions.count == 1 && questions.allSatisfy { $0 > lock })
            #expect(recorder.all.count == 7 && recorder.statements.count == 4)
        }
    }

    @Test func trackingCostsOneStatementAndNothingWithoutAWrite() async throws {
        try await withClient { client in
            let (_, recorder) = try await recordingStatements {
                try await client.withTransaction(tracksCommit: true) {
                    try await $0.query("INSERT INTO note VALUES (1)")
                }
                try await client.withTransaction { try await $0.query("INSERT INTO note VALUES (2)") }
            }
            let statements = recorder.all.map(\.sql)
            #expect(statements.count == 7)
            #expect(statements[1...2].contains { $0.contains("pg_current_xact_id_if_assigned") })
            #expect(statements[3] == "COMMIT" && statements[6] == "COMMIT")
        }
    }

    @Test func theNumberAndItsTimelineCanBeLogged() async throws {
        let id = try await transactionThatIsCut { direction, bytes in
            guard direction == .toClient, let tag = position(of: "COMMIT", in: bytes) else { return .forward }
            return .cutAfter(tag - 5)
        }
        let known = try #require(id)
        #expect("\(known)" == "\(known.number) on \(known.timeline)")
        #expect(known.timeline.count == 8 && known.number > 0)
    }
}
