import Kindred
import KindredLive
import KindredTesting
import Testing

private let schema = """
    CREATE TABLE person (id integer PRIMARY KEY, nick text NOT NULL, age integer NOT NULL);
    CREATE TABLE email (
        id integer PRIMARY KEY, address text NOT NULL, person_id integer NOT NULL REFERENCES person ON DELETE CASCADE);
    CREATE TABLE photo (id integer PRIMARY KEY, album integer NOT NULL, place integer NOT NULL);
    CREATE FOREIGN DATA WRAPPER elsewhere;
    CREATE SERVER elsewhere FOREIGN DATA WRAPPER elsewhere;
    CREATE FOREIGN TABLE far (id integer NOT NULL) SERVER elsewhere;
    CREATE VIEW farther AS SELECT * FROM person WHERE id IN (SELECT id FROM far);
    INSERT INTO person SELECT i, 'p' || i, i * 5 FROM generate_series(1, 12) AS i;
    INSERT INTO email SELECT i, 'e' || i, 1 + i % 12 FROM generate_series(1, 20) AS i;
    INSERT INTO photo VALUES (1, 1, 1), (2, 1, 2), (3, 2, 1), (4, 2, 2), (5, 3, 1);
    """

/// Live requests of one program beside each other, and the consequences of their lists.
@Suite(.database(.sql(schema)), .timeLimit(.minutes(10))) struct LiveAgreementTests {
    /// A person as an update shows it.
    private struct Shown: Equatable, Sendable {
        let id: Int64?
        let nick: PostgresValue?
        let age: Int64?
        let emails: [PostgresValue?]
    }

    /// All that an iteration shows until it has a row with the last name, by cursor.
    private static func shown(
        _ live: LiveRequest<DatabaseObject>, until last: String
    ) async throws -> [ChangeCursor: [Shown]] {
        var all: [ChangeCursor: [Shown]] = [:]
        for try await update in live {
            var rows: [Shown] = []
            for (object, numbers) in zip(update.objects, zip(update.integers(), update.integers("age"))) {
                let emails = try await object.set(forKey: "emailSet").objects.map { $0["address"] }
                rows.append(Shown(id: numbers.0, nick: object["nick"], age: numbers.1, emails: emails))
            }
            all[update.cursor.changes] = rows
            if rows.contains(where: { $0.nick == .string(last) }) { break }
        }
        return all
    }

    @Test func requestsOfOneProgramAgree() async throws {
        try await withLive("person", "email") { database, context, other in
            func live(_ condition: String?, in context: DatabaseContext) async throws -> LiveRequest<DatabaseObject> {
                let request = try context.fetch("person").sorted("age").prefetch("emailSet")
                return try await (condition.map { try request.where($0) } ?? request).live()
            }
            // The same request twice, a request by values of a row, a request that only the server decides, and a
            // request of another shape.
            let conditions: [(condition: String?, holds: @Sendable (Shown) -> Bool)] = [
                (nil, { _ in true }), (nil, { _ in true }), ("age > 30", { $0.age.map { $0 > 30 } ?? false }),
                ("age > 10", { $0.age.map { $0 > 10 } ?? false }),
                ("nick LIKE \"p*\" OR nick = \"last\"", { _ in true }),
            ]
            var tasks: [Task<[ChangeCursor: [Shown]], any Error>] = []
            for (condition, _) in conditions {
                let live = try await live(condition, in: database.makeContext())
                tasks.append(Task { try await Self.shown(live, until: "last") })
            }
            var random = SystemRandomNumberGenerator()
            for round in 0..<80 {
                let id = Int.random(in: 1...16, using: &random)
                let age = Int.random(in: 1...70, using: &random)
                switch Int.random(in: 0..<5, using: &random) {
                case 0: try await other.query("DELETE FROM person WHERE id = \(id)")
                case 1:
                    try await other.query(
                        "INSERT INTO person VALUES (\(id), \("p\(round)"), \(age)) ON CONFLICT (id) DO UPDATE SET age = \(age)"
                    )
                case 2:
                    try await other.query(
                        "INSERT INTO email SELECT \(100 + round), 'n', id FROM person ORDER BY id LIMIT 1")
                case 3: try await other.query("UPDATE email SET address = \("a\(round)") WHERE person_id = \(id)")
                default: try await other.query("UPDATE person SET age = \(age) WHERE id % 4 = \(id % 4)")
                }
                if round.isMultiple(of: 8) { try await database.tracking.catchUp() }
            }
            try await other.query("INSERT INTO person VALUES (99, 'last', 69)")
            var shown: [[ChangeCursor: [Shown]]] = []
            for task in tasks { shown.append(try await task.value) }
            var compared = 0
            for (list, condition) in zip(shown, conditions).dropFirst() {
                for (cursor, rows) in list {
                    guard let all = shown[0][cursor] else { continue }
                    compared += 1
                    #expect(rows == all.filter(condition.holds), "\(condition.condition ?? "all")")
                }
            }
            // The last change concerned each of them.
            #expect(compared >= conditions.count - 1)
            let ids = try await other.values("SELECT id FROM person ORDER BY age, id")
            let last = try #require(shown[0].values.first { $0.contains { $0.id == 99 } })
            #expect(last.map { $0.id.map { PostgresValue.integer($0) } } == ids)
            withExtendedLifetime(context) {}
        }
    }

    @Test func photosMoveBetweenSections() async throws {
        try await withLive("photo") { _, context, other in
            let request = try context.fetch("photo").sorted("album").sorted("place")
            var updates = try await request.live().sections(by: "album").makeAsyncIterator()
            func items(_ update: LiveSectionsUpdate<DatabaseObject>) -> [[PostgresValue?]] {
                update.sections.map { $0.objects.map { $0["id"] } }
            }
            var update = try #require(try await updates.next())
            #expect(items(update) == [[.integer(1), .integer(2)], [.integer(3), .integer(4)], [.integer(5)]])
            // From one section into the middle of another.
            try await other.query("UPDATE photo SET album = 2, place = 2 WHERE id = 1")
            update = try #require(try await updates.next())
            #expect(items(update) == [[.integer(2)], [.integer(3), .integer(1), .integer(4)], [.integer(5)]])
            #expect(update.removedSections == [] && update.insertedSections == [])
            #expect(update.update.moves.map(\.from) == [0] && update.update.moves.map(\.to) == [2])
            #expect(update.place(at: 2)?.section == 1 && update.place(at: 2)?.item == 1)
            // The last of one section into a new one, before all others.
            try await other.query("UPDATE photo SET album = 0 WHERE id = 5")
            update = try #require(try await updates.next())
            #expect(items(update) == [[.integer(5)], [.integer(2)], [.integer(3), .integer(1), .integer(4)]])
            #expect(update.removedSections == [2] && update.insertedSections == [0])
            #expect(update.update.removedIDs == [] && update.update.moves.count == 1)
            // All of one into another.
            try await other.query("UPDATE photo SET album = 2, place = 0 WHERE id = 2")
            update = try #require(try await updates.next())
            #expect(items(update) == [[.integer(5)], [.integer(2), .integer(3), .integer(1), .integer(4)]])
            #expect(update.removedSections == [1] && update.insertedSections == [])
        }
    }

    /// While the time between two updates runs, `next()` waits, and gives all changes at once.
    @Test func changesWithinTheIntervalAreOneUpdate() async throws {
        try await withLive("photo") { database, context, other in
            var updates = try await context.fetch("photo").sorted("id").live(atMostEvery: .seconds(5))
                .makeAsyncIterator()
            var watch = try await context.fetch("photo").sorted("id").live().makeAsyncIterator()
            _ = try await (updates.update(), watch.update())
            let start = ContinuousClock.now
            var seen: LiveUpdate<DatabaseObject>?
            for id in 10..<13 {
                try await other.query("INSERT INTO photo VALUES (\(id), 9, \(id))")
                seen = try await watch.update()
            }
            let wasQuick = ContinuousClock.now - start < .seconds(4)
            let update = try await updates.update()
            guard wasQuick else { return }
            #expect(update.insertions == [5, 6, 7] && update.cursor.changes == seen?.cursor.changes)
        }
    }

    @Test func foreignTablesAreRefusedByName() async throws {
        try await withLive("person") { _, context, _ in
            for entity in ["far", "farther"] {
                let error = await expectError(.invalidRequest) { _ = try await context.fetch(entity).live() }
                #expect(error?.message.contains("public.far is a foreign table") == true, "\(error?.message ?? "")")
            }
        }
    }
}
