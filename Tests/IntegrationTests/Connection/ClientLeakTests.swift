import Foundation
import KindredPostgres
import KindredTesting
import Testing

#if os(Linux)
    /// Clients that come and go leave nothing behind in the process.
    ///
    /// Other tests open files and threads at the same time, so the test looks at the sockets of its own database, and
    /// for the rest only large numbers count.
    @Suite(.database) struct ClientLeakTests {
        private static let count = LongTests.areOn ? 1_000 : 20

        @Test("Clients that were closed or dropped leave no session, descriptor or thread", .timeLimit(.minutes(15)))
        func nothingIsLeft() async throws {
            let threads = Self.threadCount
            let files = LongTests.openFileCount ?? 0
            for number in 0..<Self.count {
                try await useOnce(isClosed: number % 3 != 0)
            }
            try await withClient { client in
                try await eventually("the server has no session of theirs") {
                    let rows = try await client.query(
                        """
                        SELECT count(*) FROM pg_stat_activity
                        WHERE datname = current_database() AND application_name = 'comes and goes'
                        """)
                    return try rows[0].decode(0, as: Int.self) == 0
                }
            }
            guard LongTests.areOn else { return }
            try await eventually("no thread is left") { Self.threadCount <= threads + 50 }
            try await eventually("no descriptor is left") { (LongTests.openFileCount ?? 0) <= files + 100 }
        }

        /// Makes a client, uses it in different ways, and closes or drops it.
        private func useOnce(isClosed: Bool) async throws {
            var configuration = try PostgresConfiguration(uri: TestDatabase.current.uri)
            configuration.applicationName = "comes and goes"
            configuration.pool.maximumConnections = 2
            configuration.pool.acquireTimeout = .seconds(60)
            let client = try await PostgresClient.connect(configuration)
            try await client.withTransaction { _ in try await client.query("SELECT 1") }
            let cancelled = Task { try await client.query("SELECT pg_sleep(600)") }
            cancelled.cancel()
            _ = await cancelled.result
            if isClosed { await client.close() }
        }

        private static var threadCount: Int {
            (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? 0
        }
    }
#endif
