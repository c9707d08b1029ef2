import Foundation
import KindredSchema
import KindredTesting
import Testing

@testable import Kindred
@testable import KindredLive

private let schema = """
    CREATE TABLE person (id integer PRIMARY KEY, name text, age integer);
    CREATE TABLE email (id integer PRIMARY KEY, person_id integer REFERENCES person ON DELETE CASCADE);
    CREATE TABLE log (text text);
    CREATE VIEW adult AS SELECT * FROM person WHERE age >= 18;
    """

/// An element, by keys alone.
enum Seen: Equatable {
    case changes(inserted: [String], updated: [String: Set<String>], deleted: [String])
    case everything(Tracking.Gap, [String])

    init(_ element: ChangeSequence.Element) {
        switch element {
        case .changes(let changes):
            self = .changes(
                inserted: changes.inserted.map(Self.text).sorted(),
                updated: Dictionary(uniqueKeysWithValues: changes.updated.map { (Self.text($0), $1) }),
                deleted: changes.deleted.map(Self.text).sorted())
        case .everything(let gap, let entities, _): self = .everything(gap, entities.map(\.name))
        }
    }

    static func inserted(_ ids: String...) -> Seen { .changes(inserted: ids, updated: [:], deleted: []) }

    private static func text(_ id: ObjectID) -> String {
        "\(id.entity.name) \(id.values.map(\.description).joined(separator: ","))"
    }
}

extension ChangeSequence.AsyncIterator {
    /// The next element, after all that was committed until now has been read.
    mutating func seen(_ database: Database) async throws -> Seen? {
        try await database.tracking.catchUp()
        return try await next().map(Seen.init)
    }
}

extension ChangeSequence.Element {
    var cursor: ChangeCursor? {
        switch self {
        case .changes(let changes): changes.cursor
        case .everything(_, _, let cursor): cursor
        }
    }
}

