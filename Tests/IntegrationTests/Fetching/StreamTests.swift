import KindredTesting
import Testing

@testable import Kindred

/// Streams of objects beside other work of the same context.
@Suite struct StreamTests {
    private static let rows = """
        CREATE TABLE item (id integer PRIMARY KEY, filler text NOT NULL, number integer NOT NULL DEFAULT 0);
        INSERT INTO item SELECT i, repeat('x', 1000), 0 FROM generate_series(1, 1000) i;
        """
    private static let linkedRows =
        rows + """
            CREATE TABLE shelf (id integer PRIMARY KEY);
            INSERT INTO shelf VALUES (1);
            ALTER TABLE item ADD COLUMN shelf_id integer REFERENCES shelf;
            UPDATE item SET shelf_id = 1 WHERE id = 1000;
            """

    @Test(
        "D9: rows of an earlier moment do not undo what was written since", .database(.sql(rows)),
        arguments: [false, true])
    func laterPortionsDoNotUndoWhatWasWritten(isInTransaction: Bool) async throws {
        try await withDatabase { database, context, other in
            let changed = try await context.fetch("item").where("id = 1000").one()
            let deleted = try await context.fetch("item").where("id = 999").one()
            func walk() async throws -> [PostgresValue?] {
                var seen: [PostgresValue?] = []
                for try await item in try context.fetch("item").sorted("id").stream() {
                    if seen.isEmpty {
                        try await changed.setValue(7, forKey: "number")
                        try await context.delete(deleted)
                    }
                    seen.append(item["id"])
                }
                return seen
            }
            let seen = isInTransaction ? try await context.transaction { try await walk() } : try await walk()
            #expect(seen == ((1...998) + [1000]).map { .integer($0) })
            #expect(changed["number"] == 7)
            #expect(deleted.isDeleted)
            #expect(try await context.find("item", 999) == nil)
        }
    }

    @Test("what was written since is shown, also if nobody held it", .database(.sql(rows)))
    func laterPortionsShowWhatWasWrittenAndLetGo() async throws {
        try await withDatabase { database, context, other in
            var numbers: [PostgresValue?] = []
            for try await item in try context.fetch("item").sorted("id").stream() {
                if numbers.isEmpty { try await context.find("item", 1000)?.setValue(7, forKey: "number") }
                numbers.append(item["number"])
            }
            #expect(numbers.dropLast().allSatisfy { $0 == 0 } && numbers.last == 7)
            #expect(try await context.find("item", 1000)?["number"] == 7)
        }
    }

    @Test("what was upserted since is not turned back", .database(.sql(rows)))
    func laterPortionsDoNotUndoAnUpsert() async throws {
        try await withDatabase { database, context, other in
            var upserted: DatabaseObject?
            for try await item in try context.fetch("item").sorted("id").stream()
            where upserted == nil && item["id"] == 1 {
                let values: [String: (any PropertyValue)?] = ["id": 1000, "filler": "x", "number": 7]
                upserted = try await context.upsert("item", [values], on: "id").first
            }
            #expect(upserted?["number"] == 7 && upserted?["filler"] == "x")
            let stored = try await other.value("SELECT number FROM item WHERE id = 1000")
            #expect(stored == 7)
        }
    }

    @Test("what was read since, by key, by condition or through a set, is not turned back", .database(.sql(linkedRows)))
    func laterPortionsDoNotTurnBackWhatWasRead() async throws {
        try await withDatabase { database, context, other in
            let held = try await context.find("item", 997)
            var read: [DatabaseObject?] = [held]
            for try await item in try context.fetch("item").sorted("id").stream() where read.count == 1 {
                _ = item
                try await other.query("UPDATE item SET number = 7 WHERE id > 996")
                try await held?.refresh()
                read.append(try await context.find("item", 998))
                read += try await context.fetch("item").where("id = 999").all()
                read += try await context.find("shelf", 1)?.set(forKey: "itemSet").objects ?? []
            }
            #expect(read.map { $0?["id"] } == [997, 998, 999, 1000])
            #expect(read.map { $0?["number"] } == [7, 7, 7, 7])
        }
    }

    @Test("objects that were deleted since are left out, also if they are more than are noted", .database(.sql(rows)))
    func leavesOutMoreDeletionsThanAreNoted() async throws {
        try await withDatabase { database, context, other in
            context.core.withMap { $0.log.maximumEntries = 100 }
            for isInTransaction in [false, true] {
                let first = isInTransaction ? 500 : 750
                let doomed = try await context.fetch("item").where("id >= %@ AND id < %@", first, first + 250).all()
                let kept = try await context.fetch("item").count() - doomed.count
                func walk() async throws -> Int {
                    var count = 0
                    for try await item in try context.fetch("item").sorted("id").stream() {
                        if count == 0 { try await context.delete(doomed) }
                        #expect(!item.isDeleted)
                        count += 1
                    }
                    return count
                }
                #expect(try await (isInTransaction ? context.transaction { try await walk() } : walk()) == kept)
            }
        }
    }

    @Test(.database(.sql(rows))) func whatOthersStoredUnderADeletedKeyIsGiven() async throws {
        try await withDatabase { database, context, other in
            let deleted = try await context.fetch("item").where("id = 3").one()
            try await context.delete(deleted)
            try await other.query("INSERT INTO item VALUES (3, 'new')")
            var new: DatabaseObject?
            for try await item in try context.fetch("item").where("id < 5").sorted("id").stream() where item["id"] == 3
            {
                new = item
            }
            #expect(new?["filler"] == "new" && new !== deleted && new?.isDeleted == false)
        }
    }
}
