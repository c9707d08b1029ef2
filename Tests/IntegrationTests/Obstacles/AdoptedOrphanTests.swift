import Kindred
import KindredTesting
import Testing

/// The members of a deleted owner, where a trigger decides which owner they get.
@Suite struct AdoptedOrphanTests {
    /// - Parameter owner: what the trigger gives members that are to have no owner.
    private static func schema(_ owner: String) -> String {
        """
        CREATE TABLE owner (id integer PRIMARY KEY);
        CREATE TABLE item (id integer PRIMARY KEY, owner_id integer CONSTRAINT item_owner REFERENCES owner);
        COMMENT ON CONSTRAINT item_owner ON item IS '@kindred {"deleteRule": "nullify"}';
        INSERT INTO owner VALUES (1), (2);
        INSERT INTO item VALUES (1, 1), (2, 2), (3, 2);
        CREATE FUNCTION adopt() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN NEW.owner_id := coalesce(NEW.owner_id, \(owner)); RETURN NEW; END $$;
        CREATE TRIGGER adopt BEFORE UPDATE ON item FOR EACH ROW EXECUTE FUNCTION adopt();
        """
    }

    /// Expects that an owner's set, and the objects, show the stored rows.
    private func expectStored(
        _ items: [DatabaseObject], of owner: DatabaseObject, _ other: PostgresClient
    ) async throws {
        let stored = try await other.values("SELECT id FROM item WHERE owner_id = \(owner["id"])")
        let set = try await owner.set(forKey: "itemSet")
        let shown = try await set.objects.map { $0["id"] }
        #expect(Set(shown) == Set(stored))
        #expect(try await set.count == stored.count)
        for item in items {
            #expect(try await item["owner_id"] == other.value("SELECT owner_id FROM item WHERE id = \(item["id"])"))
        }
    }

    @Test(.database(.sql(schema("1"))), arguments: [false, true])
    func theirNewOwnerShowsThem(areHeld: Bool) async throws {
        try await withDatabase { database, context, other in
            let owners = try await context.fetch("owner").sorted("id").all()
            for owner in owners { _ = try await owner.set(forKey: "itemSet").objects }
            let items = areHeld ? try await context.fetch("item").sorted("id").all() : []
            try await context.delete(owners[1])
            #expect(owners[1].isDeleted && !owners[0].isDeleted)
            #expect(try await other.values("SELECT id FROM owner") == [1])
            #expect(try await other.values("SELECT owner_id FROM item") == [1, 1, 1])
            try await expectStored(items, of: owners[0], other)
            for item in items { #expect(try await item.object(forKey: "owner") === owners[0]) }
        }
    }

    @Test(.database(.sql(schema("OLD.owner_id")))) func anOwnerThatTheyDoNotLeaveStays() async throws {
        try await withDatabase { database, context, other in
            let owners = try await context.fetch("owner").sorted("id").all()
            let items = try await context.fetch("item").sorted("id").all()
            await expectError(.constraintViolation) { try await context.delete(owners[1]) }
            #expect(!owners[1].isDeleted)
            #expect(try await other.values("SELECT owner_id FROM item ORDER BY id") == [1, 2, 2])
            for owner in owners { try await expectStored(items, of: owner, other) }
        }
    }
}
