import Foundation
import KindredTesting
import Testing

@testable import Kindred
@testable import KindredLive

/// Faults of the server, and changes of its place in time; each test has a server of its own.
@Suite(.timeLimit(.minutes(15))) struct ServerFaultTests {
    @Test("Server immediate stop and crash (UNLOGGED flags empty afterwards)") func crash() async throws {
        // Commits that do not wait for the disk stay off it for long.
        try await RestartableServer.with(settings: ["fsync = on", "wal_writer_delay = 10s"]) { server in
            try await server.withFollowers { followers, other in
                func announce() async throws {
                    try await other.query(
                        """
                        INSERT INTO kindred.tracking_lock (xid, pid, relation, object, announced_by, note)
                        VALUES (pg_current_xact_id(), 1, 'item'::regclass, '1', current_user, '')
                        """)
                }
                let crashes: [() async throws -> Void] = [
                    {
                        try await server.stop(.immediate)
                        try await server.start()
                    },
                    {
                        // Of one session's end all others die, too.
                        let session = try await other.query("SELECT pg_backend_pid()")[0].decode(0, as: Int32.self)
                        try await server.signal(SIGKILL, process: try #require(session))
                    },
                ]
                for (number, crash) in crashes.enumerated() {
                    let id = Int32(100 + 10 * number)
                    try await announce()
                    try await eventually("the reader does not sleep") {
                        try await other.value("SELECT is_asleep FROM kindred.tracking_status()") == true
                    }
                    try await other.query("INSERT INTO item VALUES (\(id), 1, 1)")
                    // Whether a crash takes these back is not certain.
                    try await other.withConnection { writer in
                        try await writer.query("SET synchronous_commit = off")
                        for value in Int32(0)..<5 {
                            try await writer.query("INSERT INTO item VALUES (\(id + 1 + value), \(value), 2)")
                            try await writer.query("UPDATE item SET value = \(value) WHERE id = 1")
                        }
                        try await writer.query("RESET synchronous_commit")
                    }
                    try await crash()
                    try await eventually("announcements are left") {
                        (try? await other.value("SELECT count(*) FROM kindred.tracking_lock")) == .integer(0)
                    }
                    // Transactions of numbers that were given before.
                    for value in Int32(0)..<5 { try await other.query("UPDATE item SET value = \(value) WHERE id = 2") }
                    try await followers.expectAgreement()
                }
                #expect(followers.database.tracking.metrics.gaps.isEmpty)
            }
        }
    }

    @Test("Restore to an earlier point (xid goes back)") func restore() async throws {
        try await RestartableServer.with { server in
            try await server.withFollowers { followers, other in
                func restart(_ script: String) async throws {
                    try await server.stop(.fast)
                    try await server.run("cd \(server.folder) && \(script)")
                    try await server.start()
                    try await other.waitForServer()
                }
                func useNumbers() async throws {
                    try await other.query(
                        "DO $$ BEGIN FOR i IN 1..5000 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$")
                }
                let everything = Followers.Gap(.foreignCursor, "item", "leaf", "parent")
                try await other.query("INSERT INTO item VALUES (100, 1, 1)")
                try await followers.expectAgreement()
                try await restart("cp -a data earlier")
                try await other.query("INSERT INTO item VALUES (101, 1, 1)")
                try await other.query("UPDATE item SET value = 50 WHERE id = 1")
                try await other.query("DELETE FROM item WHERE id = 100")
                try await useNumbers()
                try await followers.expectAgreement()
                let cursor = followers.cursor
                try await restart("rm -rf data && cp -a earlier data")
                try await followers.expectAgreement(after: everything)
                try await other.query("UPDATE item SET value = 60 WHERE id = 2")
                try await followers.expectAgreement()
                // By recovery, which begins a timeline: the numbers of transactions may be beyond the cursor's.
                try await restart(
                    """
                    rm -rf data && cp -a earlier data && touch data/recovery.signal &&
                    echo "restore_command = 'false'" >>data/postgresql.conf
                    """)
                try await followers.expectAgreement(after: everything)
                for _ in 0..<3 { try await useNumbers() }
                var changes = try await followers.database.makeContext().changes(of: "item", since: cursor)
                    .makeAsyncIterator()
                #expect(try await changes.seen(followers.database) == .everything(.foreignCursor, ["item"]))
                try await other.query("INSERT INTO item VALUES (102, 1, 1)")
                #expect(try await changes.seen(followers.database) == .inserted("item 102"))
                try await followers.expectAgreement()
            }
        }
    }

    @Test("Dump and restore") func dumpAndRestore() async throws {
        try await RestartableServer.with { server in
            try await server.withFollowers { followers, other in
                try await other.query("INSERT INTO item VALUES (100, 1, 1)")
                try await followers.expectAgreement()
                let cursor = followers.cursor
                _ = try await followers.database.makeContext().changes(of: ["item"], consumer: "index")
                let place = "-h \(server.folder) -U postgres"
                try await server.run(
                    """
                    cd \(server.folder) && \(server.programs)/pg_dump \(place) -f dump.sql postgres &&
                    \(server.programs)/createdb \(place) restored &&
                    \(server.programs)/psql \(place) -X -q -v ON_ERROR_STOP=1 -d restored -f dump.sql
                    """)
                var configuration = server.configuration
                configuration.database = "restored"
                try await lend(configuration) { theirs in
                    let database = try await Database.connect(configuration)
                    // The triggers came along; which tables they are of has to be said again.
                    await expectError(.trackingNotEnabled) {
                        _ = try await database.makeContext().changes(of: "item")
                    }
                    try await database.tracking.enable(FaultWorld.tables + ["mark"])
                    try await follow(database, theirs, since: cursor)
                    await database.close(timeout: .seconds(1))
                }
                // The first one goes on, too.
                try await other.query("DELETE FROM item WHERE id = 1")
                try await followers.expectAgreement()
            }
        }
    }

    /// Expects that a restored database is followed, and that cursors of the former database are of no use.
    private func follow(_ database: Database, _ theirs: PostgresClient, since cursor: ChangeCursor) async throws {
        var restored = try await Followers(database, seenBy: theirs)
        let context = database.makeContext()
        var changes = try await context.changes(of: "item", since: cursor).makeAsyncIterator()
        #expect(try await changes.seen(database) == .everything(.foreignCursor, ["item"]))
        var batches = try await context.changes(of: ["item"], consumer: "index").makeAsyncIterator()
        let batch = try await batches.next()
        #expect(batch?.reason == .foreignCursor && batch?.everything.map(\.name) == ["item"])
        try await theirs.query("INSERT INTO item VALUES (101, 1, 1), (102, 2, 2)")
        try await theirs.query("UPDATE item SET value = 9 WHERE id = 1")
        try await theirs.query("DELETE FROM parent WHERE id = 2")
        try await restored.expectAgreement()
        #expect(
            try await changes.seen(database)
                == .changes(inserted: ["item 101"], updated: [:], deleted: ["item 1", "item 3", "item 5"]))
    }

    @Test("Prepared transactions") func prepared() async throws {
        try await RestartableServer.with(settings: ["fsync = on", "max_prepared_transactions = 5"]) { server in
            try await server.withFollowers { followers, other in
                try await other.withConnection { writer in
                    for statement in [
                        "BEGIN", "INSERT INTO item VALUES (100, 1, 1)", "UPDATE item SET value = 50 WHERE id = 1",
                        "SAVEPOINT s", "DELETE FROM item WHERE id = 1", "ROLLBACK TO s", "PREPARE TRANSACTION 'one'",
                        "BEGIN", "DELETE FROM item WHERE id = 2", "INSERT INTO item VALUES (101, 1, 1)",
                        "PREPARE TRANSACTION 'two'",
                    ] {
                        try await writer.query("\(unsafeRaw: statement)")
                    }
                }
                for id in Int32(200)..<220 {
                    try await other.query("INSERT INTO item VALUES (\(id), 1, 1)")
                    if id.isMultiple(of: 5) { try await followers.expectAgreement() }
                }
                try await server.stop(.immediate)
                try await server.start()
                try await other.waitForServer()
                try await followers.expectAgreement()
                try await other.query("COMMIT PREPARED 'one'")
                try await followers.expectAgreement()
                try await other.query("ROLLBACK PREPARED 'two'")
                try await followers.expectAgreement()
                #expect(followers.database.tracking.metrics.gaps.isEmpty)
            }
        }
    }
}
