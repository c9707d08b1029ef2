import Kindred
import KindredTesting
import Testing

/// Ordered sets, where a trigger leaves a new member with its former owner, at the position that it was to get.
@Suite struct KeptOrderTests {
    private static let schema = """
        CREATE TABLE owner (id integer PRIMARY KEY);
        CREATE TABLE place (
            id integer PRIMARY KEY, owner_id integer CONSTRAINT place_owner REFERENCES owner, position integer);
        COMMENT ON CONSTRAINT place_owner ON place IS '@kindred {"inverse": "places", "orderedBy": "position"}';
        INSERT INTO owner VALUES (1), (2);
        INSERT INTO place VALUES (1, 1, 1), (2, 1, 2), (3, 2, 1);
        CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN OLD; END $$;
        CREATE TRIGGER keep BEFORE UPDATE ON place FOR EACH ROW EXECUTE FUNCTION keep();
        """

    @Test(.database(.sql(schema)), arguments: [false, true])
    func aMemberThatStaysWithItsFormerOwnerIsRefused(isLoaded: Bool) async throws {
        try await withDatabase { database, context, other in
            let owners = try await context.fetch("owner").sorted("id").all()
            let places = try await context.fetch("place").sorted("id").all()
            let set = try await owners[1].set(forKey: "places")
            if isLoaded { for owner in owners { _ = try await owner.set(forKey: "places").objects } }
            let calls: [(name: Comment, run: () async throws -> Void)] = [
                ("append", { try await set.append(places[1]) }),
                ("insert at the end", { try await set.insert(places[1], at: 1) }),
                ("set", { try await set.set([places[2], places[1]]) }),
            ]
            for call in calls {
                await expectError(.constraintViolation) { try await call.run() }
                #expect(places[1]["owner_id"] == 1 && places[1]["position"] == 2, call.name)
                for owner in owners {
                    let stored = try await other.values(
                        "SELECT id FROM place WHERE owner_id = \(owner["id"]) ORDER BY position")
                    let shown = try await owner.set(forKey: "places").objects.map { $0["id"] }
                    #expect(shown == stored, call.name)
                }
            }
            let stored = try await other.values("SELECT concat_ws(' ', id, owner_id, position) FROM place ORDER BY id")
            #expect(stored == ["1 1 1", "2 1 2", "3 2 1"])
        }
    }
}
