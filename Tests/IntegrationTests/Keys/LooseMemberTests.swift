import Kindred
import KindredTesting
import Testing

/// Members whose references are spelled otherwise than their owner's key.
@Suite(
    .database(
        .sql(
            """
            CREATE SCHEMA ext;
            CREATE EXTENSION citext SCHEMA ext;
            CREATE TABLE place (id ext.citext PRIMARY KEY);
            CREATE TABLE visit (id text PRIMARY KEY, v integer NOT NULL DEFAULT 1,
                place_id ext.citext CONSTRAINT place__visits REFERENCES place ON DELETE SET NULL ON UPDATE SET NULL);
            COMMENT ON COLUMN visit.v IS '@kindred {"version": true}';
            INSERT INTO place VALUES ('K0X'), ('K1X'), ('k2x'), ('k4x');
            INSERT INTO visit VALUES ('d1', 1, 'K1X'), ('d2', 1, 'k2x'), ('d3', 1, 'K4X'), ('d5', 1, 'k4x');
            """)))
struct LooseMemberTests {
    @Test func aMemberIsNotWrittenForItsSpelling() async throws {
        try await withDatabase { _, context, other in
            let place = try await context.get("place", "k4x")
            let visits = try await context.fetch("visit").where("id IN %@", ["d3", "d5"]).sorted("id").all()
            let set = try await place.set(forKey: "visits")
            try await set.formUnion([visits[0]])
            try await set.formUnion(visits)
            #expect(visits[0]["place_id"] == .string("K4X"))
            let rows = try await other.query("SELECT place_id::text, v FROM visit WHERE id IN ('d3', 'd5') ORDER BY id")
            #expect(try rows.map { try $0[0] } == [.string("K4X"), .string("k4x")])
            #expect(try rows.map { try $0[1] } == [.integer(1), .integer(1)])
        }
    }

    /// As every other object that is inserted.
    @Test func oneThatIsInsertedIsWritten() async throws {
        try await withDatabase { _, context, other in
            let set = try await context.get("place", "k4x").set(forKey: "visits")
            let visit = try await context.get("visit", "d3")
            try await set.insert(visit)
            #expect(visit["place_id"] == .string("k4x"))
            #expect(try await other.value("SELECT place_id::text FROM visit WHERE id = 'd3'") == .string("k4x"))
        }
    }

    @Test func countsAreRightAfterARollbackAndADeletion() async throws {
        try await withDatabase { _, context, other in
            let places = try await context.fetch("place").all()
            let visits = try await context.fetch("visit").sorted("id").all()
            func expectCounts(_ step: String) async throws {
                for place in places where !place.isDeleted {
                    guard case .string(let id)? = place["id"] else { continue }
                    let rows = try await other.query(
                        "SELECT count(*) FROM visit WHERE lower(place_id::text) = lower(\(id))")
                    let set = try await place.set(forKey: "visits")
                    #expect(.integer(Int64(try await set.count)) == (try rows[0][0]), "\(id) after \(step)")
                    #expect(.integer(Int64(try await set.objects.count)) == (try rows[0][0]), "\(id) after \(step)")
                }
            }
            try await expectCounts("the first reading")
            let last = try #require(places.first { $0["id"] == .string("k4x") })
            struct Undone: Error {}
            await #expect(throws: Undone.self) {
                try await context.transaction {
                    try await last.set(forKey: "visits").subtract([visits[3], visits[2]])
                    throw Undone()
                }
            }
            try await expectCounts("the rollback")
            let new = try await context.create("visit", ["id": "d6", "place_id": "K0X"])
            #expect(new["place_id"] == .string("K0X"))
            try await expectCounts("the new one")
            let second = try #require(places.first { $0["id"] == .string("k2x") })
            try await second.set(forKey: "visits").insert(visits[0])
            try await expectCounts("the move")
            let gone = try #require(places.first { $0["id"] == .string("K1X") })
            try await context.delete(gone)
            try await expectCounts("the deletion")
        }
    }
}
