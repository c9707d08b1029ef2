import Kindred
import KindredTesting
import Testing

/// Objects, sets, orders and counts are back in their places after a failure, also where keys have changed hands.
@Suite struct RestoredPlaceTests {
    private static let schema = """
        CREATE TABLE place (id integer PRIMARY KEY DEFERRABLE, name text);
        CREATE TABLE shop (id integer PRIMARY KEY, name text);
        CREATE TABLE item (id integer PRIMARY KEY, name text, shop_id integer REFERENCES shop ON DELETE SET NULL);
        INSERT INTO place SELECT i, 'place ' || i FROM generate_series(1, 6) AS i;
        INSERT INTO shop SELECT i, 'shop ' || i FROM generate_series(1, 3) AS i;
        INSERT INTO item SELECT i, 'item ' || i, 1 + i % 2 FROM generate_series(1, 6) AS i;
        """

    /// Whether each object is found by its key.
    private func expectPlaces(_ objects: [DatabaseObject], _ context: DatabaseContext, _ entity: String) async throws {
        for object in objects where !object.isDeleted {
            let id = try #require(object["id"])
            #expect(try await context.find(entity, id) === object, "\(entity) \(id)")
        }
    }

    @Test(.database(.sql(schema))) func aKeyThatWasRefusedBelongsToItsObjectAgain() async throws {
        try await withDatabase { database, context, other in
            let objects = try await context.fetch("place").sorted("id").all()
            objects[5]["id"] = 3
            objects[0]["name"] = "changed"
            await expectError(.constraintViolation) { try await context.save() }
            context.rollback()
            #expect(!context.hasStagedChanges)
            try await expectStatements([]) { try await expectPlaces(objects, context, "place") }
            try context.stageDeletion(of: objects[2])
            try await context.save()
            #expect(objects[2].isDeleted && !context.hasStagedChanges)
            #expect(try await other.values("SELECT id FROM place ORDER BY id") == [1, 2, 4, 5, 6])
        }
    }

    @Test(.database(.sql(schema)), arguments: [false, true])
    func keysThatWentAroundComeBack(isSavepoint: Bool) async throws {
        try await withDatabase { database, context, other in
            let objects = try await context.fetch("place").sorted("id").all()
            func turn() async throws {
                for (place, object) in objects.enumerated() {
                    object["id"] = .integer(Int64((place + 1) % objects.count + 1))
                }
                try await context.save()
                #expect(try await context.find("place", 1) === objects[5])
            }
            if isSavepoint {
                try await context.transaction {
                    await fail(context, turn)
                    try await expectPlaces(objects, context, "place")
                }
            } else {
                await fail(context, turn)
            }
            #expect(objects.map { $0["id"] } == [1, 2, 3, 4, 5, 6])
            try await expectStatements([]) { try await expectPlaces(objects, context, "place") }
            try await objects[2].setValue("mine", forKey: "name")
            #expect(try await other.values("SELECT id FROM place WHERE name = 'mine'") == [3])
        }
    }

    /// A row with the key of a deleted one, both undone.
    @Test(.database(.sql(schema)), arguments: [false, true], [false, true])
    func aKeyThatWasGivenToANewRowIsTheFormerRowsAgain(isHeld: Bool, isStaged: Bool) async throws {
        try await withDatabase { database, context, other in
            let shop = try #require(try await context.find("shop", 2))
            let set = try await shop.set(forKey: "itemSet")
            var held = isHeld ? try await set.objects : []
            if !isHeld { #expect(try await set.objects.count == 3) }
            let staged = isStaged ? try context.add("item", ["id": 1, "name": "new", "shop": shop]) : nil
            await fail(context) {
                _ = try await context.fetch("item").where("id = 1").delete()
                if isStaged {
                    try await context.save()
                } else {
                    try await context.create("item", ["id": 1, "name": "new", "shop": shop])
                }
                #expect(try await set.objects.count == 3)
            }
            context.rollback()
            #expect(staged?.isDeleted ?? true)
            #expect(try await set.count == 3)
            let names = try await set.objects.map { $0["name"] }
            #expect(Set(names) == ["item 1", "item 3", "item 5"])
            held = try await set.objects
            try await expectPlaces(held, context, "item")
            #expect(
                try await other.values("SELECT name FROM item WHERE shop_id = 2 ORDER BY id") == [
                    "item 1", "item 3", "item 5",
                ])
        }
    }

