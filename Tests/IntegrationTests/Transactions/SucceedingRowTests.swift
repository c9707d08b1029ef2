import Kindred
import KindredTesting
import Testing

/// Rows whose key a new row takes over in a transaction, and the state of both after a rollback.
@Suite struct SucceedingRowTests {
    private static let schema = """
        CREATE TABLE shop (id integer PRIMARY KEY);
        CREATE TABLE item (id integer PRIMARY KEY, name text, shop_id integer REFERENCES shop);
        INSERT INTO shop VALUES (1), (2);
        INSERT INTO item VALUES (1, 'item 1', 2), (2, 'item 2', 1), (3, 'item 3', 2);
        """

    /// Rolls back what `body` does: its transaction, or its savepoint in a transaction that is committed.
    private func undo(
        _ context: DatabaseContext, isSavepoint: Bool, _ body: () async throws -> Void
    ) async throws {
        if isSavepoint {
            try await context.transaction { await fail(context, body) }
        } else {
            await fail(context, body)
        }
    }

    /// Expects that the shops' sets show the stored rows.
    private func expectSets(_ shops: [DatabaseObject], _ other: PostgresClient) async throws {
        for shop in shops {
            let stored = try await other.values("SELECT id FROM item WHERE shop_id = \(shop["id"])")
            let set = try await shop.set(forKey: "itemSet")
            let shown = try await set.objects.map { $0["id"] }
            #expect(Set(shown) == Set(stored), "\(shop)")
            #expect(try await set.count == stored.count, "\(shop)")
        }
    }

    /// Expects that an object is item 1's, and shows the stored row.
    private func expectStored(
        _ item: DatabaseObject, _ context: DatabaseContext, _ other: PostgresClient
    ) async throws {
        #expect(!item.isDeleted)
        #expect(try await context.find("item", 1) === item)
        #expect(try await item["name"] == other.value("SELECT name FROM item WHERE id = 1"))
        #expect(try await item["shop_id"] == other.value("SELECT shop_id FROM item WHERE id = 1"))
    }

    /// How the new row comes.
    enum Way: CaseIterable {
        case create, upsert, rawSQL
    }

    private func store(_ way: Way, _ context: DatabaseContext) async throws -> DatabaseObject? {
        switch way {
        case .create:
            return try await context.create("item", ["id": 1, "name": "new", "shop_id": 1])
        case .upsert:
            return try await context.upsert("item", ["id": 1, "name": "new", "shop_id": 1], on: "id")
        case .rawSQL:
            try await context.query("INSERT INTO item VALUES (1, 'new', 1)")
            return try await context.find("item", 1)
        }
    }

    @Test(.database(.sql(schema)), arguments: Way.allCases, [false, true])
    func theDeletedRowsObjectIsTheOneOfItsKeyAgain(way: Way, isSavepoint: Bool) async throws {
        try await withDatabase { database, context, other in
            let item = try #require(try await context.find("item", 1))
            let shops = try await context.fetch("shop").sorted("id").all()
            try await expectSets(shops, other)
            var successor: DatabaseObject?
            try await undo(context, isSavepoint: isSavepoint) {
                try await context.delete(item)
                successor = try await store(way, context)
                #expect(item.isDeleted && successor !== item && successor?["name"] == "new")
            }
            #expect(successor?.isDeleted == true)
            try await expectStored(item, context, other)
            try await expectSets(shops, other)
            try await item.setValue("changed", forKey: "name")
            #expect(try await other.value("SELECT name FROM item WHERE id = 1") == "changed")
        }
    }

    /// The context does not know that the former row is gone.
    @Test(.database(.sql(schema)), arguments: [false, true])
    func anObjectThatShowedTheNewRowShowsTheFormerOneAgain(isSavepoint: Bool) async throws {
        try await withDatabase { database, context, other in
            let item = try #require(try await context.find("item", 1))
            let shops = try await context.fetch("shop").sorted("id").all()
            try await expectSets(shops, other)
            try await undo(context, isSavepoint: isSavepoint) {
                try await context.query("DELETE FROM item WHERE id = 1")
                let made = try await context.create("item", ["id": 1, "name": "new", "shop_id": 1])
                #expect(made === item && item["name"] == "new")
            }
            try await expectStored(item, context, other)
            try await expectSets(shops, other)
        }
    }

    /// A savepoint that has read the row too does not take it with it.
    @Test(.database(.sql(schema)), arguments: [false, true])
    func aRowThatIsStoredAgainGoesOnlyWithTheScopeThatStoredIt(isCommitted: Bool) async throws {
        try await withDatabase { database, context, other in
            let shops = try await context.fetch("shop").sorted("id").all()
            try await expectSets(shops, other)
            #expect(try await context.fetch("item").where("id = 1").delete() == 1)
            func storeAgain() async throws {
                try await context.query("INSERT INTO item VALUES (1, 'item 1', 2)")
                _ = try await context.find("item", 1)
                await fail(context) {
                    try await context.query("UPDATE item SET name = 'undone' WHERE id = 2")
                    _ = try await context.find("item", 1)
                }
            }
            if isCommitted { try await context.transaction(storeAgain) } else { await fail(context, storeAgain) }
            #expect(try await other.value("SELECT count(*) FROM item WHERE id = 1") == (isCommitted ? 1 : 0))
            try await expectSets(shops, other)
        }
    }
}
