import Kindred
import KindredTesting
import Logging
import Synchronization
import Testing

/// The log of statements that take long, and of their plans.
@Suite(
    .database(
        .sql(
            """
            CREATE TABLE note (id integer PRIMARY KEY, text text);
            INSERT INTO note SELECT n, 'secret' FROM generate_series(1, 1000) AS n;
            """)))
struct SlowStatementTests {
    /// A logger's entries: their metadata, with the message.
    private final class Entries: Sendable {
        private struct Handler: LogHandler {
            let entries: Entries
            var metadata: Logger.Metadata = [:]
            var logLevel = Logger.Level.info
            subscript(metadataKey key: String) -> Logger.Metadata.Value? {
                get { metadata[key] }
                set { metadata[key] = newValue }
            }
            func log(event: LogEvent) {
                let entry = ["message": "\(event.message)"].merging((event.metadata ?? [:]).mapValues { "\($0)" }) {
                    $1
                }
                entries.all.withLock { $0.append(entry) }
            }
        }

        private let all = Mutex<[[String: String]]>([])
        var logger: Logger { Logger(label: "test") { _ in Handler(entries: self) } }

        /// The entries whose message begins so.
        func take(_ start: String) -> [[String: String]] {
            all.withLock { $0 }.filter { $0["message"]?.hasPrefix(start) == true }
        }

        /// Waits for entries.
        func wait(for start: String, count: Int = 1) async throws -> [[String: String]] {
            for _ in 0..<1_000 {
                let found = take(start)
                if found.count >= count { return found }
                try await Task.sleep(for: .milliseconds(20))
            }
            return take(start)
        }
    }

    private func withClient(_ body: (PostgresClient, Entries) async throws -> Void) async throws {
        let client = try await PostgresClient.connect(try PostgresConfiguration(uri: try TestDatabase.current.uri))
        do {
            try await body(client, Entries())
        } catch {
            await client.close()
            throw error
        }
        await client.close()
    }

    @Test func statementsBeyondTheThresholdAreLoggedWithTheirLine() async throws {
        try await withClient { client, entries in
            let observation = client.logSlowStatements(longerThan: .milliseconds(150), logger: entries.logger)
            try await client.query("SELECT 1")
            try await client.query("SELECT pg_sleep(\(0.2))")
            let line = #line - 1
            _ = try? await client.query("SELECT pg_sleep(0.2), 1 / (\(0))")
            let logged = entries.take("A statement took long")
            #expect(logged.map { $0["statement"] }.filter { $0?.contains("0.2") == false } == ["SELECT pg_sleep($1)"])
            let first = try #require(logged.first { $0["statement"] == "SELECT pg_sleep($1)" })
            #expect(first["rows"] == "1" && first["place"] == "IntegrationTests/SlowStatementTests.swift:\(line)")
            #expect(first["duration"] != nil && first["error"] == nil && entries.take("The plan").isEmpty)
            observation.cancel()
            try await client.query("SELECT pg_sleep(0.3)")
            #expect(!entries.take("A statement").contains { $0["statement"] == "SELECT pg_sleep(0.3)" })
        }
    }

    @Test func aShareOfThemIsLogged() async throws {
        try await withClient { client, entries in
            let none = client.logSlowStatements(longerThan: .zero, share: 0, logger: entries.logger)
            for _ in 0..<50 { try await client.query("SELECT 1") }
            #expect(entries.take("A").isEmpty)
            none.cancel()
            let some = client.logSlowStatements(longerThan: .zero, share: 0.5, logger: entries.logger)
            for _ in 0..<200 { try await client.query("SELECT 1") }
            // Outside of these bounds by chance once in 10^13 runs.
            #expect((45...155).contains(entries.take("A").count))
            some.cancel()
        }
    }

    @Test func aPlanHasNoPartInTheProgramsTransaction() async throws {
        try await withClient { client, entries in
            let observation = client.logSlowStatements(longerThan: .zero, withPlans: true, logger: entries.logger)
            try await client.withTransaction { _ in
                let before = try await client.query("SHOW statement_timeout").first?.decode(0, as: String.self)
                try await client.query("SELECT text FROM note WHERE id = \(7)")
                #expect(try await entries.wait(for: "The plan").count >= 1)
                let after = try await client.query("SHOW statement_timeout").first?.decode(0, as: String.self)
                #expect(before != nil && after == before)
            }
            observation.cancel()
        }
    }

    @Test func eachTextIsPlannedOnceWithoutItsValues() async throws {
        try await withClient { client, entries in
            let observation = client.logSlowStatements(longerThan: .zero, withPlans: true, logger: entries.logger)
            for id in 1...3 {
                try await client.query("SELECT text FROM note WHERE id = \(id) AND text <> \("secret")")
                try await client.query("UPDATE note SET text = \("other") WHERE id = \(id)")
            }
            try await client.query("SHOW work_mem")
            let plans = try await entries.wait(for: "The plan", count: 2)
            #expect(plans.count == 2)
            let update = try #require(plans.first { $0["statement"]?.hasPrefix("UPDATE") == true }?["plan"])
            #expect(update.contains("Update on note") && update.contains("Index Scan"), "\(update)")
            #expect(plans.contains { $0["statement"] == "SELECT text FROM note WHERE id = $1 AND text <> $2" })
            #expect(!"\(plans)".contains("secret"))
            try await client.query("WITH gone AS (DELETE FROM note WHERE id = \(1) RETURNING id) SELECT * FROM gone")
            #expect(try await entries.wait(for: "The plan", count: 3).count >= 3)
            // It was planned, not run a second time, and its session keeps no trace of it.
            #expect(try await client.value("SELECT count(*) FROM note") == .integer(999))
            for _ in 0..<200
            where try await client.value("SELECT count(*) FROM pg_prepared_statements WHERE name LIKE 'kindred_slow%'")
                != .integer(0)
            {
                try await Task.sleep(for: .milliseconds(20))
            }
            #expect(
                try await client.value("SELECT count(*) FROM pg_prepared_statements WHERE name LIKE 'kindred_slow%'")
                    == .integer(0))
            observation.cancel()
        }
    }
}
