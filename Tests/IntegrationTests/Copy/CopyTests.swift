import KindredPostgres
import KindredTesting
import Synchronization
import Testing

@Suite(.database("CREATE TABLE note (id bigint PRIMARY KEY, text text)")) struct CopyTests {
    /// Pieces of data, made as they are asked for.
    static func pieces(_ count: Int, _ piece: @escaping @Sendable (Int) throws -> String) -> AsyncThrowingStream<
        [UInt8], any Error
    > {
        let next = Atomic<Int>(0)
        return AsyncThrowingStream {
            let number = next.add(1, ordering: .relaxed).newValue
            return number > count ? nil : Array(try piece(number).utf8)
        }
    }

    private func expectCount(
        _ client: PostgresClient, _ count: Int, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let rows = try await client.query("SELECT count(*) FROM note")
        #expect(try rows[0].decode(0, as: Int.self) == count, sourceLocation: sourceLocation)
    }

    @Test(arguments: [0, 1, 20_000]) func textGoesInAndOut(count: Int) async throws {
        try await withClient(maximumConnections: 1) { client in
            let copied = try await client.copyIn(
                "COPY note FROM STDIN", from: Self.pieces(count) { "\($0)\tä\($0)\n" })
            #expect(copied == count)
            var next = 1
            for try await line in try client.copyOut("COPY (SELECT * FROM note ORDER BY id) TO STDOUT (FORMAT csv)") {
                #expect(String(validating: line, as: UTF8.self) == "\(next),ä\(next)\n")
                next += 1
            }
            #expect(next == count + 1)
            try await expectUsable(client)
            #expect(client.metrics.opened == 1)
        }
    }

    @Test func binaryDataGoesOutAndInAgain() async throws {
        try await withClient(maximumConnections: 2) { client in
            try await client.runScript(
                """
                INSERT INTO note SELECT i, repeat('x', i % 100) FROM generate_series(1, 5000) AS i;
                CREATE TABLE other (LIKE note);
                """)
            // From one connection straight to another.
            let copied = try await client.copyIn(
                "COPY other FROM STDIN (FORMAT binary)", from: try client.copyOut("COPY note TO STDOUT (FORMAT binary)")
            )
            #expect(copied == 5_000)
            let rows = try await client.query("SELECT count(*) FROM (TABLE note EXCEPT TABLE other) AS t")
            #expect(try rows[0][0] == 0)
        }
    }

    @Test func piecesMayBeCutAnywhereAndBeLarge() async throws {
        try await withClient(maximumConnections: 1) { client in
            let text = String(repeating: "0123456789", count: 500_000)
            let pieces = ["1", "\t", "", "a\n2\t" + text, "\n3", "\tb\n"].map { Array($0.utf8) }
            let stream = AsyncStream { continuation in
                for piece in pieces { continuation.yield(piece) }
                continuation.finish()
            }
            #expect(try await client.copyIn("COPY note FROM STDIN", from: stream) == 3)
            var size = 0
            for try await line in try client.copyOut("COPY note TO STDOUT") { size += line.count }
            #expect(size == text.utf8.count + 11)
        }
    }

    @Test func dataThatIsWrongIsAnErrorWithItsLineBeforeTheEnd() async throws {
        try await withClient(maximumConnections: 1) { client in
            let sent = Atomic<Int>(0)
            let error = await expectPostgresError(.server) {
                // Without an end: the error is found while data still comes.
                try await client.copyIn(
                    "COPY note FROM STDIN",
                    from: Self.pieces(.max) { number in
                        sent.store(number, ordering: .relaxed)
                        return number == 3 ? "x\ty\n" : "\(number)\ta\n"
                    })
            }
            #expect(error?.sqlState == .invalidTextRepresentation)
            #expect(error?.server?.context?.contains("line 3") == true)
            #expect(error?.statement == "COPY note FROM STDIN")
            #expect(sent.load(ordering: .relaxed) > 3)
            try await expectCount(client, 0)
            #expect(client.metrics.opened == 1)
        }
    }

    @Test func smallPiecesGoToTheServerTogether() async throws {
        try await withClient(maximumConnections: 1) { client in
            let asked = Atomic<Int>(0)
            // The first line is wrong already: the server hears of it when enough of them have come together.
            await #expect(throws: PostgresError.self) {
                try await client.copyIn(
                    "COPY note FROM STDIN",
                    from: Self.pieces(.max) { number in
                        asked.store(number, ordering: .relaxed)
                        return "no number\tx\n"
                    })
            }
            let size = asked.load(ordering: .relaxed) * "no number\tx\n".utf8.count
            #expect(size >= 64 << 10, "\(size)")
            try await expectUsable(client)
        }
    }

    @Test func aSourceThatThrowsUndoesEverything() async throws {
        struct Unwanted: Error {}
        try await withClient(maximumConnections: 1) { client in
            await #expect(throws: Unwanted.self) {
                try await client.copyIn(
                    "COPY note FROM STDIN",
                    from: Self.pieces(100) { number in
                        if number == 50 { throw Unwanted() }
                        return "\(number)\ta\n"
                    })
            }
            try await expectCount(client, 0)
            #expect(client.metrics.opened == 1)
        }
    }

    @Test func cancellationStopsBothDirections() async throws {
        try await withClient(maximumConnections: 1) { client in
            let input = Task {
                try await client.copyIn("COPY note FROM STDIN", from: Self.pieces(.max) { "\($0)\ta\n" })
            }
            try await Task.sleep(for: .milliseconds(100))
            input.cancel()
            await #expect(throws: CancellationError.self) { try await input.value }
            try await expectCount(client, 0)
            let output = Task {
                for try await _ in try client.copyOut("COPY (SELECT pg_sleep(600)) TO STDOUT") {}
            }
            try await Task.sleep(for: .milliseconds(100))
            output.cancel()
            await #expect(throws: CancellationError.self) { try await output.value }
            try await expectUsable(client)
            #expect(client.metrics.opened == 1)
        }
    }

    @Test func whatIsStoppedIsNeverShorterWithoutAnError() async throws {
        try await withClient(maximumConnections: 1) { client in
            for _ in 0..<50 {
                var count = 0
                do {
                    let output = try client.copyOut(
                        "COPY (SELECT generate_series(1, 2000)) TO STDOUT", timeout: .nanoseconds(1))
                    for try await _ in output { count += 1 }
                    #expect(count == 2_000)
                } catch let error as PostgresError {
                    #expect(error.code == .timeout)
                }
            }
        }
    }

    @Test func aLoopThatIsLeftGivesTheConnectionBack() async throws {
        try await withClient(maximumConnections: 1) { client in
            for _ in 0..<5 {
                for try await _ in try client.copyOut("COPY (SELECT generate_series(1, 10000000)) TO STDOUT") {
                    break
                }
                try await expectUsable(client)
            }
            #expect(client.metrics.opened == 1)
        }
    }

    @Test func aReaderThatIsSlowMakesTheServerWait() async throws {
        try await withClient { client in
            var lines = try client.copyOut("COPY (SELECT repeat('x', 1000) FROM generate_series(1, 40000)) TO STDOUT")
                .makeAsyncIterator()
            var size = try await lines.next()?.count ?? 0
            try await eventually("the server waits for the client") {
                let rows = try await client.query(
                    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'ClientWrite'"
                )
                return try rows[0][0] == 1
            }
            while let line = try await lines.next() { size += line.count }
            #expect(size == 40_000 * 1_001)
        }
    }

    @Test func aServerThatStopsTakingDataIsATimeout() async throws {
        try await withClient(maximumConnections: 2) { client in
            try await client.withTransaction { _ in
                try await client.query("LOCK TABLE note")
                await Task.detached {
                    _ = await expectPostgresError(.timeout) {
                        try await client.copyIn(
                            "COPY note FROM STDIN", from: Self.pieces(.max) { "\($0)\ta\n" },
                            timeout: .milliseconds(200))
                    }
                }.value
            }
            try await expectCount(client, 0)
        }
    }

    @Test func aTransactionHoldsWhatItCopies() async throws {
        struct Unwanted: Error {}
        try await withClient(maximumConnections: 1) { client in
            await #expect(throws: Unwanted.self) {
                try await client.withTransaction { _ in
                    // BEGIN travels with COPY.
                    try await client.copyIn("COPY note FROM STDIN", from: Self.pieces(10) { "\($0)\ta\n" })
                    let rows = try await client.query("SELECT count(*) FROM note")
                    #expect(try rows[0][0] == 10)
                    throw Unwanted()
                }
            }
            try await expectCount(client, 0)
            try await client.withTransaction { _ in
                await expectPostgresError(.server) {
                    _ = try await client.withTransaction { _ in
                        _ = try await client.copyIn("COPY note FROM STDIN", from: Self.pieces(2) { _ in "1\ta\n" })
                    }
                }
                _ = try await client.copyIn("COPY note FROM STDIN", from: Self.pieces(2) { "\($0)\ta\n" })
            }
            try await expectCount(client, 2)
            #expect(client.metrics.opened == 1)
        }
    }

    @Test func otherStatementsOnTheConnectionAreRefusedMeanwhile() async throws {
        try await withClient(maximumConnections: 1) { client in
            await expectPostgresError(.copyInProgress) {
                try await client.withTransaction { _ in
                    for try await _ in try client.copyOut("COPY (SELECT generate_series(1, 100000)) TO STDOUT") {
                        try await client.query("SELECT 1")
                    }
                }
            }
            try await expectUsable(client)
        }
    }

    @Test func aLoopThatIsLeftFailsItsSavepointOnly() async throws {
        try await withClient(maximumConnections: 1) { client in
            try await client.withTransaction { _ in
                try await client.query("INSERT INTO note VALUES (1, 'a')")
                await expectPostgresError(.transactionAborted) {
                    _ = try await client.withTransaction { _ in
                        try await client.query("INSERT INTO note VALUES (2, 'a')")
                        for try await _ in try client.copyOut("COPY (SELECT generate_series(1, 10000000)) TO STDOUT") {
                            break
                        }
                    }
                }
                try await client.query("INSERT INTO note VALUES (3, 'a')")
            }
            try await expectCount(client, 2)
            #expect(client.metrics.opened == 1)
        }
    }

    @Test func aLoopThatIsLeftHoldsUpTheNextStatementOfItsConnection() async throws {
        try await withClient(maximumConnections: 1) { client in
            try await client.withConnection { connection in
                for try await _ in try client.copyOut("COPY (SELECT generate_series(1, 10000000)) TO STDOUT") { break }
                let answer = try await connection.query("SELECT 1")
                #expect(try answer[0][0] == 1)
            }
            #expect(client.metrics.opened == 1)
        }
    }

    @Test func whatIsNoCopyIsRefused() async throws {
        try await withClient(maximumConnections: 1) { client in
            await expectPostgresError(.invalidParameter) { () async throws in _ = try client.copyOut("SELECT 1") }
            await expectPostgresError(.invalidParameter) { () async throws in
                _ = try client.copyOut("COPY (SELECT \(1)) TO STDOUT")
            }
            await expectPostgresError(.invalidParameter) {
                try await client.copyIn("COPY note TO STDOUT", from: Self.pieces(1) { _ in "1\ta\n" })
            }
            await expectPostgresError(.invalidParameter) {
                for try await _ in try client.copyOut("COPY note FROM STDIN") {}
            }
            await expectPostgresError(.invalidParameter) {
                for try await _ in try client.copyOut("COPY note TO '/dev/null'") {}
            }
            await expectPostgresError(.server) { for try await _ in try client.copyOut("COPY nothing TO STDOUT") {} }
            try await expectUsable(client)
            #expect(client.metrics.opened == 1)
        }
    }

    @Test func aKilledServerProcessIsOneError() async throws {
        try await withClient(maximumConnections: 1) { client in
            try await withClient { other in
                @Sendable func kill() async throws {
                    try await other.query(
                        """
                        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                        WHERE datname = current_database() AND query LIKE 'COPY %'
                        """)
                }
                await expectPostgresError(.connectionLost) {
                    try await client.copyIn(
                        "COPY note FROM STDIN",
                        from: AsyncThrowingStream {
                            try await kill()
                            return Array("\(Int.random(in: 0...1_000_000_000))\ta\n".utf8)
                        })
                }
                await expectPostgresError(.connectionLost) {
                    for try await _ in try client.copyOut("COPY (SELECT generate_series(1, 10000000)) TO STDOUT") {
                        try await kill()
                    }
                }
                try await expectUsable(client)
            }
        }
    }
}
