import Kindred
import KindredLive
import KindredTesting
import Logging
import Testing
import TrackerModels

@testable import TrackerServer

/// Each job is done once, whatever becomes of the workers.
@Suite(.database(.migrations("../../Migrations")))
struct JobQueueTests {
    private static let done = "CREATE TABLE done (job bigint, worker integer)"

    private func withClient(_ body: (PostgresClient, String) async throws -> Void) async throws {
        let uri = try TestDatabase.current.uri
        let client = try await PostgresClient.connect(try PostgresConfiguration(uri: uri))
        do {
            try await client.query(SQL(unsafeRaw: Self.done))
            try await body(client, uri)
        } catch {
            await client.close()
            throw error
        }
        await client.close()
    }

    private func count(_ client: PostgresClient, _ query: SQL) async throws -> Int {
        try await client.query(query).first?.decode(0, as: Int.self) ?? -1
    }

    /// A worker with connections of its own.
    private func queue(_ uri: String, _ worker: Int, pause: Duration = .milliseconds(5)) async throws -> JobQueue {
        var configuration = try PostgresConfiguration(uri: uri)
        configuration.applicationName = "worker"
        let database = try await Database.connect(configuration, classes: KindredModels.all)
        return JobQueue(
            database: database,
            handlers: [
                "count": { job, context in
                    try await context.query("INSERT INTO done VALUES (\(job.id), \(worker))")
                    try await Task.sleep(for: pause)
                },
                "fail": { job, context in
                    try await context.query("INSERT INTO done VALUES (\(job.id), \(worker))")
                    throw NoHandler(kind: "on purpose")
                },
            ], logger: Logger(label: "jobs"))
    }

    @Test func killedWorkersLoseNothingAndDoNothingTwice() async throws {
        try await withClient { client, uri in
            let first = try await queue(uri, 0)
            try await first.database.tracking.enable("job")
            try await client.query("INSERT INTO job (kind) SELECT 'count' FROM generate_series(1, 300)")
            var workers: [Task<Void, any Error>] = []
            var databases: [Database] = []
            for worker in 1...3 {
                let queue = try await queue(uri, worker)
                databases.append(queue.database)
                workers.append(Task { try await queue.run() })
            }
            // The server ends a random session of them again and again; later jobs wake them by themselves.
            for round in 0..<1_000 where try await count(client, "SELECT count(*) FROM job") != 0 || round < 20 {
                try await client.query(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE application_name = 'worker' AND datname = current_database() ORDER BY random() LIMIT 1
                    """)
                if round < 20 { try await client.query("INSERT INTO job (kind) VALUES ('count')") }
                try await Task.sleep(for: .milliseconds(30))
            }
            for worker in workers { worker.cancel() }
            for worker in workers { _ = await worker.result }
            for database in databases { await database.close() }
            await first.database.close()
            #expect(try await count(client, "SELECT count(*) FROM job") == 0)
            #expect(try await count(client, "SELECT count(*) FROM done") == 320)
            #expect(try await count(client, "SELECT count(DISTINCT job) FROM done") == 320)
            #expect(try await count(client, "SELECT count(DISTINCT worker) FROM done") == 3)
        }
    }

    @Test func aJobThatFailsWaitsLongerEachTime() async throws {
        try await withClient { client, uri in
            let queue = try await queue(uri, 1)
            try await client.query("INSERT INTO job (kind) VALUES ('fail'), ('unknown')")
            for attempt in 1...5 {
                #expect(try await queue.work())
                #expect(try await queue.work())
                // Both wait now.
                #expect(try await !queue.work())
                let waiting =
                    "SELECT count(*) FROM job WHERE attempts = \(attempt) AND run_at > now() + interval '1 s'" as SQL
                #expect(try await count(client, waiting) == 2)
                try await client.query("UPDATE job SET run_at = now()")
            }
            #expect(try await !queue.work())
            // What the attempts wrote is gone, and the problem stays.
            #expect(try await count(client, "SELECT count(*) FROM done") == 0)
            #expect(try await count(client, "SELECT count(*) FROM job WHERE problem LIKE '%on purpose%'") == 1)
            await queue.database.close()
        }
    }
}
