import Foundation
import KindredPostgres
import KindredTesting
import Synchronization
import Testing

@Suite(.database("CREATE TABLE note (id bigint PRIMARY KEY, text text NOT NULL DEFAULT '')"))
struct ClientTransactionTests {
    struct Unwanted: Error, Equatable {}

    private func ids(_ client: PostgresClient) async throws -> String {
        let rows = try await client.query("SELECT coalesce(array_agg(id ORDER BY id), '{}')::text FROM note")
        return try rows[0].decode(0, as: String.self) ?? ""
    }

    private func expectIDs(
        _ client: PostgresClient, _ expected: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let found = try await ids(client)
        #expect(found == expected, sourceLocation: sourceLocation)
    }

    private func insert(_ id: Int, _ client: PostgresClient) async throws {
        try await client.query("INSERT INTO note (id) VALUES (\(id))")
    }

    @Test func theClosuresErrorComesOutUnchangedAndNothingIsLeft() async throws {
        try await withClient { client in
            await #expect(throws: Unwanted()) {
                try await client.withTransaction { _ in
                    try await insert(1, client)
                    throw Unwanted()
                }
            }
            try await expectIDs(client, "{}")
            try await client.withTransaction { _ in try await insert(2, client) }
            try await expectIDs(client, "{2}")
        }
    }

    @Test func aTransactionWithoutStatementsSendsNothingAndOthersBeginWithTheFirst() async throws {
        try await withClient { client in
            let (_, empty) = try await recordingStatements { try await client.withTransaction { _ in } }
            #expect(empty.all.isEmpty)
            let (_, recorder) = try await recordingStatements {
                try await client.withTransaction(isolation: .serializable, readOnly: true, deferrable: true) { _ in
                    try await client.query("SELECT 1")
                }
            }
            #expect(
                recorder.all.map(\.sql) == [
                    "BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE", "SELECT 1", "COMMIT",
                ])
            #expect(recorder.statements == ["SELECT 1"])
        }
    }

    @Test func isolationAndReadOnlyAreTheServers() async throws {
        try await withClient { client in
            try await client.withTransaction(isolation: .repeatableRead, readOnly: true) { transaction in
                let rows = try await transaction.query(
                    "SELECT current_setting('transaction_isolation'), current_setting('transaction_read_only')")
                #expect(try rows[0][0] == "repeatable read")
                #expect(try rows[0][1] == "on")
            }
            let error = await expectPostgresError(.server) {
                try await client.withTransaction(readOnly: true) { _ in try await insert(1, client) }
            }
            #expect(error?.sqlState == .readOnlyTransaction)
        }
    }

    @Test("T4, T10: a swallowed error aborts and is the cause") func aSwallowedErrorAbortsAndIsTheCause() async throws {
        try await withClient { client in
            let error = await expectPostgresError(.transactionAborted) {
                try await client.withTransaction { _ in
                    try await insert(1, client)
                    _ = try? await client.query("SELECT 1 / 0")
                    let later = await expectPostgresError(.transactionAborted) { try await insert(2, client) }
                    #expect(later?.sqlState == .inFailedTransaction)
                }
            }
            #expect(error?.sqlState == .divisionByZero)
            try await expectIDs(client, "{}")
        }
    }

    @Test("T10: a transaction that a timeout aborted names it, and the statement")
    func anAbortedTransactionNamesItsCause() async throws {
        try await withClient { client in
            for isLibrarys in [true, false] {
                let error = await expectPostgresError(.transactionAborted) {
                    try await client.withTransaction { _ in
                        if !isLibrarys { try await client.query("SET LOCAL statement_timeout = 50") }
                        if isLibrarys {
                            await expectTimeoutOfRunningStatement { timeout in
                                try await client.query("SELECT pg_sleep(600)", timeout: timeout)
                            }
                        } else {
                            _ = try? await client.query("SELECT pg_sleep(600)")
                        }
                        let later = await expectPostgresError(.transactionAborted) { try await insert(2, client) }
                        #expect(
                            later?.message.contains(isLibrarys ? "timed out" : "statement timeout") == true)
                        #expect(later?.debugDescription.contains("SELECT pg_sleep(600)") == true)
                    }
                }
                #expect(error?.message.contains(isLibrarys ? "timed out" : "statement timeout") == true)
                #expect(error?.statement == "SELECT pg_sleep(600)" && error?.sqlState == .queryCanceled)
            }
            try await expectIDs(client, "{}")
        }
    }

    @Test("T5: a failure at commit is the servers error") func aFailureAtCommitIsTheServersError() async throws {
        try await withClient { client in
            try await client.query(
                "CREATE TABLE reply (note bigint REFERENCES note DEFERRABLE INITIALLY DEFERRED)")
            let error = await expectPostgresError(.server) {
                try await client.withTransaction { _ in
                    _ = try await client.query("INSERT INTO reply VALUES (99)")
                }
            }
            #expect(error?.sqlState == .foreignKeyViolation)
            #expect(try await client.query("SELECT count(*) FROM reply")[0][0] == 0)
        }
    }

    @Test("T8: an inner transaction is a savepoint") func anInnerTransactionIsASavepoint() async throws {
        try await withClient { client in
            try await client.withTransaction { _ in
                try await insert(1, client)
                await #expect(throws: Unwanted()) {
                    try await client.withTransaction { _ in
                        try await insert(2, client)
                        try await client.withTransaction { _ in try await insert(3, client) }
                        throw Unwanted()
                    }
                }
                // The server's error inside costs the inner one only.
                let error = await expectPostgresError(.server) {
                    try await client.withTransaction { _ in try await insert(1, client) }
                }
                #expect(error?.sqlState == .uniqueViolation)
                await expectPostgresError(.transactionAborted) {
                    try await client.withTransaction { _ in _ = try? await insert(1, client) }
                }
                try await client.withTransaction { _ in try await insert(4, client) }
                try await insert(5, client)
            }
            try await expectIDs(client, "{1,4,5}")
        }
    }

    @Test func childTasksBelongToTheTransaction() async throws {
        try await withClient(maximumConnections: 1) { client in
            await #expect(throws: Unwanted()) {
                try await client.withTransaction { _ in
                    try await withThrowingTaskGroup { group in
                        for id in 1...20 { group.addTask { try await insert(id, client) } }
                        try await group.waitForAll()
                    }
                    #expect(try await ids(client).count > 20)
                    throw Unwanted()
                }
            }
            try await expectIDs(client, "{}")
        }
    }

    @Test func statementsStayOutOfASiblingsSavepoint() async throws {
        try await withClient(maximumConnections: 1) { client in
            try await client.withTransaction { _ in
                try await withThrowingTaskGroup { group in
                    for task in 0..<8 {
                        group.addTask {
                            for number in 0..<10 {
                                let id = task * 100 + number
                                if task % 2 == 0 {
                                    try await insert(id, client)
                                } else {
                                    // Whatever of a sibling got in here would be lost.
                                    _ = try? await client.withTransaction { _ in
                                        try await insert(id, client)
                                        await Task.yield()
                                        throw Unwanted()
                                    }
                                }
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
            #expect(
                try await client.query("SELECT count(*), count(*) FILTER (WHERE id / 100 % 2 = 0) FROM note")[0][0]
                    == 40)
        }
    }

    @Test func theOuterTransactionCanBeUsedFromInside() async throws {
        try await withClient(maximumConnections: 1) { client in
            try await client.withTransaction { outer in
                _ = try? await client.withTransaction { _ in
                    try await outer.query("INSERT INTO note (id) VALUES (1)")
                    throw Unwanted()
                }
                try await outer.query("INSERT INTO note (id) VALUES (2)")
            }
            try await expectIDs(client, "{2}")
        }
    }

    @Test("T12: a task that outlives the transaction is refused") func aTaskThatOutlivesTheTransactionIsRefused()
        async throws
    {
        try await withClient { client in
            let gate = AsyncStream.makeStream(of: Void.self)
            var straggler: Task<Void, Never>?
            try await client.withTransaction { transaction in
                try await insert(1, client)
                straggler = Task {
                    for await _ in gate.stream {}
                    await expectPostgresError(.transactionEnded) { try await insert(2, client) }
                    await expectPostgresError(.transactionEnded) { try await transaction.query("SELECT 1") }
                    await expectPostgresError(.transactionEnded) {
                        try await client.withTransaction { _ in try await insert(3, client) }
                    }
                }
            }
            gate.continuation.finish()
            await straggler?.value
            try await expectIDs(client, "{1}")
        }
    }

    @Test func aTaskThatOutlivesALeaseIsRefused() async throws {
        try await withClient { client in
            let gate = AsyncStream.makeStream(of: Void.self)
            var straggler: Task<Void, Never>?
            try await client.withConnection { connection in
                straggler = Task {
                    for await _ in gate.stream {}
                    await expectPostgresError(.transactionEnded) { try await client.query("SELECT 1") }
                    await expectPostgresError(.transactionEnded) { try await connection.query("SELECT 1") }
                }
            }
            gate.continuation.finish()
            await straggler?.value
        }
    }

    @Test func nothingElseUsesAConnectionThatWasGivenBack() async throws {
        try await withClient(maximumConnections: 1) { client in
            let (open, closed) = (AsyncStream.makeStream(of: Void.self), AsyncStream.makeStream(of: Void.self))
            let (begun, straggler) = try await client.withConnection { _ in
                let begun = Task {
                    _ = await expectPostgresError(.transactionEnded) {
                        try await client.withTransaction { _ in
                            try await insert(1, client)
                            open.continuation.finish()
                            for await _ in closed.stream {}
                            await expectPostgresError(.transactionEnded) { try await insert(2, client) }
                        }
                    }
                }
                let straggler = Task {
                    await begun.value
                    await expectPostgresError(.transactionEnded) { try await client.withTransaction { _ in } }
                    await expectPostgresError(.transactionEnded) {
                        for try await _ in try client.copyOut("COPY note TO STDOUT") {}
                    }
                    await expectPostgresError(.transactionEnded) {
                        for try await _ in try client.stream("SELECT 1") {}
                    }
                }
                for await _ in open.stream {}
                return (begun, straggler)
            }
            // The connection belongs to another task now.
            try await Task.detached {
                try await client.withTransaction { _ in
                    try await insert(3, client)
                    closed.continuation.finish()
                    await begun.value
                    await straggler.value
                    try await insert(4, client)
                }
            }.value
            try await expectIDs(client, "{3,4}")
        }
    }

    @Test func whatWasLetInAtTheLastMomentDoesNotGetIntoSomebodyElsesTransaction() async throws {
        struct Undone: Error {}
        try await withClient(maximumConnections: 1) { client in
            var kept: [Int] = []
            for number in 0..<300 {
                let begun = AsyncStream.makeStream(of: Void.self)
                let straggler = try await client.withConnection { _ in
                    let straggler = Task {
                        for await _ in begun.stream {}
                        // Waits for the transaction's end, which is the connection's return.
                        try await insert(number, client)
                    }
                    try await client.withTransaction { transaction in
                        begun.continuation.finish()
                        try await transaction.query("SELECT 1")
                    }
                    return straggler
                }
                await #expect(throws: Undone.self) {
                    try await client.withTransaction { transaction in
                        try await transaction.query("SELECT 1")
                        _ = await straggler.result
                        throw Undone()
                    }
                }
                if case .success = await straggler.result { kept.append(number) }
            }
            try await expectIDs(client, "{\(kept.map(String.init).joined(separator: ","))}")
        }
    }

    @Test func transactionsOnOneLentConnectionComeOneAfterAnother() async throws {
        struct Undone: Error {}
        try await withClient(maximumConnections: 1) { client in
            try await client.withConnection { connection in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<30 {
                        group.addTask {
                            switch number % 3 {
                            case 0: try await connection.query("INSERT INTO note (id) VALUES (\(number))")
                            case 1:
                                try await client.withTransaction { _ in
                                    try await insert(number, client)
                                    await Task.yield()
                                    try await insert(100 + number, client)
                                }
                            default:
                                await #expect(throws: Undone.self) {
                                    try await client.withTransaction { _ in
                                        try await insert(number, client)
                                        await Task.yield()
                                        throw Undone()
                                    }
                                }
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
            let kept = (0..<30).filter { $0 % 3 != 2 } + (0..<30).filter { $0 % 3 == 1 }.map { $0 + 100 }
            try await expectIDs(client, "{\(kept.map(String.init).joined(separator: ","))}")
        }
    }

    @Test func whoWaitsForALentConnectionCanBeCancelled() async throws {
        try await withClient(maximumConnections: 1) { client in
            try await client.withConnection { connection in
                try await client.withTransaction { _ in
                    try await insert(1, client)
                    let waiting = Task.detached { try await connection.query("SELECT 1") }
                    waiting.cancel()
                    await #expect(throws: CancellationError.self) { try await waiting.value }
                }
            }
            try await expectIDs(client, "{1}")
        }
    }

    @Test func aDetachedTaskIsNotInTheTransaction() async throws {
        try await withClient { client in
            try await client.withTransaction { transaction in
                try await insert(1, client)
                try await Task.detached {
                    try await expectIDs(client, "{}")
                    // The transaction itself can be used wherever it is known.
                    let count = try await transaction.query("SELECT count(*) FROM note")
                    #expect(try count[0][0] == 1)
                }.value
            }
        }
    }

    @Test("T6: serialization failures are run again") func serializationFailuresAreRunAgain() async throws {
        try await withClient { client in
            try await client.query("INSERT INTO note VALUES (1, '0')")
            try await withThrowingTaskGroup { group in
                for _ in 0..<4 {
                    group.addTask {
                        for _ in 0..<5 {
                            try await client.withTransaction(isolation: .serializable, retry: .attempts(100)) { _ in
                                let count = try await client.query("SELECT text::int FROM note")[0].decode(
                                    0, as: Int.self)
                                try await client.query("UPDATE note SET text = \(String((count ?? 0) + 1))")
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await client.query("SELECT text FROM note")[0][0] == "20")
            let error = await expectPostgresError(.server) {
                try await client.withTransaction(isolation: .repeatableRead) { _ in
                    try await client.query("SELECT * FROM note")
                    _ = try await Task.detached { try await client.query("UPDATE note SET text = 'x'") }.value
                    try await client.query("UPDATE note SET text = 'y'")
                }
            }
            #expect(error?.sqlState == .serializationFailure)
        }
    }

    @Test func whatFailsInASavepointRunsTheWholeTransactionAgain() async throws {
        try await withClient { client in
            for code in ["40001", "40P01", "55P03", "57014", "23505"] {
                let runs = Atomic(0)
                do {
                    try await client.withTransaction(retry: .attempts(3)) { _ in
                        let run = runs.add(1, ordering: .relaxed).newValue
                        try await client.query("INSERT INTO note (id) VALUES (\(run)) ON CONFLICT DO NOTHING")
                        try await client.withTransaction { _ in
                            guard run < 3 else { return }
                            try await client.query(SQL(unsafeRaw: "DO $$ BEGIN RAISE SQLSTATE '\(code)'; END $$"))
                        }
                    }
                } catch let error as PostgresError {
                    #expect(error.sqlState?.rawValue == code)
                }
                // Only what conflicts with others is worth another attempt.
                #expect(runs.load(ordering: .relaxed) == (code.hasPrefix("40") ? 3 : 1), "\(code)")
                try await expectIDs(client, "{3}")
            }
            let runs = Atomic(0)
            let error = await expectPostgresError(.server) {
                try await client.withTransaction(retry: .attempts(2)) { _ in
                    runs.add(1, ordering: .relaxed)
                    try await client.query("DO $$ BEGIN RAISE SQLSTATE '40001' USING HINT = 'last'; END $$")
                }
            }
            #expect(runs.load(ordering: .relaxed) == 2 && error?.server?.hint == "last")
        }
    }

    @Test func transactionsAreNestedSoDeepAndNoDeeper() async throws {
        try await withClient { client in
            func nest(_ depth: Int) async throws {
                try await client.withTransaction { _ in
                    try await insert(depth, client)
                    try await nest(depth + 1)
                }
            }
            await expectPostgresError(.invalidParameter) { try await nest(0) }
            try await expectIDs(client, "{}")
        }
    }

    @Test func aTaskThatIsCancelledDuringCommitLearnsThatItIsCommitted() async throws {
        try await withClient { client in
            try await client.runScript(
                """
                CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS
                    $$ BEGIN PERFORM pg_advisory_xact_lock(7); RETURN NULL; END $$;
                CREATE CONSTRAINT TRIGGER hold AFTER INSERT ON note DEFERRABLE INITIALLY DEFERRED
                    FOR EACH ROW EXECUTE FUNCTION hold();
                """)
            let task = try await client.withConnection { connection in
                try await connection.query("SELECT pg_advisory_lock(7)")
                let task = Task.detached {
                    try await client.withTransaction { _ in
                        try await client.query("INSERT INTO note (id) VALUES (1)")
                        return "done"
                    }
                }
                try await eventually("COMMIT waits") {
                    let waiting = try await connection.query(
                        "SELECT FROM pg_stat_activity WHERE query = 'COMMIT' AND wait_event = 'advisory'")
                    return waiting.count == 1
                }
                task.cancel()
                return task
            }
            let result = try await task.value
            #expect(result == "done")
            try await expectIDs(client, "{1}")
        }
    }

    @Test("T16: a connection comes back as it was") func aConnectionComesBackAsItWas() async throws {
        try await withClient(maximumConnections: 1) { client in
            try await client.withConnection { connection in
                try await connection.query("SET search_path = nowhere")
                try await connection.query("CREATE TEMP TABLE secret AS SELECT 1 AS one")
                try await client.withTransaction { _ in try await client.query("INSERT INTO public.note VALUES (1)") }
                try await connection.query("BEGIN")
                try await connection.query("INSERT INTO public.note VALUES (2)")
            }
            try await expectIDs(client, "{1}")
            let error = await expectPostgresError(.server) { try await client.query("SELECT * FROM secret") }
            #expect(error?.sqlState == .undefinedTable)
            #expect(client.metrics.opened == 1)
        }
    }

    @Test func transactionControlOutsideOfALeaseIsRefusedAndUndone() async throws {
        try await withClient(maximumConnections: 1) { client in
            await expectPostgresError(.invalidParameter) { try await client.query("  /* now */ begin") }
            try await client.query("SET search_path = nowhere")
            try await expectIDs(client, "{}")
            #expect(client.metrics.opened == 1)
        }
    }

    @Test func aScriptEndsTheTransactionsThatItBegins() async throws {
        try await withClient(maximumConnections: 1) { client in
            await expectPostgresError(.invalidParameter) {
                try await client.runScript("BEGIN; INSERT INTO note (id) VALUES (1)")
            }
            try await expectIDs(client, "{}")
            try await client.runScript("BEGIN; INSERT INTO note (id) VALUES (2); COMMIT")
            try await expectIDs(client, "{2}")
            #expect(client.metrics.opened == 1)
        }
    }

    @Test func anotherLeaseInATransactionThatCouldNeverComeIsRefused() async throws {
        try await withClient(maximumConnections: 1) { client in
            await expectPostgresError(.nestedAcquire) {
                try await client.withTransaction { _ in
                    try await insert(1, client)
                    try await client.runScript("SELECT 1")
                }
            }
            try await expectIDs(client, "{}")
        }
    }

    @Test func transactionsOfTwoClientsDoNotMix() async throws {
        try await withClient { first in
            try await withClient { second in
                try await first.withTransaction { _ in
                    try await insert(1, first)
                    await #expect(throws: Unwanted()) {
                        try await second.withTransaction { _ in
                            try await insert(2, second)
                            try await insert(3, first)
                            throw Unwanted()
                        }
                    }
                    try await insert(4, first)
                }
                try await expectIDs(second, "{1,3,4}")
            }
        }
    }

    @Test func aStatementThatWasAdmittedGoesBeforeTheCommit() async throws {
        try await withClient(maximumConnections: 1) { client in
            // The observer of BEGIN keeps the statement behind it from being sent until the transaction ends.
            let isHeld = Atomic(false)
            let observation = client.addObserver { event in
                guard event.sql == "BEGIN", !isHeld.exchange(true, ordering: .relaxed) else { return }
                usleep(200_000)
            }
            var straggler: Task<Void, any Error>?
            try await client.withTransaction { _ in
                straggler = Task { try await insert(1, client) }
                while !isHeld.load(ordering: .relaxed) { try await Task.sleep(for: .milliseconds(1)) }
            }
            let isStored = (try? await straggler?.value) != nil
            try await insert(2, client)
            observation.cancel()
            let other = try await PostgresClient.connect(PostgresConfiguration(uri: TestDatabase.current.uri))
            try await expectIDs(other, isStored ? "{1,2}" : "{2}")
            await other.close()
        }
    }

    @Test func aConnectionThatEndsBeforeItsSavepointDoesIsNotTakenForOneThatWasNeverUsed() async throws {
        try await withClient(maximumConnections: 2) { client in
            var runs = 0
            await expectPostgresError(.connectionLost) {
                try await client.withTransaction { _ in
                    runs += 1
                    try await client.withTransaction { transaction in
                        try await transaction.query("SET LOCAL idle_in_transaction_session_timeout = '50ms'")
                        try await Task.sleep(for: .milliseconds(500))
                    }
                }
            }
            #expect(runs == 1)
        }
    }
}
