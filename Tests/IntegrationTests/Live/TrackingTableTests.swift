import KindredSchema
import KindredTesting
import Testing

@testable import Kindred
@testable import KindredLive

private let schema = """
    CREATE TABLE person (id integer PRIMARY KEY, code text NOT NULL UNIQUE, age integer);
    CREATE TABLE event (id integer, bucket integer, PRIMARY KEY (id, bucket)) PARTITION BY LIST (bucket);
    CREATE TABLE event_0 PARTITION OF event FOR VALUES IN (0);
    CREATE VIEW grown_up AS SELECT * FROM person WHERE age >= 18;
    CREATE UNLOGGED TABLE scratch (id integer PRIMARY KEY);
    """

/// Tables under tracking that others change.
@Suite(.database(.sql(schema))) struct TrackingTableTests {
    /// The database of a role that may not make event triggers.
    private func withoutEventTriggers(_ client: PostgresClient) async throws {
        try await client.query("DROP EVENT TRIGGER IF EXISTS kindred_tracking_ddl")
        try await client.query("DROP EVENT TRIGGER IF EXISTS kindred_tracking_dropped")
    }

    private func faults(_ client: PostgresClient) async throws -> [String] {
        try await client.query("SELECT name || ': ' || fault FROM kindred.tracking_check()").map {
            try $0.decode(0, as: String.self) ?? ""
        }
    }

    @Test func renamedKeysAndColumnsAreFollowed() async throws {
        try await withTracking("person") { _, other, reader in
            try await withoutEventTriggers(other)
            try await other.query("INSERT INTO person VALUES (1, 'x', 1)")
            // The names change places: nothing fails, and the old key's name is another column's.
            try await other.query("ALTER TABLE person RENAME id TO former")
            try await other.query("ALTER TABLE person RENAME age TO id")
            try await other.query("INSERT INTO person VALUES (2, 'y', 30)")
            try await other.query("UPDATE person SET id = 31 WHERE former = 2")
            try await other.query("ALTER TABLE person DROP COLUMN former CASCADE")
            try await other.query("INSERT INTO person VALUES ('z', 3)")
            #expect(
                try await reader.read() == [
                    ChangeRecord("I", "person", ["1"]), ChangeRecord("I", "person", ["2"]),
                    ChangeRecord("U", "person", ["2"], columns: ["id"]), ChangeRecord("I", "person", ["z"]),
                ])
            #expect(try await faults(other) == [])
            #expect(try await reader.read() == [ChangeRecord("G", "person", reason: "changed")])
        }
    }

    @Test func newPartitionsFollowTheirParent() async throws {
        try await withTracking("event") { _, other, reader in
            try await other.query("CREATE TABLE event_1 PARTITION OF event FOR VALUES IN (1)")
            try await other.query("INSERT INTO event_1 VALUES (7, 1)")
            try await other.query("CREATE TABLE event_2 (bucket integer NOT NULL, id integer NOT NULL)")
            try await other.query("ALTER TABLE event ATTACH PARTITION event_2 FOR VALUES IN (2)")
            try await other.query("INSERT INTO event_2 VALUES (2, 8)")
            #expect(
                try await reader.read() == [
                    ChangeRecord("I", "event", ["7", "1"]), ChangeRecord("I", "event", ["8", "2"]),
                ])
            try await other.query("ALTER TABLE event DETACH PARTITION event_2")
            try await other.query("INSERT INTO event_2 VALUES (2, 9)")
            #expect(try await reader.read() == [ChangeRecord("I", "event_2", ["9", "2"])])
        }
    }

    @Test func aPartitionWithoutTriggersIsAGap() async throws {
        try await withTracking("event") { _, other, reader in
            try await withoutEventTriggers(other)
            try await other.query("CREATE TABLE event_1 PARTITION OF event FOR VALUES IN (1)")
            try await other.query("INSERT INTO event_1 VALUES (7, 1)")
            #expect(try await reader.read() == [])
            #expect(try await faults(other) == [])
            let gaps = try await reader.read()
            #expect(!gaps.isEmpty && gaps.allSatisfy { $0.operation == "G" && $0.table == "event" }, "\(gaps)")
            try await other.query("INSERT INTO event_1 VALUES (8, 1)")
            #expect(try await reader.read() == [ChangeRecord("I", "event", ["8", "1"])])
        }
    }

    @Test(arguments: [true, false])
    func missingAndDisabledTriggersAreGaps(isDisabled: Bool) async throws {
        try await withTracking("person") { database, other, reader in
            try await withoutEventTriggers(other)
            try await other.query(
                isDisabled
                    ? "ALTER TABLE person DISABLE TRIGGER ALL" : "DROP TRIGGER kindred_tracking_insert ON person")
            try await other.query("INSERT INTO person VALUES (1, 'x', 1)")
            let found = try await faults(other)
            #expect(found == (isDisabled ? ["public.person: trigger disabled"] : []))
            let reason = isDisabled ? "trigger disabled" : "trigger missing"
            #expect(try await reader.read() == [ChangeRecord("G", "person", reason: reason)])
            #expect(try await database.tracking.status()?.tables.map(\.fault) == [isDisabled ? reason : nil])
            // The role that disabled it decides.
            if isDisabled { try await database.tracking.enable("person") }
            _ = try await reader.read()
            try await other.query("INSERT INTO person VALUES (2, 'y', 1)")
            #expect(try await reader.read() == [ChangeRecord("I", "person", ["2"])])
        }
    }

    @Test func aTableThatIsMadeAnewIsTrackedAgain() async throws {
        try await withTracking("person") { database, other, reader in
            try await other.query("DROP VIEW grown_up")
            try await other.withTransaction { _ in
                try await other.query("DROP TABLE person")
                try await other.query("CREATE TABLE person (code text PRIMARY KEY)")
                try await other.query("INSERT INTO person VALUES ('a')")
            }
            try await other.query("INSERT INTO person VALUES ('b')")
            #expect(
                try await reader.read() == [ChangeRecord("I", "person", ["a"]), ChangeRecord("I", "person", ["b"])])
            #expect(try await database.tracking.status()?.tables.map(\.key) == [["code"]])
        }
    }

    @Test(arguments: ["grown_up", "scratch", "nothing"])
    func whatCannotBeTrackedIsRefused(_ name: String) async throws {
        try await withTracking("person") { database, _, _ in
            let error = await expectError(name == "nothing" ? .unknownEntity : .untrackable) {
                try await database.tracking.enable(name)
            }
            #expect(name == "nothing" || error?.message.contains("cannot be tracked") == true)
        }
    }

    @Test func aTableThatIsDroppedAfterItsNameWasReadIsAnError() async throws {
        try await withTracking("person") { _, other, _ in
            let gone = QualifiedName(schema: "public", name: "gone")
            for statement in [
                TrackingStatements.enable(gone), TrackingStatements.disable(gone),
                TrackingStatements.statements(toEnable: gone), TrackingStatements.statements(toDisable: gone),
            ] {
                let error = await expectPostgresError(.server) { try await other.query(statement) }
                #expect(error?.sqlState == .undefinedTable)
            }
        }
    }

    @Test func policiesHideKeys() async throws {
        try await withTracking("person") { database, other, reader in
            let role = "kindred_reader_\(UInt32.random(in: 0..<UInt32.max))"
            try await other.query("CREATE ROLE \(identifier: role)")
            try await other.query("GRANT SELECT ON person TO \(identifier: role)")
            try await database.tracking.install(readers: [role])
            let cursor = reader.cursor
            try await other.query("INSERT INTO person VALUES (1, 'x', 1)")
            func seen() async throws -> [PostgresValue?] {
                try await other.withTransaction { _ in
                    try await other.query("SET LOCAL ROLE \(identifier: role)")
                    return try await other.query(
                        "SELECT keys[1] FROM kindred.tracking_read(\(cursor)::text::pg_snapshot) WHERE op = 'I'"
                    ).map { try $0[0] }
                }
            }
            #expect(try await seen() == [.string("1")])
            try await other.query("ALTER TABLE person ENABLE ROW LEVEL SECURITY")
            #expect(try await seen() == [nil])
            try await other.query("REVOKE SELECT ON person FROM \(identifier: role)")
            #expect(try await seen() == [])
            try await other.query("DROP OWNED BY \(identifier: role)")
            try await other.query("DROP ROLE \(identifier: role)")
        }
    }

    /// A table that stays dropped is no fault for ever.
    @Test(arguments: ["disable", "prune", "reader"]) func aDroppedTableIsForgotten(by what: String) async throws {
        try await withDatabase { database, _, other in
            try await database.tracking.install()
            try await other.query("CREATE TABLE passing (id integer PRIMARY KEY)")
            try await database.tracking.enable("passing", "person")
            try await other.query("DROP TABLE passing")
            try await other.query("SELECT FROM kindred.tracking_check()")
            func faults() async throws -> [String?] { try await database.tracking.status()?.tables.map(\.fault) ?? [] }
            #expect(try await faults() == ["dropped", nil])
            switch what {
            case "disable": try await database.tracking.disable("passing")
            case "prune": try await database.tracking.prune()
            default:
                // Whoever makes it again within the retention finds it tracked.
                try await other.query("SELECT FROM kindred.tracking_check()")
                #expect(try await faults() == ["dropped", nil])
                try await other.query("UPDATE kindred.tracking_table SET gap_at = gap_at - interval '2 hours'")
                try await other.query("SELECT FROM kindred.tracking_check()")
            }
            #expect(try await faults() == [nil])
            #expect(
                try await other.value("SELECT count(*) FROM pg_proc WHERE proname LIKE 'tracking\\_note\\_%'")
                    == .integer(1))
            await expectError(.unknownEntity) { try await database.tracking.disable("passing") }
        }
    }

    /// Equal names in other schemas, and names that look alike, are other tables'.
    @Test func aDroppedTableIsForgottenByItsOwnName() async throws {
        try await withDatabase { database, _, other in
            try await database.tracking.install()
            let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}")
            try await other.query("CREATE SCHEMA stock")
            for name in ["stock.person", #"public."\#(composed)""#, #"public."\#(decomposed)""#] {
                try await other.query(SQL(unsafeRaw: "CREATE TABLE \(name) (id integer PRIMARY KEY)"))
            }
            try await database.tracking.enable("stock.person", "person", composed, decomposed)
            func tracked() async throws -> [PostgresValue?] {
                try await other.values("SELECT schema_name || '.' || table_name FROM kindred.tracking_table ORDER BY 1")
            }
            try await other.query("DROP TABLE stock.person")
            try await other.query(SQL(unsafeRaw: #"DROP TABLE "\#(decomposed)""#))
            // The search path leads to the table that is there.
            try await database.tracking.disable("person", decomposed)
            let (own, others) = (PostgresValue.string("public.\(composed)"), PostgresValue.string("stock.person"))
            #expect(try await tracked() == [own, others])
            // All or nothing.
            await expectError(.unknownEntity) { try await database.tracking.disable("stock.person", decomposed) }
            #expect(try await tracked() == [own, others])
            try await database.tracking.disable("stock.person")
            #expect(try await tracked() == [own])
        }
    }
}
