import Kindred
import KindredLive
import KindredTesting
import Testing

private let schema = """
    CREATE TABLE region (id integer PRIMARY KEY, name text NOT NULL, note text);
    CREATE TABLE person (
        id integer PRIMARY KEY, nick text NOT NULL, age integer, region_id integer REFERENCES region);
    CREATE TABLE email (
        id integer PRIMARY KEY, address text NOT NULL, person_id integer REFERENCES person ON DELETE CASCADE);
    CREATE TABLE tag (id integer PRIMARY KEY, name text NOT NULL);
    CREATE TABLE person_tag (
        person_id integer REFERENCES person ON DELETE CASCADE, tag_id integer REFERENCES tag ON DELETE CASCADE,
        PRIMARY KEY (person_id, tag_id));
    CREATE TABLE log (line text);
    CREATE VIEW grown_up AS SELECT * FROM person WHERE age >= 18;
    CREATE MATERIALIZED VIEW counted AS SELECT count(*) AS n FROM person;
    INSERT INTO region VALUES (1, 'a'), (2, 'b'), (3, 'c');
    INSERT INTO person VALUES (1, 'ann', 10, 1), (2, 'bob', 20, 2), (3, 'cid', 30, 3), (4, 'dee', NULL, NULL);
    INSERT INTO email VALUES (1, 'a@x', 1), (2, 'b@x', 1), (3, 'c@x', 2);
    INSERT INTO tag VALUES (1, 'red'), (2, 'blue');
    INSERT INTO person_tag VALUES (1, 1), (1, 2), (2, 1);
    """

