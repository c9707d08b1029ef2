import Kindred
import KindredTesting
import Testing

/// A to-one end has its row whether the row's filter shows it or not, so that a partner is let go though it is hidden.
@Suite(
    .database(
        .sql(
            """
            CREATE TABLE person (id integer PRIMARY KEY);
            CREATE TABLE badge (id integer PRIMARY KEY, deleted_at timestamptz,
                person_id integer UNIQUE CONSTRAINT holder__badge REFERENCES person);
            COMMENT ON TABLE badge IS '@kindred {"softDelete": "deleted_at"}';
            CREATE TABLE locker (id integer PRIMARY KEY, n integer NOT NULL DEFAULT 1,
                person_id integer UNIQUE CONSTRAINT holder__locker REFERENCES person);
            COMMENT ON TABLE locker IS '@kindred {"filter": "n > 0"}';
            INSERT INTO person VALUES (1), (2);
            INSERT INTO badge VALUES (1, now(), 1), (2, NULL, 2), (3, NULL, NULL);
            INSERT INTO locker VALUES (1, 0, 1), (2, 1, 2), (3, 1, NULL);
            """)))
struct HiddenPartnerTests {
    enum Way: CaseIterable {
        case fromOwner, fromHolder, nothing
    }

    @Test(arguments: ["badge", "locker"], Way.allCases)
    func aHiddenPartnerIsLetGo(table: String, way: Way) async throws {
        try await withDatabase { _, context, other in
            let person = try await context.get("person", 1)
            let given = try await context.get(table, 2)
            // In memory, too: the partner that was read has no holder afterwards.
            let partner = try #require(try await person.object(forKey: table))
            try await expectStatements(way == .nothing ? ["UPDATE"] : ["WITH locked", "UPDATE"]) { () async throws in
                switch way {
                case .fromOwner: try await person.setValue(given, forKey: table)
                case .fromHolder: try await given.setValue(person, forKey: "holder")
                case .nothing: try await person.setValue(nil, forKey: table)
                }
            }
            let holders = try await other.query("SELECT person_id FROM \(identifier: table) ORDER BY id")
            let wanted: [PostgresValue?] = way == .nothing ? [nil, .integer(2), nil] : [nil, .integer(1), nil]
            #expect(try holders.map { try $0[0] } == wanted)
            #expect(try await partner.object(forKey: "holder") == nil)
            #expect(try await person.object(forKey: table) == (way == .nothing ? nil : given))
        }
    }
}
