import Foundation
import Kindred
import KindredTesting
import Testing

@testable import KindredLive

private let schema = """
    CREATE TABLE region (id integer PRIMARY KEY, name text NOT NULL);
    CREATE TABLE person (
        id integer PRIMARY KEY, nick text NOT NULL, age integer, region_id integer REFERENCES region);
    CREATE TABLE email (
        id integer PRIMARY KEY, address text NOT NULL, person_id integer REFERENCES person ON DELETE CASCADE);
    CREATE TABLE many (id integer PRIMARY KEY, word text NOT NULL, note text);
    INSERT INTO region VALUES (1, 'a'), (2, 'b');
    INSERT INTO person SELECT n, 'p' || n, n % 5, 1 + n % 2 FROM generate_series(1, 8) AS n;
    INSERT INTO email SELECT n, 'e' || n, 1 + n % 8 FROM generate_series(1, 12) AS n;
    INSERT INTO many SELECT n, 'w' || n FROM generate_series(1, 300) AS n;
    """

/// Clients that come back with the cursor of the last update that they were shown.
@Suite(.database(.sql(schema)), .timeLimit(.minutes(10))) struct LiveCursorTests {
    private static let tables = ["person", "email", "region", "many"]

    /// Lends the test's database with tracking, and another instance of it, as after a deploy.
    private func withDeploy(
        _ body: (_ before: Database, _ after: Database, _ other: PostgresClient) async throws -> Void
    ) async throws {
        try await withDatabase { before, _, other in
            try await before.tracking.install()
            try await before.tracking.enable(Self.tables)
            let after = try await Database.connect(before.client.configuration)
            do {
                try await body(before, after, other)
            } catch {
                await after.close(timeout: .zero)
                throw error
            }
            await after.close()
        }
    }

    private func first(
        _ request: FetchRequest<DatabaseObject>, since cursor: LiveCursor? = nil
    ) async throws -> LiveUpdate<DatabaseObject> {
        var updates = try await request.live(since: cursor).makeAsyncIterator()
        return try await updates.update()
    }

    /// A cursor as a client sends it.
    private func text(_ cursor: LiveCursor) throws -> LiveCursor { try #require(LiveCursor(cursor.description)) }

    @Test(arguments: [true, false]) func aClientThatHasTheListIsToldSo(isLong: Bool) async throws {
        try await withDeploy { before, after, other in
            func request(_ database: Database) throws -> FetchRequest<DatabaseObject> {
                let entity = isLong ? "many" : "person"
                return try database.makeContext().fetch(entity).where("id > %@", 0).sorted("id")
            }
            let shown = try await first(request(before))
            #expect(shown.cause == .first)
            // Another table, and nothing but the same values.
            try await other.query("UPDATE region SET name = 'z' WHERE id = 1")
            let again = try await first(request(after), since: text(shown.cursor))
            #expect(again.cause == .unchanged && again.integers() == shown.integers())
            #expect(again.insertions == [] && again.removals == [] && again.updates == [])
        }
    }

    @Test func aClientGetsTheDifferenceToItsList() async throws {
        try await withDeploy { before, after, other in
            func request(_ database: Database) throws -> FetchRequest<DatabaseObject> {
                try database.makeContext().fetch("person").where("age > %@", 0).sorted("nick").prefetch("emailSet")
            }
            let shown = try await first(request(before))
            #expect(shown.integers() == [1, 2, 3, 4, 6, 7, 8])
            try await other.query("DELETE FROM person WHERE id = 2")
            try await other.query("UPDATE person SET nick = 'q' WHERE id = 1")
            try await other.query("UPDATE email SET address = 'new' WHERE person_id = 4")
            try await other.query("INSERT INTO person VALUES (9, 'p65', 3)")
            let again = try await first(request(after), since: text(shown.cursor))
            #expect(again.cause == .change && again.integers() == [3, 4, 6, 9, 7, 8, 1])
            #expect(again.removals == [0, 1] && again.insertions == [3, 6])
            #expect(again.moves == [LiveMove(from: 0, to: 6)] && again.updates == [1, 6])
            // The server does not know the IDs of rows that only the client has.
            #expect(again.removedIDs == [] && again.difference.isEmpty)
        }
    }

    /// Clients that come and go; what each holds is made of differences alone, and compared with SQL.
    @Test(arguments: 1...4) func clientsThatComeBackHoldTheList(seed: Int) async throws {
        struct Client {
            let isSorted: Bool
            var cursor: LiveCursor?
            var lines: [String] = []
        }
        try await withDeploy { before, after, other in
            var random = RepeatedRandom(seed)
            var clients = [Client(isSorted: true), Client(isSorted: false), Client(isSorted: true)]
            var causes: [LiveCause: Int] = [:]
            for round in 0..<25 {
                for _ in 0..<random.below(4) {
                    let id = random.key(12)
                    let statement: SQL =
                        switch random.below(5) {
                        case 0: "INSERT INTO person VALUES (\(id), 'n', \(random.below(6))) ON CONFLICT DO NOTHING"
                        case 1: "DELETE FROM person WHERE id = \(id)"
                        case 2: "UPDATE person SET nick = \("n\(random.below(9))") WHERE id = \(id)"
                        case 3: "UPDATE person SET age = \(random.below(6)) WHERE id = \(id)"
                        default:
                            "UPDATE email SET person_id = (SELECT min(id) FROM person WHERE id >= \(id)) WHERE id = \(id)"
                        }
                    try await other.query(statement)
                }
                for place in clients.indices where random.below(3) > 0 {
                    var client = clients[place]
                    let context = (round % 2 == 0 ? before : after).makeContext()
                    var request = try context.fetch("person").where("age > %@", 1).prefetch("emailSet")
                    if client.isSorted { request = try request.sorted("nick") }
                    let update = try await first(request, since: try client.cursor.map { try text($0) })
                    causes[update.cause, default: 0] += 1
                    func line(_ object: DatabaseObject) async throws -> String {
                        let emails = try await object.set(forKey: "emailSet").objects.map { "\($0["address"] ?? "")" }
                        let values = ["id", "nick", "age"].map { object[$0]?.description ?? "" }
                        return (values + emails.sorted()).joined(separator: " ")
                    }
                    switch update.cause {
                    case .unchanged: break
                    case .change:
                        for offset in update.removals.reversed() { client.lines.remove(at: offset) }
                        for offset in update.insertions {
                            client.lines.insert(try await line(update.objects[offset]), at: offset)
                        }
                        for offset in update.updates { client.lines[offset] = try await line(update.objects[offset]) }
                    default:
                        client.lines = []
                        for object in update.objects { client.lines.append(try await line(object)) }
                    }
                    client.cursor = update.cursor
                    clients[place] = client
                    let rows = try await other.query(
                        """
                        SELECT concat_ws(' ', p.id, p.nick, p.age, string_agg(address, ' ' ORDER BY address))
                        FROM person p LEFT JOIN email e ON person_id = p.id WHERE age > 1 GROUP BY p.id
                        ORDER BY nick, p.id
                        """)
                    let stored = try rows.map { try $0.decode(0, as: String.self) ?? "" }
                    let isRight = client.isSorted ? client.lines == stored : client.lines.sorted() == stored.sorted()
                    #expect(isRight, "\(update.cause): \(client.lines) and not \(stored)")
                }
            }
            #expect(
                causes[.unchanged] ?? 0 > 3 && causes[.change] ?? 0 > 10
                    && causes.keys.allSatisfy { $0 != .everything(.overflow) })
        }
    }

    @Test func aLongListIsUnchangedUntilARecordConcernsIt() async throws {
        try await withDeploy { before, after, other in
            func request(_ database: Database) throws -> FetchRequest<DatabaseObject> {
                try database.makeContext().fetch("many").where("word != %@", "w3").sorted("id")
            }
            let shown = try await first(request(before))
            #expect(shown.objects.count == 299)
            try await other.query("UPDATE person SET age = 77")
            var again = try await first(request(after), since: text(shown.cursor))
            #expect(again.cause == .unchanged)
            try await other.query("UPDATE many SET note = 'x' WHERE id = 7")
            again = try await first(request(after), since: text(again.cursor))
            #expect(again.cause == .everything(.overflow) && again.objects[5]["note"] == .string("x"))
            #expect(again.insertions == [] && again.removals == [])
            try await other.query("TRUNCATE many")
            again = try await first(request(after), since: text(again.cursor))
            #expect(again.cause == .everything(.bulk) && again.objects.isEmpty)
        }
    }

    @Test func aCursorOfAnotherRequestGivesTheWholeList() async throws {
        try await withDeploy { before, _, other in
            let context = before.makeContext()
            func request(_ age: Int, _ context: DatabaseContext) throws -> FetchRequest<DatabaseObject> {
                try context.fetch("person").where("age > %@", age).sorted("nick")
            }
            let cursor = try text(try await first(request(1, context)).cursor)
            let settings = try before.makeContext(settings: ["app.user": "1"])
            let others = [
                try request(2, context), try request(1, settings), try request(1, context).limit(50),
                try request(1, context).prefetch("emailSet"),
                try request(
                    1, before.makeContext(tenant: ["region_id": 1], setting: "app.region")),
                try context.fetch("many").sorted("id"),
            ]
            for other in others {
                let update = try await first(other, since: cursor)
                #expect(update.cause == .everything(.foreignCursor) && update.insertions == [])
            }
            #expect(try await first(request(1, context), since: cursor).cause == .unchanged)
        }
    }

    /// A client's text gives no row that the request does not have, and ends nothing.
    @Test func forgedCursorsGiveNoMore() async throws {
        try await withDeploy { before, after, other in
            var random = RepeatedRandom(3)
            let short = try before.makeContext().fetch("person").where("age > %@", 2).sorted("nick")
            let long = try before.makeContext().fetch("many").sorted("id")
            for request in [short, long] {
                let shown = try await first(request)
                let json = try JSONEncoder().encode(shown.cursor.changes)
                let good = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
                for _ in 0..<25 {
                    var forged = good
                    switch random.below(5) {
                    case 0: forged["snapshot"] = "\(1 + random.below(2_000)):\(9_000_000 + random.below(9)):"
                    case 1: forged["snapshot"] = "1:1:"
                    case 2: forged["epoch"] = "\(random.below(9))"
                    case 3: forged["timeline"] = "\(random.below(9))"
                    default: forged["system"] = random.below(9)
                    }
                    let data = try JSONSerialization.data(withJSONObject: forged)
                    let changes = try JSONDecoder().decode(ChangeCursor.self, from: data)
                    let update = try await first(
                        request,
                        since: text(
                            LiveCursor(changes: changes, request: shown.cursor.request, list: shown.cursor.list)))
                    #expect(update.integers() == shown.integers())
                }
            }
            // Nothing else has ended by it.
            var updates = try await long.live().makeAsyncIterator()
            _ = try await updates.update()
            try await other.query("DELETE FROM many WHERE id = 1")
            #expect(try await updates.update().removals == [0])
        }
    }

    @Test func sectionsAreGivenWholeUnlessNothingHasChanged() async throws {
        try await withDeploy { before, after, other in
            func sections(_ database: Database, _ cursor: LiveCursor?) async throws -> LiveSectionsUpdate<
                DatabaseObject
            > {
                var updates = try await database.makeContext().fetch("person").sorted("age").live(since: cursor)
                    .sections(by: "age").makeAsyncIterator()
                return try #require(try await updates.next())
            }
            let shown = try await sections(before, nil)
            var again = try await sections(after, try text(shown.update.cursor))
            #expect(again.update.cause == .unchanged && again.sections.count == 5)
            try await other.query("UPDATE person SET age = 9 WHERE id = 1")
            again = try await sections(after, try text(shown.update.cursor))
            #expect(again.update.cause == .everything(.overflow) && again.sections.count == 6)
            #expect(again.update.insertions == [] && again.insertedSections == [])
        }
    }
}