/// `context.changes(of:since:)`.
@Suite(.database(.sql(schema)), .timeLimit(.minutes(5))) struct ChangeSequenceTests {
    @Test func netEffectsOfWholeTransactionsAreTold() async throws {
        try await withLive("person", "email") { database, context, other in
            var changes = try await context.changes(of: "person", "email").makeAsyncIterator()
            try await other.withTransaction { _ in
                try await other.query("INSERT INTO person VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 3)")
                try await other.query("INSERT INTO email VALUES (10, 1)")
                try await other.query("DELETE FROM person WHERE id = 3")
            }
            #expect(try await changes.seen(database) == .inserted("email 10", "person 1", "person 2"))
            try await other.query("UPDATE person SET age = 5, name = name WHERE id = 2")
            try await other.query("UPDATE person SET id = 7 WHERE id = 2")
            try await other.query("DELETE FROM person WHERE id = 1")
            #expect(
                try await changes.seen(database)
                    == .changes(inserted: ["person 7"], updated: [:], deleted: ["email 10", "person 1", "person 2"]))
            try await other.query("UPDATE person SET age = 6 WHERE id = 7")
            #expect(
                try await changes.seen(database)
                    == .changes(inserted: [], updated: ["person 7": ["age"]], deleted: []))
        }
    }

    @Test func aTriggersChangeIsAddedToThatOfItsStatement() async throws {
        try await withLive("person") { database, context, other in
            try await other.runScript(
                """
                CREATE FUNCTION undo() RETURNS trigger LANGUAGE plpgsql AS
                    $$ BEGIN DELETE FROM person WHERE id = NEW.id AND NEW.age < 0; RETURN NULL; END $$;
                CREATE TRIGGER undo AFTER INSERT ON person FOR EACH ROW EXECUTE FUNCTION undo();
                CREATE FUNCTION replace() RETURNS trigger LANGUAGE plpgsql AS
                    $$ BEGIN DELETE FROM person WHERE id = NEW.id; RETURN NEW; END $$;
                INSERT INTO person VALUES (5, 'five', 5);
                CREATE TRIGGER replace BEFORE INSERT ON person FOR EACH ROW EXECUTE FUNCTION replace();
                """)
            var changes = try await context.changes(of: "person").makeAsyncIterator()
            // Deleted again by the trigger after it, and replaced by the trigger before it: the same records.
            try await other.query("INSERT INTO person VALUES (1, 'gone', -1)")
            try await other.query("INSERT INTO person VALUES (5, 'new', 5)")
            #expect(
                try await changes.seen(database)
                    == .changes(inserted: [], updated: ["person 5": ["id", "name", "age"]], deleted: []))
        }
    }

    @Test func aCursorGoesOnInAnotherProcess() async throws {
        try await withLive("person") { database, context, other in
            let sequence = try await context.changes(of: "person")
            let start = try JSONDecoder().decode(ChangeCursor.self, from: JSONEncoder().encode(sequence.cursor))
            try await other.query("INSERT INTO person VALUES (1, 'a', 1)")
            let first = try #require(try await sequence.first { _ in true })
            try await other.query("INSERT INTO person VALUES (2, 'b', 2)")
            let later = try await Database.connect(database.client.configuration)
            var all = try await later.makeContext().changes(of: "person", since: start).makeAsyncIterator()
            #expect(try await all.seen(later) == .inserted("person 1", "person 2"))
            var rest = try await later.makeContext().changes(of: "person", since: first.cursor).makeAsyncIterator()
            #expect(try await rest.seen(later) == .inserted("person 2"))
            try await other.query("INSERT INTO person VALUES (3, 'c', 3)")
            #expect(try await rest.seen(later) == .inserted("person 3"))
            #expect(try await all.seen(later) == .inserted("person 3"))
            await later.close()
        }
    }

    @Test func manyRecordsSinceACursorComeInPieces() async throws {
        try await withLive("person") { database, context, other in
            let start = try await context.changes(of: "person").cursor
            try await other.query(
                """
                DO $$ BEGIN
                    FOR i IN 1..25000 LOOP INSERT INTO person VALUES (i); COMMIT; END LOOP;
                END $$
                """)
            // Fewer than there are: what the consumer has not taken is not read either.
            var changes = try await context.changes(of: ["person"], since: start, bufferingAtMost: 15_000)
                .makeAsyncIterator()
            var seen: Set<ObjectID> = []
            while seen.count < 25_000 {
                guard case .changes(let piece)? = try await changes.next() else {
                    Issue.record("everything")
                    return
                }
                #expect(piece.inserted.count <= 10_000 && seen.isDisjoint(with: piece.inserted))
                seen.formUnion(piece.inserted)
            }
            try await other.query("DELETE FROM person WHERE id = 1")
            #expect(
                try await changes.seen(database) == .changes(inserted: [], updated: [:], deleted: ["person 1"]))
        }
    }

    @Test func aKilledConnectionLosesNothing() async throws {
        try await withLive("person") { database, context, other in
            var changes = try await context.changes(of: "person").makeAsyncIterator()
            for id in 1...20 {
                try await other.query("INSERT INTO person VALUES (\(Int32(id)))")
                try await other.query(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE datname = current_database() AND pid <> pg_backend_pid()
                    """)
                #expect(try await changes.next().map(Seen.init) == .inserted("person \(id)"))
            }
            #expect(database.tracking.metrics.gaps.isEmpty)
        }
    }

    @Test func aBulkStatementIsEverythingOnce() async throws {
        try await withLive("person", "email") { database, context, other in
            var changes = try await context.changes(of: "person", "email").makeAsyncIterator()
            try await other.withTransaction { _ in
                try await other.query("INSERT INTO person SELECT i FROM generate_series(1, 1001) AS i")
                try await other.query("UPDATE person SET age = 1")
                try await other.query("INSERT INTO email VALUES (1, 1)")
            }
            #expect(try await changes.seen(database) == .inserted("email 1"))
            #expect(try await changes.next().map(Seen.init) == .everything(.bulk, ["person"]))
            try await other.query("INSERT INTO person VALUES (2000)")
            #expect(try await changes.seen(database) == .inserted("person 2000"))
            try await other.query("TRUNCATE person CASCADE")
            #expect(try await changes.seen(database) == .everything(.bulk, ["email", "person"]))
        }
    }

    @Test func theOtherEntitiesChangesHaveNoCursorOfTheirOwn() async throws {
        try await withLive("person", "email") { database, context, other in
            var changes = try await context.changes(of: "person", "email").makeAsyncIterator()
            try await other.withTransaction { _ in
                try await other.query("INSERT INTO person SELECT i FROM generate_series(1, 1001) AS i")
                try await other.query("INSERT INTO email VALUES (1, 1)")
            }
            try await database.tracking.catchUp()
            #expect(try await changes.next()?.cursor == nil)
            #expect(try await changes.next()?.cursor != nil)
        }
    }

    @Test func aSlowConsumerIsToldEverythingOnce() async throws {
        try await withLive("person", "email") { database, context, other in
            var slow = try await context.changes(of: ["person", "email"], bufferingAtMost: 10).makeAsyncIterator()
            var quick = try await context.changes(of: ["person"], bufferingAtMost: 10).makeAsyncIterator()
            for id in 1...11 {
                try await other.query("INSERT INTO person VALUES (\(Int32(id)))")
                #expect(try await quick.seen(database) == .inserted("person \(id)"))
            }
            #expect(try await slow.seen(database) == .everything(.overflow, ["email", "person"]))
            try await other.query("INSERT INTO person VALUES (100)")
            #expect(try await slow.seen(database) == .inserted("person 100"))
            // A change that undoes itself takes no place.
            for _ in 1...20 {
                try await other.query("INSERT INTO person VALUES (200)")
                try await database.tracking.catchUp()
                try await other.query("DELETE FROM person WHERE id = 200")
                try await database.tracking.catchUp()
            }
            try await other.query("INSERT INTO person VALUES (300)")
            #expect(try await slow.seen(database) == .inserted("person 300"))
        }
    }

    @Test func aUselessCursorIsEverythingOnce() async throws {
        try await withLive("person") { database, context, other in
            let good = try await context.changes(of: "person").cursor
            let future = ChangeCursor(
                epoch: good.epoch, system: good.system, timeline: good.timeline, database: good.database,
                snapshot: "4000000000:4000000000:")
            let foreign = ChangeCursor(
                epoch: good.epoch, system: good.system ^ 1, timeline: good.timeline, database: good.database,
                snapshot: good.snapshot)
            for (cursor, reason) in [(future, Tracking.Gap.foreignCursor), (foreign, .foreignCursor)] {
                var changes = try await context.changes(of: "person", since: cursor).makeAsyncIterator()
                #expect(try await changes.seen(database) == .everything(reason, ["person"]))
                try await other.query("INSERT INTO person VALUES (1)")
                #expect(try await changes.seen(database) == .inserted("person 1"))
                try await other.query("DELETE FROM person")
            }
            try await database.tracking.prune()
            var changes = try await context.changes(of: "person", since: good).makeAsyncIterator()
            #expect(try await changes.seen(database) == .everything(.expired, ["person"]))
            try await other.query("INSERT INTO person VALUES (2)")
            #expect(try await changes.seen(database) == .inserted("person 2"))
        }
    }

    @Test func anEmptiedOutboxIsSaidToTheReadersThatRun() async throws {
        try await withLive("person") { database, context, other in
            var changes = try await context.changes(of: "person").makeAsyncIterator()
            try await database.tracking.prune()
            #expect(try await changes.next().map(Seen.init) == .everything(.expired, ["person"]))
            try await other.query("INSERT INTO person VALUES (1)")
            #expect(try await changes.seen(database) == .inserted("person 1"))
        }
    }

    @Test func tablesThatAreNotEnabledAreAllNamed() async throws {
        try await withDatabase { database, context, _ in
            await expectError(.trackingNotInstalled) { _ = try await context.changes(of: "person") }
            try await database.tracking.install()
            let error = await expectError(.trackingNotEnabled) { _ = try await context.changes(of: "person", "email") }
            #expect(error?.message.contains("public.email, public.person") == true)
            await expectError(.untrackable) { _ = try await context.changes(of: "log") }
            await expectError(.untrackable) { _ = try await context.changes(of: "adult") }
            await expectError(.unknownEntity) { _ = try await context.changes(of: "persons") }
        }
    }

    @Test func policiesRefuseKeys() async throws {
        try await withLive("person") { database, _, other in
            let role = "kindred_reader_\(UInt32.random(in: 0..<UInt32.max))"
            try await other.query("CREATE ROLE \(identifier: role) LOGIN")
            try await other.query("GRANT SELECT ON person TO \(identifier: role)")
            try await database.tracking.install(readers: [role])
            var configuration = database.client.configuration
            configuration.user = role
            let limited = try await Database.connect(configuration)
            var changes = try await limited.makeContext().changes(of: "person").makeAsyncIterator()
            try await other.query("INSERT INTO person VALUES (1)")
            #expect(try await changes.seen(limited) == .inserted("person 1"))
            try await other.query("ALTER TABLE person ENABLE ROW LEVEL SECURITY")
            let error = await expectError(.accessDenied) {
                _ = try await limited.makeContext().changes(of: "person")
            }
            #expect(error?.message.contains("live()") == true)
            // A sequence that runs already gets no more keys.
            try await other.query("INSERT INTO person VALUES (2)")
            guard case .everything? = try await changes.seen(limited) else {
                Issue.record("a key was told")
                return
            }
            await limited.close()
            try await other.query("DROP OWNED BY \(identifier: role)")
            try await other.query("DROP ROLE \(identifier: role)")
        }
    }

    @Test func nothingIsReadOnceNobodyFollows() async throws {
        try await withLive("person") { database, context, _ in
            do {
                var changes: ChangeSequence? = try await context.changes(of: "person")
                #expect(changes != nil && database.live.changeReaderReference.withLock { $0.object != nil })
                changes = nil
            }
            try await eventually("the reader goes on") {
                database.live.changeReaderReference.withLock { $0.object == nil }
            }
            // No subscriber is left.
            try await database.tracking.catchUp()
        }
    }

    @Test func aCancelledConsumerEnds() async throws {
        try await withLive("person") { _, context, _ in
            let changes = try await context.changes(of: "person")
            let task = Task {
                for try await _ in changes {}
                return true
            }
            try await Task.sleep(for: .milliseconds(20))
            task.cancel()
            #expect(try await task.value)
        }
    }

    @Test func afterUninstallingASequenceEndsWithTheReason() async throws {
        try await withLive("person") { database, context, _ in
            var changes = try await context.changes(of: "person").makeAsyncIterator()
            try await database.tracking.uninstall()
            await expectError(.trackingNotInstalled) {
                while try await changes.next() != nil {}
            }
        }
    }

    /// The server has no better code for a function or table that is dropped while a statement uses it.
    @Test func anInternalErrorOfAReadingIsNoEnd() async throws {
        try await withLive("person") { database, context, other in
            var changes = try await context.changes(of: "person").makeAsyncIterator()
            let retries = database.live.trackingMetrics.withLock { $0.retries }
            // In one transaction each time: a reading that finds no function ends the sequence.
            try await other.withTransaction { _ in
                try await other.query("ALTER FUNCTION kindred.tracking_caller() RENAME TO tracking_caller_kept")
                try await other.query(
                    """
                    CREATE FUNCTION kindred.tracking_caller() RETURNS name LANGUAGE plpgsql AS $$ BEGIN
                        RAISE EXCEPTION 'cache lookup failed for function 1' USING ERRCODE = 'XX000';
                    END $$
                    """)
            }
            database.changeReader.askForStep()
            try await eventually("a reading fails") { database.live.trackingMetrics.withLock { $0.retries } > retries }
            try await other.withTransaction { _ in
                try await other.query("DROP FUNCTION kindred.tracking_caller()")
                try await other.query("ALTER FUNCTION kindred.tracking_caller_kept() RENAME TO tracking_caller")
            }
            try await other.query("INSERT INTO person VALUES (1)")
            #expect(try await changes.seen(database) == .inserted("person 1"))
        }
    }

    @Test func aChangedTableIsFollowedOn() async throws {
        try await withLive("person") { database, context, other in
            try await other.query("INSERT INTO person VALUES (1)")
            var changes = try await context.changes(of: "person").makeAsyncIterator()
            try await other.query("ALTER TABLE person ADD COLUMN nick text")
            #expect(try await changes.seen(database) == .everything(.schemaChanged, ["person"]))
            try await other.query("UPDATE person SET nick = 'x'")
            #expect(
                try await changes.seen(database)
                    == .changes(inserted: [], updated: ["person 1": ["nick"]], deleted: []))
            // Keys of another type: the model was read again.
            try await other.query("DROP VIEW adult")
            try await other.query("ALTER TABLE person ALTER id TYPE bigint")
            #expect(try await changes.seen(database) == .everything(.schemaChanged, ["person"]))
            try await eventually("the model stays") {
                try database.schema.entity(named: "person").attributes.first { $0.name == "id" }?.type == .int8
            }
            try await other.query("INSERT INTO person VALUES (5000000000)")
            #expect(try await changes.seen(database) == .inserted("person 5000000000"))
        }
    }

    @Test func aStandbyIsRefused() async throws {
        try await RestartableServer.with(settings: ["fsync = on"]) { primary in
            try await lend(primary.configuration) { client in
                try await client.runScript("CREATE TABLE person (id integer PRIMARY KEY)")
                try await Tracking(client).install()
                try await Tracking(client).enable("person")
            }
            let standby = try await RestartableServer(following: primary)
            do {
                try await standby.start()
                let database = try await Database.connect(standby.configuration)
                try await eventually("the table does not arrive") {
                    try await database.refreshSchema().entities.contains { $0.name.name == "person" }
                }
                await expectError(.trackingOnStandby) { _ = try await database.makeContext().changes(of: "person") }
                await database.close()
            } catch {
                try? await standby.remove()
                throw error
            }
            try await standby.remove()
        }
    }

    @Test func changesOfTheSchemaAreToldAfterTheModelWasReadAgain() async throws {
        try await withLive("person") { database, _, other in
            let told = Task {
                try await database.schemaChanges.first { _ in true }
            }
            // The event comes only once it listens.
            try await eventually("nobody follows") { database.tracking.metrics.readings > 0 }
            try await other.query("ALTER TABLE person ADD COLUMN nick text")
            let names = try #require(try await told.value)
            #expect(names.contains(QualifiedName(schema: "public", name: "person")))
            #expect(try database.schema.entity(named: "person").attributeIndex(of: "nick") != nil)
        }
    }
}