    @Test(.database(.sql(schema))) func aRowDeletedBeforeStaysDeletedWhenItsSuccessorIsUndone() async throws {
        try await withDatabase { database, context, other in
            let shop = try #require(try await context.find("shop", 2))
            let set = try await shop.set(forKey: "itemSet")
            #expect(try await set.objects.count == 3)
            _ = try await context.fetch("item").where("id = 1").delete()
            #expect(try await set.count == 2)
            await fail(context) {
                try await context.create("item", ["id": 1, "name": "new", "shop": shop])
                #expect(try await set.count == 3)
                await fail(context) {
                    _ = try await context.fetch("item").where("id = 1").delete()
                    #expect(try await set.count == 2)
                    try await context.create("item", ["id": 1, "name": "newer", "shop": shop])
                    #expect(try await set.count == 3)
                }
                #expect(try await set.objects.compactMap { $0["name"] }.contains("new"))
            }
            #expect(Set(try await set.objects.map { $0["id"] }) == [3, 5])
            #expect(try await other.values("SELECT id FROM item WHERE shop_id = 2 ORDER BY id") == [3, 5])
        }
    }

    /// The newer row of an object that the program has let go of.
    @Test(.database(.sql(schema)), arguments: [false, true])
    func aRowChangedBeforeShowsItsChangeWhenItsDeletionIsUndone(isReplaced: Bool) async throws {
        try await withDatabase { database, context, other in
            let shop = try #require(try await context.find("shop", 2))
            let set = try await shop.set(forKey: "itemSet")
            #expect(try await set.objects.count == 3)
            try await context.find("item", 1)?.setValue("changed", forKey: "name")
            let new = isReplaced ? try context.add("item", ["id": 1, "name": "new"]) : nil
            await fail(context) {
                _ = try await context.fetch("item").where("id = 1").delete()
                try await context.save()
            }
            context.rollback()
            #expect(new?.isDeleted ?? true)
            #expect(try await set.objects.compactMap { $0["name"] }.contains("changed"))
            #expect(try await set.count == 3)
        }
    }

    @Test(.database(.sql(OrderedKind.schema)), arguments: OrderedKind.allCases)
    func aDiscardedMemberIsInNoOrder(_ kind: OrderedKind) async throws {
        try await withDatabase { database, context, other in
            let list = try await kind.list(2, context)
            let set = try await list.set(forKey: "items")
            let items = try await kind.items(context)
            #expect(try await set.numbers == [6, 7, 8])
            let new = try context.add("\(kind.rawValue).item", ["id": 11])
            try await set.append(new)
            try await set.append(items[9])
            context.rollback()
            #expect(new.isDeleted)
            #expect(try await set.numbers == [6, 7, 8, 10])
            #expect(try await set.count == 4)
            #expect(try await kind.stored(2, other) == [6, 7, 8, 10])
        }
    }

    @Test(.database(.sql(OrderedKind.schema)), arguments: OrderedKind.allCases.filter { !$0.isHelper })
    func aMemberWhoseLeavingIsTakenBackIsInTheOrder(_ kind: OrderedKind) async throws {
        try await withDatabase { database, context, other in
            let list = try await kind.list(2, context)
            let set = try await list.set(forKey: "items")
            let items = try await kind.items(context)
            #expect(try await set.numbers == [6, 7, 8])
            items[6]["list_id"] = nil
            items[8]["list_id"] = 2
            try await set.append(items[9])
            context.rollback()
            #expect(try await set.numbers == [6, 7, 8, 10])
            #expect(try await kind.stored(2, other) == [6, 7, 8, 10])
        }
    }
}
