import Kindred
import KindredLive
import KindredTesting
import Synchronization
import Testing

private let schema = """
    CREATE TABLE person (id integer PRIMARY KEY, name text);
    CREATE TABLE reading (id integer, bucket integer, PRIMARY KEY (id, bucket)) PARTITION BY LIST (bucket);
    CREATE TABLE reading_0 PARTITION OF reading FOR VALUES IN (0);
    CREATE TABLE document (id integer PRIMARY KEY);
    CREATE TABLE letter (address text, PRIMARY KEY (id)) INHERITS (document);
    INSERT INTO person VALUES (1, 'a');
    """

/// A database that was restored from a dump: its tables have other numbers.
@Suite(.database(.sql(schema)), .timeLimit(.minutes(5))) struct RestoredDatabaseTests {
    private let tables = ["person", "reading", "document"]

    /// Lends a restored copy of the test's database, which tracks its tables.
    private func withCopy(_ body: (_ copy: Database, _ other: PostgresClient) async throws -> Void) async throws {
        try await withDatabase { database, _, other in
            try await database.tracking.install()
            try await database.tracking.enable(tables)
            let name = "restored_\(UInt64.random(in: 0..<UInt64.max))"
            try await other.query("CREATE DATABASE \(identifier: name) TEMPLATE template0")
            let result: Result<Void, any Error>
            do {
                var configuration = other.configuration
                configuration.database = name
                let source = try TestDatabase.current
                try await Psql.restore(in: source.uri.replacing(source.name, with: name))
                let copy = try await Database.connect(configuration)
                let client = try await PostgresClient.connect(configuration)
                do {
                    result = .success(try await body(copy, client))
                } catch {
                    result = .failure(error)
                }
                await copy.close(timeout: .zero)
                await client.close(timeout: .zero)
            } catch {
                result = .failure(error)
            }
            try await other.query("DROP DATABASE \(identifier: name) WITH (FORCE)")
            try result.get()
        }
    }

    @Test(arguments: ["enable", "check", "install"])
    func itIsPutInOrderWhileWritersRunAndWithoutLocksThatKeepReadersOut(_ way: String) async throws {
        guard await Psql.isInstalled else { return }
        try await withCopy { copy, other in
            let numbers = try await other.values(
                "SELECT t.relation::int8 FROM kindred.tracking_table AS t WHERE to_regclass(t.table_name)::oid = t.relation"
            )
            #expect(numbers.isEmpty, "The dump's numbers are other tables'")
            let writers = Writers()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<3 { group.addTask { try await writers.run(copy.client) } }
                defer { writers.end() }
                try await eventually("all tables are in order") {
                    try await other.withTransaction(retry: .attempts(100)) { _ in
                        switch way {
                        case "enable":
                            for table in tables {
                                try await other.query("SELECT kindred.tracking_enable(\(table)::text::regclass)")
                            }
                        case "check": try await other.query("SELECT FROM kindred.tracking_check()")
                        default: try await Tracking(other).install()
                        }
                        let locks = try await other.values(
                            """
                            SELECT c.relname::text FROM pg_locks AS l JOIN pg_class AS c ON c.oid = l.relation
                            WHERE l.pid = pg_backend_pid() AND l.mode = 'AccessExclusiveLock'
                                AND c.relnamespace = 'public'::regnamespace
                            """)
                        #expect(locks.isEmpty, "\(locks)")
                    }
                    if way == "install" { try await copy.tracking.enable(tables) }
                    return try await copy.tracking.status()?.tables.filter { $0.fault != nil }.isEmpty ?? false
                }
                writers.end()
                try await group.waitForAll()
            }
            // And all of it is followed.
            var changes = try await copy.makeContext().changes(of: "person", "reading").makeAsyncIterator()
            try await other.query("INSERT INTO person VALUES (0, 'n')")
            #expect(try await changes.seen(copy) == .inserted("person 0"))
            try await other.query("INSERT INTO reading VALUES (0, 0)")
            #expect(try await changes.seen(copy) == .inserted("reading 0,0"))
        }
    }
}

/// Clients that insert rows, and pause for a moment after each.
private final class Writers: Sendable {
    private let lastNumber = Atomic(1)
    private let isDone = Atomic(false)

    func end() { isDone.store(true, ordering: .relaxed) }

    func run(_ client: PostgresClient) async throws {
        while !isDone.load(ordering: .relaxed) {
            let number = Int32(lastNumber.add(1, ordering: .relaxed).newValue)
            try await client.query("INSERT INTO person VALUES (\(number), 'w')")
            try await client.query("INSERT INTO reading VALUES (\(number), 0)")
            try await Task.sleep(for: .milliseconds(2))
        }
    }
}
