import Kindred
import KindredTesting
import Testing

/// After `.objectDeleted` of a plain table the object is deleted, and a new row of the old key is another object.
@Suite struct MissingRowTests {
    private static let schema = """
        CREATE TABLE box (id int PRIMARY KEY, name text);
        CREATE TABLE item (id int PRIMARY KEY, name text, box_id int REFERENCES box);
        CREATE TABLE tag (id int PRIMARY KEY);
        CREATE TABLE tagging (item_id int REFERENCES item ON DELETE CASCADE, tag_id int REFERENCES tag ON DELETE CASCADE,
            PRIMARY KEY (item_id, tag_id));
        INSERT INTO box VALUES (1, 'a'), (2, 'b');
        INSERT INTO tag VALUES (1), (2);
        """

    private struct Way: Sendable {
        let name: String
        /// Which of two objects are gone.
        var gone = [1]
        let write: @Sendable (DatabaseContext, [DatabaseObject]) async throws -> Void
    }

    private static let ways: [Way] = [
        Way(name: "value") { try await $1[0].setValue("y", forKey: "name") },
        Way(name: "save") { context, items in
            items[0]["name"] = "y"
            try await context.save()
        },
        Way(name: "save of several") { context, items in
            for item in items { item["name"] = "y" }
            try await context.save()
        },
        Way(name: "save of all", gone: [1, 2]) { context, items in
            for item in items { item["name"] = "y" }
            try await context.save()
        },
        Way(name: "delete") { try await $0.delete($1[0]) },
        Way(name: "deletions") { try await $0.delete($1) },
        Way(name: "staged deletion") { context, items in
            try context.stageDeletion(of: items[0])
            try await context.save()
        },
        Way(name: "join") { context, items in
            try await context.fetch("box").where("id = 1").one().set(forKey: "itemSet").insert(items[0])
        },
        Way(name: "joins") { context, items in
            try await context.fetch("box").where("id = 1").one().set(forKey: "itemSet").formUnion(items)
        },
        Way(name: "members") { context, items in
            try await context.fetch("box").where("id = 1").one().set(forKey: "itemSet").set(items)
        },
        Way(name: "pair") { context, items in
            try await context.fetch("tag").where("id = 1").one().set(forKey: "itemSet").insert(items[0])
        },
        Way(name: "pairs") { context, items in
            try await context.fetch("tag").where("id = 1").one().set(forKey: "itemSet").formUnion(items)
        },
        Way(name: "pair of a lost owner") { context, items in
            let tag = try await context.fetch("tag").where("id = 1").one()
            try await items[0].set(forKey: "tagSet").insert(tag)
        },
        Way(name: "refresh") { try await $1[0].refresh() },
    ]

    @Test(.database(.sql(schema), timeLimit: .seconds(300)), arguments: [false, true])
    func theObjectIsDeletedAndItsKeyIsFree(isInTransaction: Bool) async throws {
        try await withDatabase { database, _, other in
            for way in Self.ways {
                let context = database.makeContext()
                try await other.query("DELETE FROM item")
                try await other.query("INSERT INTO item VALUES (1, 'x', 2), (2, 'x', 2)")
                let items = try await context.fetch("item").sorted("id").all()
                for id in way.gone { try await other.query("DELETE FROM item WHERE id = \(id)") }
                await expectError(.objectDeleted) {
                    if isInTransaction {
                        try await context.transaction { try await way.write(context, items) }
                    } else {
                        try await way.write(context, items)
                    }
                }
                #expect(items.map(\.isDeleted) == [1, 2].map { way.gone.contains($0) }, "\(way.name)")
                let names = try await other.values("SELECT name FROM item ORDER BY id")
                #expect(names == (way.gone == [1] ? ["x"] : []), "\(way.name)")
                let new = try await context.create("item", ["id": 1, "name": "new"])
                #expect(new !== items[0] && new["name"] == "new" && items[0].isDeleted, "\(way.name)")
                #expect(items[0]["name"] == "x", "\(way.name)")
                context.rollback()
            }
        }
    }

    @Test(
        .database(
            .sql(
                """
                CREATE TABLE item (id int PRIMARY KEY, name text);
                CREATE VIEW shown AS SELECT * FROM item WHERE name <> 'hidden';
                INSERT INTO item VALUES (1, 'x');
                """)))
    func aRowThatAViewMayHideIsNotTakenForDeleted() async throws {
        try await withDatabase { database, context, other in
            let item = try await context.fetch("shown").one()
            try await other.query("UPDATE item SET name = 'hidden'")
            await expectError(.objectDeleted) { try await item.setValue("y", forKey: "name") }
            #expect(!item.isDeleted)
        }
    }
}
