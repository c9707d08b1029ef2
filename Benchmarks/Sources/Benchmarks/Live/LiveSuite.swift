import CFloor
import Kindred
import KindredLive
import Synchronization

/// The costs of live requests: the time from a commit to its update, and the work of many requests and of long lists.
///
/// The server writes by itself (`LiveWriter`), so that the processor time of this process is spent on following alone.
struct LiveSuite: Sendable {
    let only: String

    @concurrent
    func run() async throws {
        try await Suite.onServer { try await run(on: $0) }
    }

    private static let script = """
        CREATE TABLE one (id int PRIMARY KEY, n bigint NOT NULL DEFAULT 0);
        INSERT INTO one SELECT i FROM generate_series(1, 100) i;
        CREATE TABLE untracked (LIKE one INCLUDING ALL);
        INSERT INTO untracked SELECT * FROM one;
        CREATE TABLE owner (id int PRIMARY KEY);
        INSERT INTO owner SELECT i FROM generate_series(1, 10000) i;
        CREATE TABLE part (id int PRIMARY KEY, owner_id int NOT NULL REFERENCES owner, n bigint NOT NULL DEFAULT 0);
        INSERT INTO part SELECT i, (i - 1) % 10000 + 1 FROM generate_series(1, 40000) i;
        CREATE INDEX ON part (owner_id);
        CREATE TABLE entry (id int PRIMARY KEY, rank int NOT NULL, text text);
        INSERT INTO entry SELECT i, i * 10, 'entry ' || i FROM generate_series(1, 10000) i
        """

    private func run(on serverURI: String) async throws {
        let place = try BenchmarkDatabase.make("kindred_bench_live", on: serverURI, [Self.script, "VACUUM ANALYZE"])
        let database = try await Database.connect(try place.configuration(connections: 4))
        try await database.tracking.install()
        try await database.tracking.enable("one", "part", "entry")
        let writer = try await LiveWriter(place)
        var lines = [["what", "measured", "goal"]]
        if isSelected("latency") { lines += try await LiveLatency(database, writer, place).measure() }
        if isSelected("storm") { lines += try await LiveStorm(place).measure() }
        if isSelected("list") { lines += try await LiveList(database, writer).measure() }
        if isSelected("load") { lines += try await LiveLoad(database, writer).measure() }
        if isSelected("routing") { lines += try await LiveLoad(database, writer).measureRouting() }
        if isSelected("single") { lines += try await LiveSingleRow(database, place).measure() }
        writeColumns(lines)
        print("Processor time is that of this process; the server writes by itself.")
        await writer.close()
        await database.close()
        try place.drop()
    }

    private func isSelected(_ name: String) -> Bool { only.isEmpty || name.contains(only) }
}

/// Writes over a connection of its own.
struct LiveWriter: Sendable {
    let client: PostgresClient

    init(_ place: BenchmarkDatabase) async throws {
        var configuration = try place.configuration(connections: 1)
        configuration.statementTimeout = .seconds(600)
        client = try await PostgresClient.connect(configuration)
    }

    func close() async { await client.close() }

    /// Changes parts of owners up to a number, one in each transaction, at an even rate; the server does all of it.
    func changeParts(ofOwners owners: Int, rate: Int, for seconds: Int) async throws {
        let (changes, pause) = (rate * seconds, 1 / Double(rate))
        try await client.query(
            SQL(
                unsafeRaw: """
                    DO $$
                    DECLARE start timestamptz := clock_timestamp();
                    BEGIN
                        FOR i IN 1..\(changes) LOOP
                            UPDATE part SET n = n + 1 WHERE id = i * 7919 % \(owners) + 1;
                            COMMIT;
                            PERFORM pg_sleep(greatest(0, extract(epoch FROM start - clock_timestamp()) + i * \(pause)));
                        END LOOP;
                    END $$
                    """))
    }
}

/// The statements that a database is sent while it is observed.
final class StatementCounter: Sendable {
    private let counted = Mutex(0)
    private let observation = Mutex<StatementObservation?>(nil)

    init(_ client: PostgresClient) {
        let observed = client.addObserver { [weak self] _ in self?.counted.withLock { $0 += 1 } }
        observation.withLock { $0 = observed }
    }

    var count: Int { counted.withLock { $0 } }
}

extension [Double] {
    /// The value below which a part of the values lies.
    func percentile(_ part: Double) -> Double {
        isEmpty ? 0 : sorted()[Swift.min(count - 1, Int(Double(count) * part))]
    }
}

/// A time in milliseconds, for the table.
func milliseconds(_ seconds: Double) -> String { "\((seconds * 100_000).rounded() / 100) ms" }
