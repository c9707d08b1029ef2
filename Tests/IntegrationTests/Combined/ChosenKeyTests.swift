import Kindred
import KindredTesting
import Testing

/// A class that was generated when its table had one unique key, as `kindred generate` writes it.
final class Seat: DatabaseObject, @unchecked Sendable {}

extension Seat: KeyedObject {
    typealias Target = Seat
    typealias PrimaryKey = (Int, Int)
    static let mapping = EntityMapping(
        schema: "public", name: "seat", key: ["chair", "hall"],
        [
            .attribute(\Seat.hall, "hall", "integer"), .attribute(\Seat.chair, "chair", "integer"),
            .attribute(\Seat.tags, "tags", "text[]"),
        ])
    var hall: Int { readProperty(0) }
    var chair: Int { readProperty(1) }
    var tags: [String] {
        get { readElements(2) }
        set { writeProperty(2, newValue) }
    }
}

@Suite(
    .database(
        .sql(
            """
            CREATE TABLE seat (hall integer NOT NULL, chair integer NOT NULL, code text NOT NULL, tags text[] NOT NULL);
            CREATE UNIQUE INDEX place ON seat (chair, hall);
            CREATE UNIQUE INDEX code ON seat (code);
            COMMENT ON COLUMN seat.tags IS '@kindred {"nullElements": false}';
            INSERT INTO seat VALUES (1, 2, 'a', '{x,y}');
            """)))
struct ChosenKeyTests {
    private func withSeats(_ body: (Database, DatabaseContext) async throws -> Void) async throws {
        let database = try await Database.connect(try TestDatabase.current.uri, classes: [Seat.self])
        do {
            try await body(database, database.makeContext())
        } catch {
            await database.close()
            throw error
        }
        await database.close()
    }

    @Test func theClassKeepsItsKeyAsLongAsItIsOne() async throws {
        let client = try await PostgresClient.connect(try PostgresConfiguration(uri: try TestDatabase.current.uri))
        let plain = try await Database.connect(try TestDatabase.current.uri)
        #expect(try plain.schema.entity(named: "seat").primaryKey == ["code"])
        await plain.close()
        try await withSeats { database, context in
            #expect(try database.schema.entity(named: "seat").primaryKey == ["chair", "hall"])
            let seat = try await context.get(Seat.self, 2, 1)
            let id = try #require(seat.objectID)
            #expect(try await context.get(id) as? Seat === seat)
            try await client.query("DROP INDEX place")
            try await database.refreshSchema()
            #expect(try database.schema.entity(named: "seat").primaryKey == ["code"])
        }
        await client.close()
    }

    @Test func arraysWithoutNullAreReadAskedAndWritten() async throws {
        let client = try await PostgresClient.connect(try PostgresConfiguration(uri: try TestDatabase.current.uri))
        try await withSeats { _, context in
            let seats = try context.fetch(Seat.self)
            let seat = try await seats.where { $0.tags.contains("x") && $0.tags.count == 2 }.one()
            #expect(seat.tags == ["x", "y"])
            #expect(try await seats.where { $0.tags.containsAny(["z", "y"]) }.count() == 1)
            #expect(try await seats.where { $0.tags.containsAll(["z", "y"]) }.count() == 0)
            seat.tags = ["z"]
            try await context.save()
            #expect(try await client.value("SELECT tags::text FROM seat") == .string("{z}"))
            // The annotation promised too much.
            try await client.query("INSERT INTO seat VALUES (3, 4, 'b', '{x,NULL}')")
            let error = await expectError(.classMismatch) { _ = try await seats.sorted { $0.hall }.all() }
            #expect(error?.message.contains("tags") == true, "\(String(describing: error))")
        }
        await client.close()
    }
}
