import CommandSupport
import KindredTesting
import Testing

@testable import Kindred
@testable import KindredLive

/// An older version of the helper schema is upgraded in place.
@Suite(.database(.sql(versionedTables)), .timeLimit(.minutes(5))) struct UpgradeTests {
    @Test func tablesRecordsAndCursorsStay() async throws {
        try await withVersionOne("person", "reading", "document") { database, other, reader in
            let epoch = try await other.value("SELECT epoch::text FROM kindred.tracking_state")
            #expect(try await other.installedVersion() == .integer(1))
            try await other.query("INSERT INTO person VALUES (1, 'a')")
            try await other.query("INSERT INTO reading VALUES (1, 'a')")
            // The upgrade does not wait for a writer whose records are not committed yet.
            try await other.withTransaction { _ in
                try await other.query("INSERT INTO person VALUES (2, 'b')")
                try await database.tracking.install()
                try await other.query("INSERT INTO person VALUES (3, 'c')")
            }
            try await other.query("UPDATE person SET name = 'z' WHERE id = 1")
            try await other.query("DELETE FROM reading")
            try await other.query("INSERT INTO letter VALUES (1, 'x')")
            #expect(
                try await reader.read() == [
                    ChangeRecord("I", "person", ["1"]), ChangeRecord("I", "reading", ["1"]),
                    ChangeRecord("I", "person", ["2"]), ChangeRecord("I", "person", ["3"]),
                    ChangeRecord("U", "person", ["1"], columns: ["name"]), ChangeRecord("D", "reading", ["1"]),
                    ChangeRecord("I", "letter", ["1"]),
                ])
            #expect(reader.refusal == nil)
            #expect(try await other.installedVersion() == .integer(Int64(Tracking.version)))
            #expect(try await other.value("SELECT epoch::text FROM kindred.tracking_state") == epoch)
            // Programs of the older version go on beside.
            #expect(try await other.value("SELECT compatible FROM kindred.tracking_state") == .integer(1))
            // Nothing is to be mended, and no gap is said.
            #expect(try await other.tablesWithOldFunctions() == [])
            #expect(try await other.values("SELECT fault FROM kindred.tracking_check()") == [])
            #expect(try await reader.read() == [])
        }
    }

    @Test func aConsumerGoesOnWhereItWas() async throws {
        try await withVersionOne("person") { database, other, _ in
            let cursor = try await other.value("SELECT cursor::text FROM kindred.tracking_consumer_begin('index')")
            try await other.query("INSERT INTO person VALUES (1)")
            try await database.tracking.install()
            try await other.query("INSERT INTO person VALUES (2)")
            #expect(
                try await other.values("SELECT cursor::text FROM kindred.tracking_consumer WHERE name = 'index'")
                    == [cursor])
            var batches = try await database.makeContext().changes(of: ["person"], consumer: "index")
                .makeAsyncIterator()
            let batch = try #require(try await batches.next())
            #expect(batch.everything.isEmpty)
            #expect(Set(batch.changes.inserted.flatMap(\.values)) == [.integer(1), .integer(2)])
            try await batch.acknowledge()
        }
    }

    @Test func theUpgradedSchemaIsThatOfANewInstallation() async throws {
        try await withVersionOne("person", "reading", "document") { database, other, _ in
            let old = try await other.helperSchema()
            try await database.tracking.install()
            let upgraded = try await other.helperSchema()
            try await database.tracking.uninstall()
            try await database.tracking.install()
            let new = try await other.helperSchema()
            #expect(new.count > 80 && old != new)
            #expect(Set(upgraded).subtracting(new).sorted() == [])
            #expect(Set(new).subtracting(upgraded).sorted() == [])
        }
    }

    @Test func installingTwiceIsInstallingOnce() async throws {
        try await withVersionOne("person", "reading") { database, other, reader in
            try await other.query("SELECT kindred.tracking_consumer_begin('index')")
            try await other.query("INSERT INTO person VALUES (1)")
            try await database.tracking.install()
            let (schema, rows) = (try await other.helperSchema(), try await other.trackedRows())
            // Writers are not waited for: a transaction of one stays open.
            try await other.withTransaction { _ in
                try await other.query("INSERT INTO person VALUES (2)")
                try await database.tracking.install()
            }
            #expect(try await other.helperSchema() == schema)
            let later = Set(try await other.trackedRows())
            #expect(Set(rows).subtracting(later) == [] && later.count == rows.count + 1)
            #expect(
                try await reader.read() == [ChangeRecord("I", "person", ["1"]), ChangeRecord("I", "person", ["2"])])
        }
    }

    /// A view of the program's needs a function that the upgrade has to drop.
    @Test func aFailingUpgradeLeavesTheOldVersionWhole() async throws {
        try await withVersionOne("person") { database, other, reader in
            try await other.query(
                "CREATE VIEW held AS SELECT c.cursor FROM kindred.tracking_consumer_begin('index') AS c")
            let (schema, rows) = (try await other.helperSchema(), try await other.trackedRows())
            await #expect(throws: PostgresError.self) { try await database.tracking.install() }
            #expect(try await other.helperSchema() == schema)
            #expect(try await other.trackedRows() == rows)
            #expect(try await other.installedVersion() == .integer(1))
            try await other.query("INSERT INTO person VALUES (1)")
            try await other.query("DROP VIEW held")
            try await database.tracking.install()
            #expect(try await reader.read() == [ChangeRecord("I", "person", ["1"])])
        }
    }

    @Test func aDryRunPrintsTheUpgradeAndWritesNothing() async throws {
        try await withVersionOne("person") { _, other, reader in
            let (schema, rows) = (try await other.helperSchema(), try await other.trackedRows())
            let plan = try await runTool("install", "--dry-run").output
            #expect(plan.contains("ALTER TABLE kindred.tracking_state ADD COLUMN IF NOT EXISTS system"))
            #expect(try await other.helperSchema() == schema)
            #expect(try await other.trackedRows() == rows)
            // It is a script that does the upgrade, in one transaction.
            #expect(plan.hasPrefix("BEGIN;") && plan.hasSuffix("COMMIT;\n"), "\(plan.suffix(40))")
            try await other.query("INSERT INTO person VALUES (1)")
            try await other.runScript(plan)
            #expect(try await other.installedVersion() == .integer(Int64(Tracking.version)))
            #expect(try await other.tablesWithOldFunctions() == [])
            #expect(try await reader.read() == [ChangeRecord("I", "person", ["1"])])
        }
    }

    /// Without event triggers no form of the table was noted since: the upgrade must not hide it.
    @Test func aTableThatHasChangedIsLeftToTheCheck() async throws {
        try await withVersionOne("person") { database, other, reader in
            try await other.query("DROP EVENT TRIGGER kindred_tracking_ddl")
            try await other.query("ALTER TABLE person ADD COLUMN age integer")
            try await other.query("INSERT INTO person VALUES (1, 'a', 1)")
            try await database.tracking.install()
            try await other.query("INSERT INTO person VALUES (2, 'b', 2)")
            #expect(
                try await reader.read() == [ChangeRecord("I", "person", ["1"]), ChangeRecord("I", "person", ["2"])])
            #expect(try await other.tablesWithOldFunctions() == [.string("person")])
            #expect(try await other.values("SELECT fault FROM kindred.tracking_check()") == [])
            #expect(try await reader.read() == [ChangeRecord("G", "person", reason: "changed")])
            #expect(try await other.tablesWithOldFunctions() == [])
        }
    }

    @Test func aDisabledTriggerStaysDisabled() async throws {
        try await withVersionOne("person") { database, other, _ in
            try await other.query("ALTER TABLE person DISABLE TRIGGER kindred_tracking_insert")
            try await database.tracking.install()
            #expect(
                try await other.value("SELECT tgenabled::text FROM pg_trigger WHERE tgname = 'kindred_tracking_insert'")
                    == .string("D"))
            #expect(try await database.tracking.status()?.tables.map(\.fault) == ["trigger disabled"])
        }
    }

    @Test func readersMayCallWhatIsNew() async throws {
        try await withVersionOne("person") { database, other, _ in
            let role = "reader_\(UInt32.random(in: 0..<UInt32.max))"
            try await other.query("CREATE ROLE \(identifier: role)")
            try await other.query("SELECT kindred.tracking_grant(\(role)::name)")
            try await database.tracking.install()
            for (function, isAllowed) in [
                ("tracking_locks(oid)", true), ("tracking_consumer_begin(text, interval, name)", true),
                ("tracking_prune()", false),
            ] {
                let may = try await other.value(
                    "SELECT has_function_privilege(\(role)::name, 'kindred.' || \(function)::text, 'EXECUTE')")
                #expect(may == .bool(isAllowed), "\(function)")
            }
            try await other.query("DROP OWNED BY \(identifier: role)")
            try await other.query("DROP ROLE \(identifier: role)")
        }
    }

    /// The sessions of older libraries keep their prepared statements.
    @Test func statementsThatWerePreparedBeforeGoOn() async throws {
        try await withVersionOne("person") { database, other, reader in
            let cursor = reader.cursor
            try await other.withConnection { _ in
                func ask() async throws -> [Int] {
                    let consumer = try await other.query(
                        "SELECT c.cursor::text, c.epoch::text FROM kindred.tracking_consumer_begin('older') AS c")
                    let records = try await other.query(
                        "SELECT r.keys FROM kindred.tracking_read(\(cursor)::text::pg_snapshot) AS r WHERE r.op = 'I'")
                    return [consumer.count, records.count]
                }
                try await other.query("INSERT INTO person VALUES (1)")
                for _ in 0..<3 { #expect(try await ask() == [1, 1]) }
                try await database.tracking.install()
                try await other.query("INSERT INTO person VALUES (2)")
                #expect(try await ask() == [1, 2])
            }
        }
    }
}