/// Live requests, and changes of other clients meanwhile.
@Suite(.database(.sql(schema)), .timeLimit(.minutes(10))) struct LiveRequestTests {
    @Test func theFirstUpdateIsTheResult() async throws {
        try await withLive("person") { _, context, other in
            let live = try await context.fetch("person").where("age > %@", 15).sorted("age").live()
            try await other.query("UPDATE person SET age = 40 WHERE id = 2")
            var updates = live.makeAsyncIterator()
            let first = try await updates.update()
            #expect(first.integers() == [3, 2] && first.cause == .first)
            #expect(first.removals == [] && first.insertions == [] && first.updates == [])
            #expect(first.difference.isEmpty)
        }
    }

    @Test func eachChangeIsTheLeastDifference() async throws {
        try await withLive("person") { _, context, other in
            var updates = try await context.fetch("person").where("age > %@", 5).sorted("age").live()
                .makeAsyncIterator()
            #expect(try await updates.update().integers() == [1, 2, 3])
            try await other.query("INSERT INTO person VALUES (5, 'eve', 15)")
            var update = try await updates.update()
            #expect(update.integers() == [1, 5, 2, 3] && update.insertions == [1] && update.removals == [])
            #expect(update.cause == .change)
            try await other.query("UPDATE person SET age = 99 WHERE id = 1")
            update = try await updates.update()
            #expect(update.integers() == [5, 2, 3, 1])
            #expect(update.moves.map(\.from) == [0] && update.moves.map(\.to) == [3] && update.updates == [3])
            #expect(update.removals == [0] && update.insertions == [3] && update.removedIDs == [])
            // Nothing of the list changes: nothing is given for it.
            try await other.query("UPDATE person SET nick = 'x' WHERE id = 4")
            try await other.query("UPDATE person SET nick = nick WHERE id = 5")
            try await other.query("DELETE FROM person WHERE id = 2")
            update = try await updates.update()
            #expect(update.integers() == [5, 3, 1] && update.removals == [1] && update.insertions == [])
            #expect(update.updates == [] && update.removedIDs.map(\.values) == [[.integer(2)]])
            #expect(update.difference.removals.count == 1)
            try await other.query("UPDATE person SET id = 50 WHERE id = 5")
            update = try await updates.update()
            #expect(update.integers() == [50, 3, 1] && update.removals == [0] && update.insertions == [0])
        }
    }

    @Test func objectsChangeOnlyWhileTheNextUpdateIsAskedFor() async throws {
        try await withLive("person", "email") { _, context, other in
            let request = try context.fetch("person").sorted("id").prefetch("emailSet")
            var updates = try await request.live().makeAsyncIterator()
            let first = try await updates.update()
            let (ann, bob) = (first.objects[0], first.objects[1])
            func addresses(_ person: DatabaseObject) async throws -> [PostgresValue?] {
                try await person.set(forKey: "emailSet").objects.map { $0["address"] }
            }
            try await other.query("UPDATE person SET nick = 'new' WHERE id = 1")
            try await other.query("UPDATE email SET person_id = 2, address = 'z@x' WHERE id = 1")
            let (_, recorder) = try await recordingStatements {
                let shown = try await addresses(ann)
                #expect(ann["nick"] == .string("ann") && shown == [.string("a@x"), .string("b@x")])
            }
            #expect(recorder.statements == [])
            var update = try await updates.update()
            // Two transactions may come as one update or as two.
            if try await addresses(bob).count == 1 { update = try await updates.update() }
            #expect(update.objects[0] === ann && ann["nick"] == .string("new"))
            #expect(try await addresses(ann) == [.string("b@x")])
            #expect(try await addresses(bob) == [.string("z@x"), .string("c@x")])
        }
    }

    @Test func unaskedUpdatesAreMerged() async throws {
        try await withLive("person") { _, context, other in
            let request = try context.fetch("person").sorted("id")
            var updates = try await request.live().makeAsyncIterator()
            var watch = try await request.live().makeAsyncIterator()
            _ = try await (updates.update(), watch.update())
            try await other.query("INSERT INTO person VALUES (5, 'eve')")
            _ = try await watch.update()
            try await other.query("DELETE FROM person WHERE id = 5")
            _ = try await watch.update()
            try await other.query("INSERT INTO person VALUES (6, 'fay')")
            let seen = try await watch.update()
            let update = try await updates.update()
            #expect(update.integers() == [1, 2, 3, 4, 6] && update.insertions == [4])
            #expect(update.cursor.changes == seen.cursor.changes)
        }
    }

    @Test func updatesComeNotMoreOftenThanWanted() async throws {
        try await withLive("person") { _, context, other in
            let live = try await context.fetch("person").sorted("id").live(atMostEvery: .milliseconds(400))
            var updates = live.makeAsyncIterator()
            _ = try await updates.update()
            let start = ContinuousClock.now
            for id in 10..<15 { try await other.query("INSERT INTO person VALUES (\(id), 'x')") }
            let update = try await updates.update()
            #expect(ContinuousClock.now - start >= .milliseconds(300))
            #expect(!update.insertions.isEmpty)
        }
    }

    @Test func equalRequestsGiveTheSameUpdates() async throws {
        try await withLive("person", "region") { database, context, other in
            func request(_ context: DatabaseContext) throws -> FetchRequest<DatabaseObject> {
                try context.fetch("person").where("region.name < %@", "c").sorted("nick")
            }
            var first = try await request(context).live().makeAsyncIterator()
            var second = try await request(database.makeContext()).live().makeAsyncIterator()
            var third = try await context.fetch("person").sorted("region.name").live().makeAsyncIterator()
            #expect(try await first.update().integers() == [1, 2])
            #expect(try await second.update().integers() == [1, 2])
            _ = try await third.update()
            try await other.query("UPDATE region SET name = 'd' WHERE id = 1")
            let updates = try await (first.update(), second.update(), third.update())
            #expect(updates.0.integers() == [2] && updates.1.integers() == [2] && updates.2.integers() == [2, 3, 1, 4])
            #expect(updates.0.cursor == updates.1.cursor && updates.0.cursor.changes == updates.2.cursor.changes)
            #expect(updates.0.objects[0] !== updates.1.objects[0])
        }
    }

    @Test func relatedRowsMoveObjectsInOutAndAlong() async throws {
        try await withLive("person", "email", "region", "tag", "person_tag") { _, context, other in
            var byEmail = try await context.fetch("person").where("ANY emailSet.address LIKE %@", "*@y").sorted("id")
                .live().makeAsyncIterator()
            var byRegion = try await context.fetch("person").where("region != NULL").sorted("region.name").live()
                .makeAsyncIterator()
            var byTag = try await context.fetch("person").where("ANY tagSet.name = %@", "blue").live()
                .makeAsyncIterator()
            #expect(try await byEmail.update().integers() == [])
            #expect(try await byRegion.update().integers() == [1, 2, 3])
            #expect(try await byTag.update().integers() == [1])
            try await other.query("UPDATE email SET address = 'c@y' WHERE id = 3")
            #expect(try await byEmail.update().integers() == [2])
            try await other.query("DELETE FROM email WHERE id = 3")
            #expect(try await byEmail.update().integers() == [])
            try await other.query("UPDATE region SET name = 'z' WHERE id = 1")
            let update = try await byRegion.update()
            #expect(update.integers() == [2, 3, 1] && update.moves.count == 1 && update.updates == [])
            try await other.query("INSERT INTO person_tag VALUES (3, 2)")
            #expect(try await byTag.update().integers() == [1, 3])
            try await other.query("UPDATE tag SET name = 'green' WHERE id = 2")
            #expect(try await byTag.update().integers() == [])
        }
    }

    @Test func partsOfAListFollowIt() async throws {
        try await withLive("person") { _, context, other in
            var updates = try await context.fetch("person").sorted("nick").offset(1).limit(2).live().makeAsyncIterator()
            #expect(try await updates.update().integers() == [2, 3])
            try await other.query("INSERT INTO person VALUES (9, 'aaa')")
            let update = try await updates.update()
            #expect(update.integers() == [1, 2] && update.removals == [1] && update.insertions == [0])
        }
    }

    @Test func aListWithoutOrderNeverMoves() async throws {
        try await withLive("person") { _, context, other in
            var updates = try await context.fetch("person").where("nick != %@", "").live().makeAsyncIterator()
            let first = try await updates.update().integers()
            try await other.query("INSERT INTO person VALUES (0, 'new')")
            #expect(try await updates.update().integers() == first + [0])
            try await other.query("UPDATE person SET nick = 'x' WHERE id = 1")
            let update = try await updates.update()
            #expect(update.integers() == first + [0] && update.moves == [] && update.updates.count == 1)
        }
    }

    @Test func aBulkChangeAsksAnew() async throws {
        try await withLive("person") { _, context, other in
            var updates = try await context.fetch("person").where("age = %@", 7).live().makeAsyncIterator()
            #expect(try await updates.update().objects.isEmpty)
            try await other.query("INSERT INTO person SELECT i, 'x', 7 FROM generate_series(100, 1200) AS i")
            var update = try await updates.update()
            #expect(update.objects.count == 1_101 && update.cause == .everything(.bulk))
            try await other.query("UPDATE person SET age = 8 WHERE id = 100")
            update = try await updates.update()
            #expect(update.objects.count == 1_100 && update.cause == .change && update.removals == [0])
        }
    }

    @Test func manyListsByForeignKeyFollowTheirRows() async throws {
        try await withLive("email") { _, context, other in
            var lists: [LiveRequest<DatabaseObject>.AsyncIterator] = []
            for id in 1...4 {
                lists.append(try await context.fetch("email").where("person_id = %@", id).live().makeAsyncIterator())
            }
            var first: [[Int64?]] = []
            for place in lists.indices { first.append(try await lists[place].update().integers()) }
            #expect(first == [[1, 2], [3], [], []])
            try await other.query("UPDATE email SET person_id = 3 WHERE id = 2")
            let left = try await lists[0].update()
            #expect(left.integers() == [1] && left.removals == [1])
            #expect(try await lists[2].update().integers() == [2])
            try await other.query("UPDATE email SET address = 'new' WHERE id = 3")
            #expect(try await lists[1].update().updates == [0])
            try await other.query("INSERT INTO email VALUES (9, 'n@x', 4)")
            #expect(try await lists[3].update().integers() == [9])
            try await other.query("DELETE FROM email WHERE person_id = 3")
            #expect(try await lists[2].update().integers() == [])
        }
    }

    @Test func viewsFollowTheirTables() async throws {
        try await withLive("person") { _, context, other in
            var updates = try await context.fetch("grown_up").sorted("id").live().makeAsyncIterator()
            #expect(try await updates.update().integers() == [2, 3])
            try await other.query("UPDATE person SET age = 18 WHERE id = 1")
            let update = try await updates.update()
            #expect(update.integers() == [1, 2, 3] && update.insertions == [0])
        }
    }

    // MARK: Errors

    @Test func tablesThatAreNotTrackedAreNamed() async throws {
        try await withLive("person") { _, context, _ in
            let error = await expectError(.trackingNotEnabled) {
                _ = try await context.fetch("person").where("ANY tagSet.name = %@", "x").prefetch("emailSet").live()
            }
            for name in ["public.email", "public.person_tag", "public.tag"] {
                #expect(error?.message.contains(name) == true)
            }
            #expect(error?.message.contains("public.person ") == false)
        }
    }

    @Test func withoutTrackingThereIsAnError() async throws {
        try await withDatabase { _, context, _ in
            await expectError(.trackingNotInstalled) { _ = try await context.fetch("person").live() }
        }
    }

    @Test func whatCannotBeFollowedIsRefusedByName() async throws {
        try await withLive("person", "log") { _, context, _ in
            func refuses(_ request: FetchRequest<DatabaseObject>, _ words: String) async {
                let error = await expectError(.invalidRequest) { _ = try await request.live() }
                #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
            }
            await refuses(try context.fetch("log"), "public.log has no key")
            await refuses(try context.fetch("counted"), "public.counted is a materialized view")
            await refuses(try context.fetch("person").lock(), "cannot lock rows")
            await refuses(try context.fetch("person").limit(-1), "negative")
        }
    }

    @Test func objectsAreReadOnly() async throws {
        try await withLive("person", "tag", "person_tag") { _, context, other in
            var updates = try await context.fetch("person").sorted("id").prefetch("tagSet").live().makeAsyncIterator()
            let ann = try await updates.update().objects[0]
            func refuses(_ body: () async throws -> Void) async {
                let error = await expectError(.readOnly, body)
                #expect(error?.message.contains("context.get(id)") == true)
            }
            await refuses { try await ann.setValue("new", forKey: "nick") }
            await refuses { try await ann.context.delete(ann) }
            await refuses { try ann.context.stageDeletion(of: ann) }
            await refuses { _ = try ann.context.add("person", ["id": 77, "nick": "x"]) }
            let tags = try await ann.set(forKey: "tagSet")
            let red = try await tags.objects[0]
            await refuses { try await tags.remove(red) }
            await refuses { try await ann.context.fetch("person").delete() }
            ann["nick"] = .string("new")
            #expect(ann["nick"] == .string("ann"))
            // The object of another context can be changed.
            let id = try #require(ann.objectID)
            try await context.get(id).setValue("new", forKey: "nick")
            #expect(try await updates.update().values("nick")[0] == .string("new"))
            #expect(try await other.value("SELECT count(*) FROM person") == .integer(4))
        }
    }

    @Test func aRequestThatFailsLeavesTheOthers() async throws {
        try await withLive("person", "region") { _, context, other in
            let failing = try await context.fetch("region").where("note = NULL").live()
            var lost = failing.makeAsyncIterator()
            var updates = try await context.fetch("person").sorted("id").live().makeAsyncIterator()
            _ = try await (lost.update(), updates.update())
            try await other.query("ALTER TABLE region DROP COLUMN note")
            try await other.query("UPDATE region SET name = 'x' WHERE id = 1")
            await expectError(.schemaChanged) { _ = try await lost.update() }
            try await other.query("UPDATE person SET nick = 'x' WHERE id = 1")
            #expect(try await updates.update().updates == [0])
        }
    }

    @Test func aCancelledTaskEndsItsIteration() async throws {
        try await withLive("person") { _, context, _ in
            let live = try await context.fetch("person").live()
            let task = Task {
                var count = 0
                for try await _ in live { count += 1 }
                return count
            }
            try await Task.sleep(for: .milliseconds(300))
            task.cancel()
            await #expect(throws: CancellationError.self) { _ = try await task.value }
        }
    }
}
