import Kindred
import KindredLive
import KindredTesting
import Testing

private let schema = """
    CREATE TYPE mood AS ENUM ('calm', 'glad', 'wild');
    CREATE TABLE region (id integer PRIMARY KEY, name text NOT NULL);
    CREATE TABLE person (
        id integer PRIMARY KEY, nick text NOT NULL, age integer, mood mood,
        region_id integer REFERENCES region);
    CREATE TABLE email (id integer PRIMARY KEY, address text NOT NULL, person_id integer REFERENCES person ON DELETE CASCADE);
    INSERT INTO region VALUES (1, 'a'), (2, 'b');
    INSERT INTO person VALUES
        (1, 'ann', 10, 'calm', 1), (2, 'bob', 20, 'glad', 2), (3, 'cid', 30, NULL, 1), (4, 'dee', NULL, 'wild', NULL);
    INSERT INTO email VALUES (1, 'a@x', 1), (2, 'b@x', 2);
    """

/// Many live requests of one shape, whose conditions only the server can evaluate.
@Suite(.database(.sql(schema)), .timeLimit(.minutes(10))) struct LiveShapeTests {
    private typealias Updates = LiveRequest<DatabaseObject>.AsyncIterator

    /// The statements that live requests ask because of changes while `body` runs.
    private func statements(of database: Database, _ body: () async throws -> Void) async throws -> Int {
        try await database.tracking.catchUp()
        let before = database.tracking.metrics.statements
        try await body()
        try await database.tracking.catchUp()
        return database.tracking.metrics.statements - before
    }

    @Test(arguments: [2, 100]) func oneStatementAsksForAllRequestsOfAShape(count: Int) async throws {
        try await withLive("person") { database, context, other in
            var lists: [Updates] = []
            for age in 0..<count {
                lists.append(
                    try await context.fetch("person").where("age > %@", age).sorted("id").live().makeAsyncIterator())
            }
            for place in lists.indices {
                #expect(try await lists[place].update().integers().contains(1) == (place < 10))
            }
            let asked = try await statements(of: database) {
                try await other.query("UPDATE person SET age = 50 WHERE id = 1")
            }
            #expect(asked == 1)
            for place in lists.indices where place < 50 {
                let update = try await lists[place].update()
                #expect(update.integers().first == 1 && update.cause == .change)
                #expect(place < 10 ? update.updates == [0] : update.insertions == [0])
            }
            let askedAfter = try await statements(of: database) {
                try await other.query("DELETE FROM person WHERE id = 1")
            }
            // A row that is gone is not asked for.
            #expect(askedAfter == 0)
            for place in lists.indices where place < 50 {
                #expect(try await lists[place].update().removals == [0])
            }
        }
    }

    @Test func eachShapeIsAskedByItself() async throws {
        try await withLive("person", "region", "email") { database, context, other in
            let region = try await context.fetch("region").where("id = %@", 1).one()
            // Each with several values: the conditions of one line have one shape.
            let shapes: [[(String, [any PropertyValue])]] = [
                [("age > %@", [5]), ("age > %@", [25])],
                [("nick LIKE %@", ["a*"]), ("nick LIKE %@", ["?o*"]), ("nick LIKE %@", ["*%*"])],
                [("age >= %@ AND mood = %@", [5, "glad"]), ("age >= %@ AND mood = %@", [60, "wild"])],
                [("region.name = %@", ["a"]), ("region.name = %@", ["b"])],
                [("region = %@ AND age < %@", [region, 15]), ("region = %@ AND age < %@", [region, 99])],
                [("ANY emailSet.address = %@", ["a@x"]), ("ANY emailSet.address = %@", ["none"])],
                [("age > %@ OR mood = %@", [25, "calm"]), ("age > %@ OR mood = %@", [50, "wild"])],
            ]
            var lists: [(format: String, arguments: [any PropertyValue], updates: Updates)] = []
            for (format, arguments) in shapes.joined() {
                var updates = try await context.fetch("person").where(format, arguments: arguments).sorted("id").live()
                    .makeAsyncIterator()
                _ = try await updates.update()
                lists.append((format, arguments, updates))
            }
            let changes: [SQL] = [
                "UPDATE person SET age = 60, mood = 'wild', nick = 'zoe' WHERE id = 2",
                "INSERT INTO person VALUES (5, 'aon%', 12, 'glad', 1)",
                "UPDATE person SET region_id = 2, mood = 'calm', age = 7 WHERE id = 3",
            ]
            for change in changes {
                let asked = try await statements(of: database) { try await other.query(change) }
                #expect(asked == shapes.count, "\(change)")
            }
            for place in lists.indices {
                let list = lists[place]
                let wanted = try await database.makeContext().fetch("person")
                    .where(list.format, arguments: list.arguments).sorted("id").all().map { $0["id"] }
                // An equal request is answered by the result that was corrected row by row, without a statement.
                var check = try await context.fetch("person").where(list.format, arguments: list.arguments).sorted("id")
                    .live().makeAsyncIterator()
                #expect(try await check.update().values("id") == wanted, "\(list.format)")
            }
        }
    }

    @Test func prefetchedRowsAreAskedOnceForAll() async throws {
        try await withLive("person", "email") { database, context, other in
            var lists: [Updates] = []
            for age in [5, 15, 25] {
                let request = try context.fetch("person").where("age > %@", age).sorted("id").prefetch("emailSet")
                lists.append(try await request.live().makeAsyncIterator())
                _ = try await lists[lists.count - 1].update()
            }
            let asked = try await statements(of: database) {
                try await other.query("UPDATE person SET age = age + 1 WHERE id < 3")
            }
            #expect(asked == 2)
            func addresses(_ update: LiveUpdate<DatabaseObject>) async throws -> [[PostgresValue?]] {
                var found: [[PostgresValue?]] = []
                for person in update.objects {
                    found.append(try await person.set(forKey: "emailSet").objects.map { $0["address"] })
                }
                return found
            }
            #expect(try await addresses(lists[0].update()) == [[.string("a@x")], [.string("b@x")], []])
            #expect(try await addresses(lists[1].update()) == [[.string("b@x")], []])
        }
    }

    /// The value of one request lets its condition fail: the others of its shape go on.
    @Test func aRequestThatFailsLeavesThoseOfItsShape() async throws {
        try await withLive("person") { database, context, other in
            var lists: [Updates] = []
            for number in [1, 2, 3] {
                let request = try context.fetch("person").where("100 / (age - %@) > 0", number).sorted("id")
                lists.append(try await request.live().makeAsyncIterator())
                #expect(try await lists[lists.count - 1].update().integers() == [1, 2, 3])
            }
            try await other.query("UPDATE person SET age = 2 WHERE id = 3")
            #expect(try await lists[0].update().updates == [2])
            do {
                _ = try await lists[1].update()
                Issue.record("nothing was thrown")
            } catch {
                #expect("\(error)".contains("zero"))
            }
            #expect(try await lists[2].update().removals == [2])
            let asked = try await statements(of: database) {
                try await other.query("UPDATE person SET age = 31 WHERE id = 3")
            }
            #expect(asked == 1)
            #expect(try await lists[0].update().updates == [2])
            #expect(try await lists[2].update().insertions == [2])
        }
    }

    @Test func listsOfValuesAreComparedAsAWhole() async throws {
        try await withLive("person") { database, context, other in
            // The arrays are equal in the first two, and another array in the third.
            var first = try await live(context, 5, [10, 20])
            var second = try await live(context, 15, [10, 20])
            var third = try await live(context, 15, [30])
            #expect(try await first.update().integers() == [1, 2])
            #expect(try await second.update().integers() == [2])
            #expect(try await third.update().integers() == [3])
            let asked = try await statements(of: database) {
                try await other.query("UPDATE person SET age = 20 WHERE id = 3")
            }
            #expect(asked == 2)
            #expect(try await first.update().integers() == [1, 2, 3])
            #expect(try await second.update().integers() == [2, 3])
            #expect(try await third.update().integers() == [])
        }
    }

    private func live(_ context: DatabaseContext, _ age: Int, _ ages: [Int]) async throws -> Updates {
        try await context.fetch("person").where("age > %@ AND age IN %@", arguments: [age, ages]).sorted("id").live()
            .makeAsyncIterator()
    }
}
