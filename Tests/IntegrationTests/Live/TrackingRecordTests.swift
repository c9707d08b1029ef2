import Kindred
import KindredLive
import KindredTesting
import Testing

private let schema = """
    CREATE TABLE person (id integer PRIMARY KEY, name text, boss integer REFERENCES person ON UPDATE CASCADE ON DELETE CASCADE,
        about json, place point);
    CREATE TABLE event (id integer, bucket integer, weight integer, PRIMARY KEY (id, bucket)) PARTITION BY RANGE (bucket);
    CREATE TABLE event_0 PARTITION OF event FOR VALUES FROM (0) TO (10);
    CREATE TABLE event_1 PARTITION OF event FOR VALUES FROM (10) TO (20);
    CREATE TABLE base (id integer PRIMARY KEY, a integer);
    CREATE TABLE child (PRIMARY KEY (id), b integer) INHERITS (base);
    CREATE TABLE note (body text);
    CREATE TABLE odd ("n" text, "o" bytea, at timestamptz, fits boolean, keys point, "kindred" json, PRIMARY KEY (at, "o"));
    """

/// Records of the triggers, for each kind of statement.
@Suite(.database(.sql(schema))) struct TrackingRecordTests {
    @Test func eachStatementHasOneRecordWithItsKeys() async throws {
        try await withTracking("person") { _, other, reader in
            try await other.query("INSERT INTO person (id, name) VALUES (1, 'a'), (2, 'b')")
            try await other.query("UPDATE person SET name = 'c' WHERE id = 1")
            try await other.query("UPDATE person SET name = name || 'd', about = '{}', place = '(1,2)'")
            try await other.query("UPDATE person SET name = name")
            try await other.query("UPDATE person SET name = 'x' WHERE false")
            try await other.query("UPDATE person SET id = 3 WHERE id = 2")
            try await other.query("DELETE FROM person WHERE id = 1")
            try await other.query("DELETE FROM person WHERE id = 1")
            try await other.query("TRUNCATE person")
            #expect(
                try await reader.read() == [
                    ChangeRecord("I", "person", ["1", "2"]),
                    ChangeRecord("U", "person", ["1"], columns: ["name"]),
                    ChangeRecord("U", "person", ["2", "1"], columns: ["name", "about", "place"]),
                    ChangeRecord("U", "person", ["2"], newKeys: ["3"], columns: ["id"]),
                    ChangeRecord("D", "person", ["1"]),
                    ChangeRecord("T", "person"),
                ])
            #expect(try await reader.read() == [])
        }
    }

    @Test func conflictsMergesAndCascadesCount() async throws {
        try await withTracking("person") { _, other, reader in
            try await other.query("INSERT INTO person (id) VALUES (1)")
            try await other.query("INSERT INTO person (id) VALUES (1) ON CONFLICT DO NOTHING")
            try await other.query(
                "INSERT INTO person (id) VALUES (1), (2) ON CONFLICT (id) DO UPDATE SET name = 'twice'")
            try await other.query("UPDATE person SET boss = 1 WHERE id = 2")
            _ = try await reader.read()
            try await other.query("UPDATE person SET id = 7 WHERE id = 1")
            // Cascaded changes of a statement in its own table count as the statement's, for its triggers too.
            #expect(
                try await reader.read() == [
                    ChangeRecord("U", "person", ["1", "2"], newKeys: ["7", "2"], columns: ["id", "boss"])
                ])
            try await other.query("DELETE FROM person WHERE id = 7")
            let deleted = try await reader.read()
            #expect(Set(deleted.flatMap { $0.keys ?? [] }) == ["7", "2"] && deleted.allSatisfy { $0.operation == "D" })
            try await other.query(
                "WITH a AS (INSERT INTO person (id) VALUES (10) RETURNING id) INSERT INTO person (id) SELECT id + 1 FROM a"
            )
            #expect(Set(try await reader.read().flatMap { $0.keys ?? [] }) == ["10", "11"])
        }
    }

    @Test func moreThanAThousandKeysAreOneRecord() async throws {
        try await withTracking("person") { _, other, reader in
            try await other.query("INSERT INTO person (id) SELECT generate_series(1, 1000)")
            let thousand = try await reader.read()
            #expect(thousand.count == 1 && thousand.first?.keys?.count == 1_000)
            try await other.query("INSERT INTO person (id) SELECT generate_series(1001, 2001)")
            try await other.query("UPDATE person SET name = 'all'")
            try await other.query("DELETE FROM person")
            #expect(
                try await reader.read() == [
                    ChangeRecord("I", "person"), ChangeRecord("U", "person"), ChangeRecord("D", "person"),
                ])
        }
    }

    @Test func partitionsCountAsTheirRoot() async throws {
        try await withTracking("event") { _, other, reader in
            try await other.query("INSERT INTO event VALUES (1, 1, 1), (2, 11, 1)")
            try await other.query("INSERT INTO event_1 VALUES (3, 12, 1)")
            try await other.query("UPDATE event SET bucket = 15 WHERE id = 1")
            try await other.query("DELETE FROM event_1 WHERE id = 3")
            #expect(
                try await reader.read() == [
                    ChangeRecord("I", "event", ["1", "1", "2", "11"]),
                    ChangeRecord("I", "event", ["3", "12"]),
                    ChangeRecord("U", "event", ["1", "1"], newKeys: ["1", "15"], columns: ["bucket"]),
                    ChangeRecord("D", "event", ["3", "12"]),
                ])
        }
    }

    @Test func aMoveThatATriggerPreventsNamesNoRows() async throws {
        try await withTracking("event") { _, other, reader in
            try await other.query("INSERT INTO event VALUES (1, 1, 1)")
            try await other.query("CREATE FUNCTION stop() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'")
            try await other.query(
                "CREATE TRIGGER stop BEFORE INSERT ON event_1 FOR EACH ROW EXECUTE FUNCTION stop()")
            _ = try await reader.read()
            try await other.query("UPDATE event SET bucket = 15")
            #expect(try await reader.read() == [ChangeRecord("U", "event")])
        }
    }

    @Test func changesThroughAParentNameItsChildren() async throws {
        try await withTracking("child") { _, other, reader in
            try await other.query("INSERT INTO base VALUES (1, 1)")
            try await other.query("INSERT INTO child VALUES (2, 2, 2)")
            try await other.query("UPDATE base SET a = a + 1 WHERE id = 2")
            try await other.query("DELETE FROM child")
            #expect(
                try await reader.read() == [
                    ChangeRecord("I", "base", ["1"]), ChangeRecord("I", "child", ["2"]),
                    ChangeRecord("U", "base"), ChangeRecord("U", "child"),
                    ChangeRecord("D", "child", ["2"]),
                ])
        }
    }

    @Test func aTableWithoutAKeyNamesNoRows() async throws {
        try await withTracking("note") { _, other, reader in
            try await other.query("INSERT INTO note VALUES ('a')")
            try await other.query("UPDATE note SET body = 'b'")
            #expect(try await reader.read() == [ChangeRecord("I", "note"), ChangeRecord("U", "note")])
        }
    }

    @Test func keysDoNotDependOnTheWritersSettings() async throws {
        try await withTracking("odd") { _, other, reader in
            try await other.withTransaction { _ in
                try await other.query("SET LOCAL DateStyle = 'SQL, DMY'")
                try await other.query("SET LOCAL TimeZone = 'Asia/Tokyo'")
                try await other.query("SET LOCAL bytea_output = 'escape'")
                try await other.query(
                    "INSERT INTO odd VALUES ('n', '\\x00ff', '2026-01-02 03:04:05Z', true, '(1,2)', '{}')")
                try await other.query("UPDATE odd SET keys = '(3,4)', \"kindred\" = '[]'")
            }
            let key = ["2026-01-02 03:04:05+00", "\\x00ff"]
            #expect(
                try await reader.read() == [
                    ChangeRecord("I", "odd", key), ChangeRecord("U", "odd", key, columns: ["keys", "kindred"]),
                ])
        }
    }

    @Test func statementsInTriggersAreMarkedByTheirDepth() async throws {
        try await withTracking("person") { _, other, reader in
            try await other.query(
                """
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
                    'BEGIN DELETE FROM person WHERE id = new.id; RETURN NULL; END'
                """)
            try await other.query(
                "CREATE TRIGGER refuse AFTER INSERT ON person FOR EACH ROW EXECUTE FUNCTION refuse()")
            let cursor = reader.cursor
            try await other.query("INSERT INTO person (id) VALUES (1)")
            #expect(
                try await reader.read() == [ChangeRecord("D", "person", ["1"]), ChangeRecord("I", "person", ["1"])])
            let depths = try await other.query(
                "SELECT depth FROM kindred.tracking_read(\(cursor)::text::pg_snapshot) WHERE op IN ('I', 'D')")
            #expect(try depths.map { try $0.decode(0, as: Int16.self) } == [2, 1])
        }
    }

    @Test func writersNeedNoRight() async throws {
        try await withTracking("person") { _, other, reader in
            let role = "kindred_writer_\(UInt32.random(in: 0..<UInt32.max))"
            try await other.query("CREATE ROLE \(identifier: role)")
            try await other.query("GRANT INSERT ON person TO \(identifier: role)")
            try await other.withTransaction { _ in
                try await other.query("SET LOCAL ROLE \(identifier: role)")
                try await other.query("INSERT INTO person (id) VALUES (1)")
            }
            await #expect(throws: PostgresError.self) {
                try await other.withTransaction { _ in
                    try await other.query("SET LOCAL ROLE \(identifier: role)")
                    try await other.query("SELECT * FROM kindred.tracking_outbox_0")
                }
            }
            #expect(try await reader.read() == [ChangeRecord("I", "person", ["1"])])
            try await other.query("DROP OWNED BY \(identifier: role)")
            try await other.query("DROP ROLE \(identifier: role)")
        }
    }
}
