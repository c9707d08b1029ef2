import Kindred
import KindredTesting
import Testing

/// Pairs that are stored already, and that a trigger makes others of: the call is refused, or memory shows the others.
@Suite struct ChangedPairTests {
    /// A trigger gives each new owner the second tag; another trigger turns it into the third tag in all other INSERTs.
    private static let schema = """
        CREATE TABLE owner (id integer PRIMARY KEY);
        CREATE TABLE tag (id integer PRIMARY KEY);
        CREATE TABLE owner_tag (
            owner_id integer REFERENCES owner, tag_id integer REFERENCES tag, mark text DEFAULT '',
            PRIMARY KEY (owner_id, tag_id));
        INSERT INTO owner VALUES (1), (2);
        INSERT INTO tag VALUES (1), (2), (3);
        INSERT INTO owner_tag VALUES (1, 1, 'old'), (1, 2, 'old');
        CREATE FUNCTION change_tag() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN NEW.tag_id := 3; RETURN NEW; END $$;
        CREATE TRIGGER change_tag BEFORE INSERT ON owner_tag FOR EACH ROW
            WHEN (NEW.tag_id = 2 AND pg_trigger_depth() = 0) EXECUTE FUNCTION change_tag();
        CREATE FUNCTION give_tag() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN INSERT INTO owner_tag VALUES (NEW.id, 2, 'given'); RETURN NEW; END $$;
        CREATE TRIGGER give_tag AFTER INSERT ON owner FOR EACH ROW EXECUTE FUNCTION give_tag();
        """

    private static let pairs: SQL =
        "SELECT concat_ws(' ', owner_id, tag_id, mark) FROM owner_tag ORDER BY owner_id, tag_id"

    /// Expects that a call is refused and leaves no trace, or that memory shows the rows that it has stored.
    private func expectAllOrNothing(
        _ context: DatabaseContext, _ other: PostgresClient, _ place: Comment, _ call: () async throws -> Void
    ) async throws {
        let before = try await other.values(Self.pairs)
        do {
            try await call()
        } catch is KindredError {
            context.rollback()
            #expect(try await other.values(Self.pairs) == before, place)
        }
        for owner in try await context.fetch("owner").all() {
            let stored = try await other.values("SELECT tag_id FROM owner_tag WHERE owner_id = \(owner["id"])")
            let shown = try await owner.set(forKey: "tagSet").objects.map { $0["id"] }
            #expect(Set(shown) == Set(stored), place)
            #expect(try await owner.set(forKey: "owner_tagSet").objects.count == stored.count, place)
        }
        for tag in try await context.fetch("tag").all() {
            let stored = try await other.values("SELECT owner_id FROM owner_tag WHERE tag_id = \(tag["id"])")
            let shown = try await tag.set(forKey: "ownerSet").objects.map { $0["id"] }
            #expect(Set(shown) == Set(stored), place)
        }
    }

    @Test(.database(.sql(schema)), arguments: [false, true])
    func aCallWithKnownPairsStoresNoOthers(inTransaction: Bool) async throws {
        try await withDatabase { database, context, other in
            let owner = try await context.fetch("owner").where("id = 1").one()
            let tags = try await context.fetch("tag").sorted("id").all()
            let set = try await owner.set(forKey: "tagSet")
            #expect(try await set.objects.count == 2)
            for tag in tags { _ = try await tag.set(forKey: "ownerSet").objects }
            let calls: [(name: Comment, run: () async throws -> Void)] = [
                ("insert", { try await set.insert(tags[1]) }),
                ("formUnion", { try await set.formUnion(tags[0...1]) }),
                ("set", { try await set.set(tags[0...1]) }),
                ("insert(through:)", { try await set.insert(tags[1], through: ["mark": "new"]) }),
            ]
            for call in calls {
                try await expectAllOrNothing(context, other, call.name) {
                    if inTransaction { try await context.transaction(call.run) } else { try await call.run() }
                }
            }
            #expect(try await other.values(Self.pairs) == ["1 1 old", "1 2 old"])
        }
    }

    /// The trigger of its owner has stored the pair when the save comes to it.
    @Test(.database(.sql(schema)), arguments: [false, true])
    func aSaveOfAPairThatIsThereAlreadyStoresNoOther(hasPayload: Bool) async throws {
        try await withDatabase { database, context, other in
            let tags = try await context.fetch("tag").sorted("id").all()
            for tag in tags { _ = try await tag.set(forKey: "ownerSet").objects }
            let owner = try context.add("owner", ["id": 9])
            let set = try await owner.set(forKey: "tagSet")
            if hasPayload {
                try await set.insert(tags[1], through: ["mark": "new"])
            } else {
                try await set.insert(tags[1])
            }
            try await expectAllOrNothing(context, other, "save") { try await context.save() }
            #expect(try await other.values(Self.pairs) == ["1 1 old", "1 2 old"])
            #expect(try await other.value("SELECT count(*) FROM owner") == 2)
            #expect(owner.isDeleted && !context.hasStagedChanges)
        }
    }
}
