import KindredPostgres
import KindredTesting
import Synchronization
import Testing

/// Statements that end a transaction behind the back of the scope that runs it.
@Suite(.database("CREATE TABLE note (id bigint PRIMARY KEY, text text)")) struct TransactionControlTests {
    struct Unwanted: Error {}

    private func expectIDs(
        _ client: PostgresClient, _ expected: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let rows = try await client.query("SELECT coalesce(array_agg(id ORDER BY id), '{}')::text FROM note")
        #expect(try rows[0].decode(0, as: String.self) == expected, sourceLocation: sourceLocation)
    }

    @Test(
        "Raw transaction control is refused inside before it is sent, whatever stands before it",
        arguments: [
            "COMMIT", "commit;", "END", "ROLLBACK", "ABORT WORK", "BEGIN", "START TRANSACTION", "SAVEPOINT a",
            "RELEASE SAVEPOINT a", "ROLLBACK TO a", "COMMIT AND CHAIN", "PREPARE TRANSACTION 'a'",
            "COMMIT PREPARED 'a'",
            "ROLLBACK PREPARED 'a'", " \t\r\n\u{C}COMMIT", ";;COMMIT", "/* a /* b */ c */ COMMIT", "-- a\nCOMMIT",
            "-- a\rCOMMIT", "--\r--\n/**/ROLLBACK",
        ])
    func rawControlIsRefused(text: String) async throws {
        try await withClient(maximumConnections: 1) { client in
            let (_, recorder) = try await recordingStatements {
                try await client.withTransaction { transaction in
                    try await client.query("INSERT INTO note VALUES (1)")
                    let error = await expectPostgresError(.invalidParameter) {
                        try await client.query(SQL(unsafeRaw: text))
                    }
                    #expect(error?.statement == text)
                    await expectPostgresError(.invalidParameter) { try await transaction.query(SQL(unsafeRaw: text)) }
                    await expectPostgresError(.invalidParameter) {
                        try await client.withConnection { _ = try await $0.query(SQL(unsafeRaw: text)) }
                    }
                    await expectPostgresError(.invalidParameter) {
                        try await client.withTransaction { _ in _ = try await client.query(SQL(unsafeRaw: text)) }
                    }
                    // Nothing of it has harmed the transaction.
                    try await client.query("INSERT INTO note VALUES (2)")
                }
            }
            #expect(recorder.all.map(\.sql).filter { $0.hasPrefix("INSERT") }.count == 2 && recorder.all.count == 4)
            try await expectIDs(client, "{1,2}")
        }
    }

    @Test func aRefusedStatementThatComesOutRollsBack() async throws {
        try await withClient(maximumConnections: 1) { client in
            await expectPostgresError(.invalidParameter) {
                try await client.withTransaction { _ in
                    try await client.query("INSERT INTO note VALUES (1)")
                    try await client.query("COMMIT")
                }
            }
            try await expectIDs(client, "{}")
        }
    }

    @Test(
        "COPY with another statement behind it is refused before it is sent",
        arguments: [
            "COPY note FROM STDIN; COMMIT", "COPY note TO STDOUT;COMMIT;",
            "COPY (SELECT ';') TO STDOUT; -- a\n ROLLBACK",
            "COPY note FROM STDIN; 'a'",
        ])
    func copyIsAlone(text: String) async throws {
        try await withClient(maximumConnections: 1) { client in
            try await client.withTransaction { _ in
                try await client.query("INSERT INTO note VALUES (1)")
                await expectPostgresError(.invalidParameter) {
                    if text.contains("FROM") {
                        let data = AsyncStream<[UInt8]> { $0.finish() }
                        try await client.copyIn(SQL(unsafeRaw: text), from: data)
                    } else {
                        for try await _ in try client.copyOut(SQL(unsafeRaw: text)) {}
                    }
                }
            }
            try await expectIDs(client, "{1}")
        }
    }

    @Test(arguments: ["COPY (SELECT ';a') TO STDOUT ; ", "COPY note TO STDOUT; -- ;a\n /* ; */ ;"])
    func semicolonsThatEndNothingAreNoSecondStatement(text: String) async throws {
        try await withClient(maximumConnections: 1) { client in
            for try await _ in try client.copyOut(SQL(unsafeRaw: text)) {}
        }
    }

    @Test func aProcedureThatCommitsFailsTheTransactionAndIsTheCause() async throws {
        try await withClient(maximumConnections: 1) { client in
            try await client.runScript(
                "CREATE PROCEDURE p() LANGUAGE plpgsql AS 'BEGIN INSERT INTO note VALUES (2); COMMIT; END'")
            for text in ["CALL p()", "DO 'BEGIN INSERT INTO note VALUES (2); COMMIT; END'"] {
                let error = await expectPostgresError(.transactionAborted) {
                    try await client.withTransaction { _ in
                        try await client.query("INSERT INTO note VALUES (1)")
                        _ = try? await client.query(SQL(unsafeRaw: text))
                    }
                }
                #expect(error?.sqlState?.rawValue == "2D000")
                try await expectIDs(client, "{}")
            }
        }
    }

    /// A server that takes words for COMMIT and ROLLBACK which no client can know of: a real one behind a proxy.
    private func withStrangeServer(_ body: (PostgresClient) async throws -> Void) async throws {
        let proxy = try StrangeWords.proxy()
        defer { proxy.stop() }
        var configuration = proxy.configuration
        configuration.pool.maximumConnections = 1
        try await lend(configuration, body)
    }

    enum End: CaseIterable {
        case returns, fails, swallows, writesOn, isNested, isNestedAndSwallows
    }

    @Test(
        "A transaction that a statement has ended fails, and nothing is sent outside of it",
        arguments: [StrangeWords.commit, StrangeWords.rollback], End.allCases)
    func endedBehindTheBack(word: String, end: End) async throws {
        try await withStrangeServer { client in
            let (_, recorder) = await recordingStatements {
                let error = await expectPostgresError(.transactionBroken) {
                    try await client.withTransaction(retry: .attempts(3)) { _ in
                        try await client.query("INSERT INTO note VALUES (1)")
                        switch end {
                        case .returns: try await client.query(SQL(unsafeRaw: word))
                        case .fails:
                            _ = try? await client.query(SQL(unsafeRaw: word))
                            throw Unwanted()
                        case .swallows: _ = try? await client.query(SQL(unsafeRaw: word))
                        case .writesOn:
                            _ = try? await client.query(SQL(unsafeRaw: word))
                            await expectPostgresError(.transactionBroken) {
                                try await client.query("INSERT INTO note VALUES (2)")
                            }
                            await expectPostgresError(.transactionBroken) {
                                try await client.withTransaction { _ in _ = try await client.query("SELECT 1") }
                            }
                        case .isNested:
                            try await client.withTransaction { _ in _ = try await client.query(SQL(unsafeRaw: word)) }
                        case .isNestedAndSwallows:
                            await expectPostgresError(.transactionBroken) {
                                try await client.withTransaction { _ in
                                    _ = try? await client.query(SQL(unsafeRaw: word))
                                }
                            }
                        }
                    }
                }
                #expect(error?.statement == word)
                #expect(error?.underlying.isEmpty == (end != .fails))
            }
            #expect(!recorder.all.map(\.sql).contains { $0.hasPrefix("COMMIT") || $0.hasPrefix("ROLLBACK") })
            try await expectIDs(client, word == StrangeWords.commit ? "{1}" : "{}")
            #expect(client.metrics.opened == 1)
            // The connection is as it was.
            try await client.withTransaction { _ in try await client.query("INSERT INTO note VALUES (3)") }
            try await expectIDs(client, word == StrangeWords.commit ? "{1,3}" : "{3}")
        }
    }

    @Test func whatWaitsForTheEndOfASavepointIsNotSentOutside() async throws {
        try await withStrangeServer { client in
            await expectPostgresError(.transactionBroken) {
                try await client.withTransaction { _ in
                    try await client.query("INSERT INTO note VALUES (1)")
                    await withThrowingTaskGroup(of: Void.self) { group in
                        let (opening, opened) = AsyncStream.makeStream(of: Void.self)
                        group.addTask {
                            try await client.withTransaction { _ in
                                try await client.query("INSERT INTO note VALUES (2)")
                                opened.yield()
                                try await Task.sleep(for: .milliseconds(50))
                                try await client.query(SQL(unsafeRaw: StrangeWords.commit))
                            }
                        }
                        group.addTask {
                            for await _ in opening { break }
                            try await client.query("INSERT INTO note VALUES (3)")
                        }
                        while let result = await group.nextResult() {
                            if case .failure(let error as PostgresError) = result {
                                #expect(error.code == .transactionBroken)
                            } else {
                                Issue.record("no error")
                            }
                        }
                    }
                }
            }
            try await expectIDs(client, "{1,2}")
        }
    }
}

/// Words that a proxy makes COMMIT and ROLLBACK of, as a procedure or another server may.
enum StrangeWords {
    static let commit = "FINISH"
    static let rollback = "ABANDONS"

    static func proxy() throws -> FaultProxy {
        let proxy = try FaultProxy()
        proxy.set { direction, bytes in
            guard direction == .toServer else { return .forward }
            var changed = bytes
            for (word, meaning) in [(commit, "COMMIT"), (rollback, "ROLLBACK")] {
                while let place = position(of: word, in: changed) {
                    changed.replaceSubrange(place..<place + word.utf8.count, with: meaning.utf8)
                }
            }
            return changed == bytes ? .forward : .replace(changed)
        }
        return proxy
    }
}
