import KindredPostgres
import KindredTesting
import Testing

/// The sessions that a pooler of transactions lends: what SQL of the program changes there is put back before another
/// connection gets them.
@Suite(
    .database(
        """
        CREATE TABLE note (id bigint PRIMARY KEY, text text);
        CREATE FUNCTION marks(mark text) RETURNS text LANGUAGE plpgsql AS $$
        BEGIN
            PERFORM set_config('test.mark', mark, false), pg_advisory_lock(4711);
            EXECUTE 'CREATE TEMP TABLE IF NOT EXISTS left_behind (id int)';
            RETURN mark;
        END $$;
        """))
struct PoolerSessionTests {
    private struct Undone: Error {}

    /// The marks of the session that the pooler lends next; empty where it is as new.
    private static let marks: SQL = """
        SELECT concat_ws(' ', nullif(current_setting('test.mark', true), ''), to_regclass('pg_temp.left_behind'),
            (SELECT 'locked' FROM pg_locks WHERE locktype = 'advisory' AND objid = 4711 AND pid = pg_backend_pid()))
        """

    /// Ways to run the program's SQL that marks its session.
    enum Way: CaseIterable {
        case alone, failing, lease, failingInLease, transaction, rolledBack, broken, prepared
    }

    private func mark(_ client: PostgresClient, _ way: Way) async throws {
        let marking: SQL = "SELECT marks('a')"
        let failing: SQL = "SELECT 1 / (length(marks('a')) - 1)"
        func expectFailure(_ body: () async throws -> Void) async {
            await expectPostgresError(.server) { try await body() }
        }
        switch way {
        case .alone, .prepared: try await client.query(marking)
        case .failing: await expectFailure { try await client.query(failing) }
        case .lease: try await client.withConnection { _ in try await client.query(marking) }
        case .failingInLease:
            try await client.withConnection { connection in
                await expectFailure { try await connection.query(failing) }
                try await connection.query("SELECT 1")
            }
        case .transaction: try await client.withTransaction { _ in try await client.query(marking) }
        case .rolledBack:
            await #expect(throws: Undone.self) {
                try await client.withTransaction { _ in
                    try await client.query(marking)
                    throw Undone()
                }
            }
        case .broken:
            await expectFailure {
                try await client.withTransaction { _ in
                    try await client.query(marking)
                    try await client.query(failing)
                }
            }
        }
    }

    @Test(.enabled(if: TestPooler.isInstalled, "PgBouncer is not installed"), arguments: Way.allCases)
    func othersFindNoMarks(way: Way) async throws {
        let pooler = try await TestPooler(sessions: 1, "pooler=transaction")
        try await lend(try await pooler.connect()) { (other) async throws in
            var configuration = pooler.configuration
            if way == .prepared { configuration.statementCacheCapacity = 10 }
            try await lend(configuration) { (client) async throws in
                for _ in 0..<20 {
                    try await mark(client, way)
                    #expect(try await other.query(Self.marks)[0].decode(0, as: String.self) == "")
                }
                #expect(client.metrics.lost == 0)
            }
        }
        withExtendedLifetime(pooler) {}
    }

    /// The statements for a server that is said to be behind a pooler.
    private func sent(by body: (PostgresClient) async throws -> Void) async throws -> String {
        let proxy = try FaultProxy()
        defer { proxy.stop() }
        let sent = proxy.recordSent()
        var configuration = proxy.configuration
        configuration.pooler = .transaction
        configuration.pool.maximumConnections = 1
        try await lend(configuration, body)
        return sent.text
    }

    @Test func oneSyncCoversStatementAndCleanUp() async throws {
        let text = try await sent { client in try await client.query("SELECT marks('a')") }
        let behind = try #require(text.split(separator: "SELECT marks('a')").last)
        // The message Sync, all of whose other bytes are none of a text.
        let covered = behind.split(separator: "S||||", maxSplits: 1).first ?? ""
        #expect(
            covered.contains("COMMIT") && covered.contains("RESET ALL") && covered.contains("DISCARD TEMP"), "\(text)")
    }

    @Test func statementsOfTheLibraryAreSentAsElsewhere() async throws {
        let text = try await sent { client in
            try await client.execute(Statement(text: StatementText("SELECT 'own'"), resultFormat: .text))
        }
        #expect(text.contains("SELECT 'own'") && !text.contains("BEGIN") && !text.contains("RESET ALL"), "\(text)")
    }

    @Test func whatCannotRunInATransactionGoesAlone() async throws {
        let configure: (inout PostgresConfiguration) -> Void = { $0.pooler = .transaction }
        try await withClient(maximumConnections: 1, configure: configure) { client in
            try await client.query("VACUUM note")
            try await client.query("CREATE INDEX CONCURRENTLY note_text ON note (text)")
            try await client.query("DO $$BEGIN INSERT INTO note VALUES (1, 'a'); COMMIT; END$$")
            #expect(try await client.query("SELECT text FROM note")[0].decode(0, as: String.self) == "a")
        }
    }

    @Test func theProgramsOwnTransactionOfALentConnectionGoesOn() async throws {
        let configure: (inout PostgresConfiguration) -> Void = { $0.pooler = .transaction }
        try await withClient(maximumConnections: 1, configure: configure) { client in
            try await client.withConnection { connection in
                try await connection.query("BEGIN")
                try await connection.query("SET LOCAL test.own = 'b'")
                try await connection.query("INSERT INTO note VALUES (2, 'b')")
                let setting = try await connection.query("SELECT current_setting('test.own')")[0]
                #expect(try setting.decode(0, as: String.self) == "b")
                try await connection.query("ROLLBACK")
            }
            #expect(try await client.query("SELECT id FROM note WHERE id = 2").isEmpty)
        }
    }

    @Test(arguments: [
        "SET search_path = public", "SELECT pg_advisory_lock(1)", "CREATE TEMP TABLE a (b int)", "LISTEN a",
        "SELECT set_config('test.mark', 'a', false)",
    ])
    func sqlThatShowsItsNeedIsRefusedUnsent(text: String) async throws {
        let sql = SQL(unsafeRaw: text)
        let sent = try await sent { client in
            await expectPostgresError(.sessionNeeded) { try await client.query(sql) }
            await expectPostgresError(.sessionNeeded) {
                try await client.withTransaction { _ = try await $0.query(sql) }
            }
            await expectPostgresError(.sessionNeeded) {
                try await client.withConnection { _ = try await $0.query(sql) }
            }
            if text.hasPrefix("SELECT") {
                await expectPostgresError(.sessionNeeded) { for try await _ in try client.stream(sql) {} }
            }
            try await client.query("SELECT 'sent'")
        }
        #expect(sent.contains("SELECT 'sent'") && !sent.contains(text))
        try await withClient(maximumConnections: 1) { client in
            try await client.withConnection { _ = try await $0.query(sql) }
        }
    }

    @Test func whatBecameStaleIsSentOnceMore() async throws {
        let configure: (inout PostgresConfiguration) -> Void = {
            $0.pooler = .transaction
            $0.statementCacheCapacity = 10
        }
        try await withClient(maximumConnections: 1, configure: configure) { client in
            try await client.query("INSERT INTO note VALUES (3, 'c')")
            var statement = try ("SELECT * FROM note" as SQL).statement(isProgrammed: false)
            statement.resultFormat = .binary
            for column in ["a", "b", "c"] {
                for _ in 0..<2 {
                    #expect(try await client.execute(statement).count == 1)
                    #expect(try await client.query("SELECT * FROM note").count == 1)
                }
                try await client.query("ALTER TABLE note ADD COLUMN \(identifier: column) int")
            }
            #expect(try await client.execute(statement)[0].count == 5)
        }
    }
}
