import Kindred
import KindredLive
import KindredTesting
import Testing

/// Calls that need what a server lacks: each says so, and what to do.
@Suite struct MissingCapabilityTests {
    private static let schema = """
        CREATE TABLE seat (
            id integer PRIMARY KEY, number integer NOT NULL CONSTRAINT number UNIQUE DEFERRABLE, note text);
        CREATE TABLE task (id integer PRIMARY KEY);
        CREATE TABLE note (id integer PRIMARY KEY);
        COMMENT ON TABLE note IS '@kindred {"optimisticLocking": "xmin"}';
        INSERT INTO seat SELECT i, i FROM generate_series(1, 4) AS i;
        INSERT INTO task VALUES (1);
        """

    /// Lends the test's database behind a proxy that refuses statements.
    ///
    /// - Parameter isAsked: whether such a statement is sent.
    private func withServer(
        refusing text: String, _ message: String = "it is not supported", state: String = "0A000", isAsked: Bool = true,
        _ body: (Database, DatabaseContext) async throws -> Void
    ) async throws {
        let proxy = try RefusingProxy(refusing: text, message, state: state)
        try await lend(try await Database.connect(proxy.configuration)) { try await body($0, $0.makeContext()) }
        #expect((proxy.count > 0) == isAsked)
    }

    @Test(.database) func listening() async throws {
        let proxy = try RefusingProxy(refusing: "LISTEN \"orders\"")
        try await lend(proxy.configuration) { client in
            let error = await expectPostgresError(.unsupported) { _ = try await client.listen(to: "orders") }
            #expect(error?.message.hasPrefix("The server refuses LISTEN and NOTIFY: it is not supported. ") == true)
            #expect(error?.sqlState == .featureNotSupported && error?.mayHaveTakenEffect == false)
        }
    }

    @Test(.database("CREATE TABLE note (id integer)")) func nestedTransactions() async throws {
        let proxy = try RefusingProxy(refusing: "SAVEPOINT")
        try await lend(proxy.configuration) { (client) async throws in
            let error = await expectPostgresError(.unsupported) {
                try await client.withTransaction { _ in
                    try await client.query("INSERT INTO note VALUES (1)")
                    try await client.withTransaction { _ in try await client.query("INSERT INTO note VALUES (2)") }
                }
            }
            #expect(error?.message.contains("Do not nest transactions") == true)
            #expect(try await client.value("SELECT count(*) FROM note") == 0)
        }
    }

    @Test(.database("CREATE TABLE note (id integer)")) func binaryCopies() async throws {
        let proxy = try RefusingProxy(refusing: "FORMAT binary")
        try await lend(proxy.configuration) { client in
            let out = await expectPostgresError(.unsupported) {
                for try await _ in try client.copyOut("COPY note TO STDOUT (FORMAT binary)") {}
            }
            let into = await expectPostgresError(.unsupported) {
                try await client.copyIn(
                    "COPY note FROM STDIN (FORMAT binary)", from: client.copyOut("COPY note TO STDOUT"))
            }
            for error in [out, into] { #expect(error?.message.contains("Copy with FORMAT csv or text") == true) }
            try await expectUsable(client)
        }
    }

    @Test(.database("CREATE TABLE note (id integer)")) func commitsThatAreTracked() async throws {
        let role = "lacking_\(UInt32.random(in: 0..<UInt32.max))"
        try await withClient { admin in
            try await admin.query("CREATE ROLE \(identifier: role) LOGIN")
            try await admin.query("GRANT INSERT ON note TO \(identifier: role)")
            try await admin.query("REVOKE EXECUTE ON FUNCTION pg_current_wal_insert_lsn() FROM PUBLIC")
            var configuration = try PostgresConfiguration(uri: TestDatabase.current.uri)
            configuration.user = role
            try await lend(configuration) { client in
                let error = await expectPostgresError(.unsupported) {
                    _ = try await client.withTransaction(tracksCommit: true) { _ in
                        try await client.query("INSERT INTO note VALUES (1)")
                    }
                }
                #expect(error?.message.contains("without tracksCommit") == true)
                try await client.withTransaction { _ in try await client.query("INSERT INTO note VALUES (2)") }
            }
            #expect(try await admin.values("SELECT id FROM note") == [2])
            try await admin.query("DROP OWNED BY \(identifier: role)")
            try await eventually("the role is unused") {
                (try? await admin.query("DROP ROLE \(identifier: role)")) != nil
            }
        }
    }

    @Test(.database(.sql(schema)), arguments: ["0A000", "42601"])
    func locksThatSkip(state: String) async throws {
        try await withServer(refusing: "SKIP LOCKED", "no SKIP LOCKED here", state: state) { _, context in
            let task = try #require(try await context.find("task", 1))
            let error = await expectError(.unsupported) {
                try await context.transaction {
                    _ = try await context.fetch("task").lock(.forUpdate, .skipLocked).all()
                }
            }
            #expect(error?.message.contains("Lock with .wait or .noWait") == true && error?.entity == "public.task")
            await expectError(.unsupported) { _ = try await context.lockedObjects(among: [task]) }
            try await context.transaction { try await task.lock(.forUpdate) }
        }
    }

    @Test(.database(.sql(schema))) func versionsInXmin() async throws {
        try await withServer(refusing: "xmin", "column t.xmin does not exist", state: "42703") { _, context in
            let error = await expectError(.unsupported) { _ = try await context.fetch("note").all() }
            #expect(error?.message.contains(#"{"version": true}"#) == true && error?.entity == "public.note")
        }
    }

    @Test(.database(.sql(schema))) func valuesThatChangeHands() async throws {
        try await withServer(refusing: "SET CONSTRAINTS") { _, context in
            let seats = try await context.fetch("seat").sorted("id").all()
            seats[0]["number"] = 2
            seats[1]["number"] = 1
            seats[1]["note"] = "changed"
            let error = await expectPostgresError(.unsupported) { try await context.save() }
            #expect(error?.message.contains("one after the other") == true)
            #expect(seats[0].hasStagedChanges && seats[1].hasStagedChanges)
        }
    }

    @Test(.database(.sql(schema))) func eventTriggersOfTracking() async throws {
        try await withServer(refusing: "CREATE EVENT TRIGGER") { (database, _) async throws in
            let error = await expectError(.unsupported) { try await database.tracking.install() }
            #expect(error?.message.contains("a role that is no superuser") == true)
            #expect(try await database.tracking.status() == nil)
        }
    }

    @Test(.database(.sql(schema))) func trackingNeedsNoAdvisoryLocks() async throws {
        try await withServer(refusing: "pg_advisory_xact_lock", isAsked: false) { database, _ in
            try await database.tracking.install()
            #expect(try await database.tracking.status()?.version == Tracking.version)
        }
    }

    /// The server makes the triggers inside a function of the helper schema, so that an event trigger refuses them here.
    @Test(.database(.sql(schema))) func triggersOfTracking() async throws {
        try await withDatabase { database, _, admin in
            try await database.tracking.install()
            try await admin.runScript(
                """
                CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS
                    $$ BEGIN RAISE 'transition tables are not supported' USING ERRCODE = '0A000'; END $$;
                CREATE EVENT TRIGGER refuse ON ddl_command_start WHEN TAG IN ('CREATE TRIGGER') EXECUTE FUNCTION refuse();
                """)
            let error = await expectError(.unsupported) { try await database.tracking.enable("task") }
            #expect(error?.message.contains("Change tracking and live requests need them") == true)
            #expect(try await database.tracking.status()?.tables.isEmpty == true)
        }
    }
}
