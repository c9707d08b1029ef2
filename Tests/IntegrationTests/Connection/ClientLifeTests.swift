import KindredPostgres
import KindredTesting
import Testing

@Suite(.database) struct ClientLifeTests {
    @Test func noticesCanBeRead() async throws {
        try await withClient { client in
            let notices = client.notices()
            // A result without columns gives no notice of libpq's own.
            try await client.query("DISCARD TEMP")
            try await client.runScript(
                "DO $$ BEGIN RAISE NOTICE 'first'; RAISE WARNING 'second' USING HINT = 'h'; END $$")
            var iterator = notices.makeAsyncIterator()
            let first = await iterator.next()
            #expect(first?.message == "first" && first?.severity == "NOTICE")
            let second = await iterator.next()
            #expect(second?.message == "second" && second?.hint == "h" && second?.severity == "WARNING")
            await client.close()
            // It ends with the client.
            while await iterator.next() != nil {}
            // Streams that are asked for later end, too.
            for await _ in client.notices() {}
            for await _ in client.parameterChanges() {}
        }
    }

    @Test func runLastsUntilTheClientIsClosedOrTheTaskCancelled() async throws {
        for isCancelled in [true, false] {
            try await withClient { client in
                let service = Task { try await client.run() }
                try await expectUsable(client)
                if isCancelled { service.cancel() } else { await client.close() }
                try await service.value
                await expectPostgresError(.closed) { try await client.query("SELECT 1") }
            }
        }
    }

    @Test func metricsAddUp() async throws {
        try await withClient(maximumConnections: 4) { client in
            func check(sourceLocation: SourceLocation = #_sourceLocation) {
                let metrics = client.metrics
                #expect(
                    metrics.opened - metrics.closed - metrics.lost == metrics.idle + metrics.inUse + metrics.testing,
                    "\(metrics)", sourceLocation: sourceLocation)
            }
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        switch number % 5 {
                        case 0: _ = try? await client.query("SELECT pg_terminate_backend(pg_backend_pid())")
                        case 1: _ = try? await client.query("SELECT set_config('client_encoding', 'LATIN1', false)")
                        case 2: _ = try? await client.withTransaction { try await $0.query("SELECT 1 / 0") }
                        case 3:
                            _ = try? await client.withConnection { connection in
                                try await connection.query("SET work_mem = '1MB'")
                            }
                        default: _ = try? await client.query("SELECT 1")
                        }
                        check()
                    }
                }
            }
            try await expectUsable(client)
            check()
            await client.close()
            let metrics = client.metrics
            #expect(metrics.opened == metrics.closed + metrics.lost)
            #expect(metrics.lost > 0)
        }
    }

    @Test func leasesThatTakeVeryLongAreCounted() async throws {
        try await withClient(configure: { $0.pool.leaseWarning = .milliseconds(50) }) { client in
            try await client.withConnection { _ in
                try await eventually("the lease is counted") { client.metrics.longLeases == 1 }
                try await Task.sleep(for: .milliseconds(150))
                #expect(client.metrics.longLeases == 1)
            }
        }
        try await withClient(configure: { $0.pool.leaseWarning = .seconds(60) }) { client in
            try await client.withTransaction { _ in try await expectUsable(client) }
            #expect(client.metrics.longLeases == 0)
        }
    }
}
