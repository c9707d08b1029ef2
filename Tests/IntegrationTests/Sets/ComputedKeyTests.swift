import Kindred
import KindredTesting
import Testing

/// A foreign key on a generated column: read as any other, and refused before anything is sent, from every way.
@Suite struct ComputedKeyTests {
    private static let schema = """
        CREATE TABLE owner (id int PRIMARY KEY);
        CREATE TABLE item (
            id int PRIMARY KEY, base int, owner_id int GENERATED ALWAYS AS (nullif(base, 0)) STORED REFERENCES owner);
        CREATE TABLE entry (
            id int PRIMARY KEY, base int, place int,
            owner_id int GENERATED ALWAYS AS (base) STORED CONSTRAINT entry_owner REFERENCES owner);
        COMMENT ON CONSTRAINT entry_owner ON entry IS '@kindred {"orderedBy": "place"}';
        CREATE TABLE badge (
            id int PRIMARY KEY, base int, owner_id int UNIQUE GENERATED ALWAYS AS (base) STORED REFERENCES owner);
        CREATE TABLE tag (id int PRIMARY KEY);
        CREATE TABLE tagging (
            owner_id int REFERENCES owner, base int, tag_id int GENERATED ALWAYS AS (base) STORED REFERENCES tag,
            PRIMARY KEY (owner_id, tag_id));
        INSERT INTO owner VALUES (1), (2);
        INSERT INTO item (id, base) VALUES (1, 1), (2, 2);
        INSERT INTO entry (id, base, place) VALUES (1, 1, 1), (2, 1, 2), (3, 2, 1);
        INSERT INTO badge (id, base) VALUES (1, 1), (2, NULL);
        INSERT INTO tag VALUES (1), (2);
        INSERT INTO tagging (owner_id, base) VALUES (1, 1);
        """

    @Test(.database(.sql(schema))) func everyWayToSetItIsRefusedBeforeAnythingIsSent() async throws {
        try await withDatabase { database, context, other in
            let owners = try await context.fetch("owner").sorted("id").all()
            let items = try await context.fetch("item").sorted("id").all()
            let entries = try await context.fetch("entry").sorted("id").all()
            let badges = try await context.fetch("badge").sorted("id").all()
            let tags = try await context.fetch("tag").sorted("id").all()
            let (first, item, badge) = (owners[0], items[1], badges[1])
            let sets = (
                items: try await first.set(forKey: "itemSet"), entries: try await first.set(forKey: "entrySet"),
                tags: try await first.set(forKey: "tagSet")
            )
            let id = try #require(first.objectID)
            let ways: [(String, () async throws -> Void)] = [
                ("value", { try await item.setValue(first, forKey: "owner") }),
                ("ID", { try await item.setValue(id, forKey: "owner") }),
                ("nil", { try await item.setValue(nil, forKey: "owner") }),
                ("values", { try await item.setValues(["owner": first]) }),
                ("nil among values", { try await item.setValues(["owner": nil]) }),
                ("column", { try await item.setValue(1, forKey: "owner_id") }),
                ("set as value", { try await first.setValue([item], forKey: "itemSet") }),
                ("empty set as value", { try await first.setValue([DatabaseObject](), forKey: "itemSet") }),
                ("insert", { try await sets.items.insert(item) }),
                ("union", { try await sets.items.formUnion(items) }),
                ("remove", { try await sets.items.remove(items[0]) }),
                ("subtract", { try await sets.items.subtract(items) }),
                ("remove all", { try await sets.items.removeAll() }),
                ("set", { try await sets.items.set([item]) }),
                ("set none", { try await sets.items.set([]) }),
                ("append", { try await sets.entries.append(entries[2]) }),
                ("insert in order", { try await sets.entries.insert(entries[2], at: 0) }),
                ("set of an order", { try await sets.entries.set([entries[2]]) }),
                ("partner", { try await first.setValue(badge, forKey: "badge") }),
                ("no partner", { try await first.setValue(nil, forKey: "badge") }),
                ("partner's end", { try await badge.setValue(first, forKey: "owner") }),
                ("partner's end, nil", { try await badges[0].setValue(nil, forKey: "owner") }),
                ("pair", { try await sets.tags.insert(tags[1]) }),
                ("pair through", { try await sets.tags.insert(tags[1], through: ["base": 2]) }),
                ("pairs", { try await sets.tags.set(tags) }),
                ("create", { _ = try await context.create("item", ["id": 9, "owner": first]) }),
                ("create by ID", { _ = try await context.create("item", ["id": 9, "owner": id]) }),
                (
                    "create or update",
                    {
                        _ = try await context.upsert(
                            "item", ["id": 1, "owner": first], on: "id")
                    }
                ),
                ("new", { _ = try context.add("item", ["id": 9, "owner": first]) }),
                ("new by ID", { _ = try context.add("item", ["id": 9, "owner": id]) }),
                ("new with members", { _ = try context.add("owner", ["id": 9, "itemSet": [item]]) }),
                ("new with pairs", { _ = try context.add("owner", ["id": 9, "tagSet": tags]) }),
                ("by condition", { _ = try await context.fetch("item").update(["owner": first]) }),
                ("nil by condition", { _ = try await context.fetch("item").update(["owner": nil]) }),
                ("patch", { try item.apply(try ObjectPatch(json: #"{"owner_id": 1}"#.utf8)) }),
            ]
            for (name, way) in ways {
                let (_, recorder) = try await recordingStatements {
                    do {
                        try await way()
                        Issue.record("no error by \(name)")
                    } catch let error as KindredError {
                        #expect(error.code == .readOnly, "\(name): \(error)")
                        #expect(error.message.contains("generated"), "\(name): \(error)")
                    }
                }
                // An end in another order may have to be read.
                #expect(recorder.statements.isEmpty || name == "insert in order", "\(name): \(recorder.statements)")
                context.rollback()
            }
            item["owner_id"] = 1
            await expectError(.readOnly) { try await context.save() }
            context.rollback()
            #expect(try await other.values("SELECT owner_id FROM item ORDER BY id") == [1, 2])
            #expect(try await other.values("SELECT owner_id FROM entry ORDER BY id") == [1, 1, 2])
            #expect(try await other.values("SELECT owner_id FROM badge ORDER BY id") == [1, nil])
            #expect(try await other.values("SELECT tag_id FROM tagging") == [1])
        }
    }

    @Test(.database(.sql(schema))) func whatDoesNotWriteItStaysPossible() async throws {
        try await withDatabase { database, context, other in
            let owner = try await context.fetch("owner").where("id = 1").one()
            let entries = try await owner.set(forKey: "entrySet")
            let members = try await entries.objects
            try await entries.set(members.reversed())
            try await entries.move(from: 0, to: 1)
            try await entries.set(members.reversed())
            #expect(try await other.values("SELECT id FROM entry WHERE owner_id = 1 ORDER BY place") == [2, 1])
            try await owner.set(forKey: "tagSet").removeAll()
            #expect(try await other.value("SELECT count(*) FROM tagging") == 0)
            let item = try await context.create("item", ["id": 3, "base": 1])
            #expect(try await item.object(forKey: "owner") === owner)
        }
    }
}
