import Kindred
import KindredTesting
import Testing

/// One-to-many sets whose members have rules: a change that leaves them where they are is an error.
@Suite struct RuledMemberTests {
    /// Views with rules, and a table with a rule and a trigger.
    ///
    /// The rule of `ruled` forgets the owner, that of `followed` does not. The rule of `kept` keeps its writes from
    /// checking themselves, and its trigger keeps all rows as they are.
    private static let schema = """
        CREATE TABLE owner (id integer PRIMARY KEY);
        CREATE TABLE item (id integer PRIMARY KEY, name text, owner_id integer REFERENCES owner);
        CREATE VIEW ruled AS SELECT id, name, owner_id FROM item;
        CREATE RULE rename AS ON UPDATE TO ruled DO INSTEAD
            UPDATE item SET name = NEW.name WHERE id = OLD.id RETURNING id, name, owner_id;
        CREATE VIEW followed AS SELECT id, name, owner_id FROM item;
        CREATE RULE follow AS ON UPDATE TO followed DO INSTEAD
            UPDATE item SET name = NEW.name, owner_id = NEW.owner_id WHERE id = OLD.id RETURNING id, name, owner_id;
        CREATE TABLE kept (
            id integer PRIMARY KEY, name text, owner_id integer REFERENCES owner, is_gone boolean DEFAULT false);
        CREATE RULE hide AS ON DELETE TO kept DO INSTEAD UPDATE kept SET is_gone = true WHERE id = OLD.id;
        CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
        CREATE TRIGGER keep BEFORE UPDATE ON kept FOR EACH ROW EXECUTE FUNCTION keep();
        INSERT INTO owner VALUES (1), (2);
        INSERT INTO item VALUES (1, 'a', 1), (2, 'b', 1), (3, 'c', 2);
        INSERT INTO kept (id, name, owner_id) SELECT id, name, owner_id FROM item;
        """

    /// Expects that objects and sets show the stored rows.
    private func expectStored(
        _ table: String, _ objects: [DatabaseObject], _ owners: [DatabaseObject], _ other: PostgresClient,
        _ place: Comment
    ) async throws {
        let stored = try await other.values("SELECT owner_id FROM \(identifier: table) ORDER BY id")
        #expect(objects.map { $0["owner_id"] } == stored, place)
        for owner in owners {
            let members = try await other.values(
                "SELECT id FROM \(identifier: table) WHERE owner_id = \(owner["id"])")
            let set = try await owner.set(forKey: "\(table)Set")
            let shown = try await set.objects.map { $0["id"] }
            #expect(Set(shown) == Set(members), place)
            #expect(try await set.count == members.count, place)
        }
    }

    @Test(.database(.sql(schema)), arguments: ["ruled", "kept"])
    func whatLeavesMembersWhereTheyAreIsRefused(table: String) async throws {
        try await withDatabase { database, context, other in
            let owners = try await context.fetch("owner").sorted("id").all()
            let objects = try await context.fetch(table).sorted("id").all()
            let first = try await owners[0].set(forKey: "\(table)Set")
            let second = try await owners[1].set(forKey: "\(table)Set")
            try await expectStored(table, objects, owners, other, "before")
            let calls: [(name: Comment, run: () async throws -> Void)] = [
                ("remove", { try await first.remove(objects[0]) }),
                ("subtract", { try await first.subtract(objects[0...1]) }),
                ("removeAll", { try await first.removeAll() }),
                ("insert", { try await second.insert(objects[0]) }),
                ("formUnion", { try await second.formUnion(objects) }),
                ("set, others leave", { try await first.set([objects[0]]) }),
                ("set, others join", { try await second.set(objects) }),
                ("setValue of a set", { try await owners[0].setValue(nil, forKey: "\(table)Set") }),
            ]
            for call in calls {
                #expect(await expectError(.constraintViolation) { try await call.run() } != nil, call.name)
                try await expectStored(table, objects, owners, other, call.name)
            }
            let stored = try await other.values("SELECT concat_ws(' ', id, name, owner_id) FROM \(identifier: table)")
            #expect(Set(stored) == ["1 a 1", "2 b 1", "3 c 2"])
        }
    }

    @Test(.database(.sql(schema))) func aRuleThatMovesMembersIsFollowed() async throws {
        try await withDatabase { database, context, other in
            let owners = try await context.fetch("owner").sorted("id").all()
            let objects = try await context.fetch("followed").sorted("id").all()
            let first = try await owners[0].set(forKey: "followedSet")
            let second = try await owners[1].set(forKey: "followedSet")
            try await first.remove(objects[0])
            try await expectStored("followed", objects, owners, other, "remove")
            try await second.insert(objects[0])
            try await expectStored("followed", objects, owners, other, "insert")
            try await first.formUnion(objects)
            try await expectStored("followed", objects, owners, other, "formUnion")
            try await second.set(objects[1...2])
            try await expectStored("followed", objects, owners, other, "set")
            #expect(try await other.values("SELECT owner_id FROM item ORDER BY id") == [1, 2, 2])
        }
    }
}
