import Kindred
import KindredTesting
import Testing

/// Streams of objects beside other work of the same context.
@Suite struct StreamTests {
    private static let rows = """
        CREATE TABLE item (id integer PRIMARY KEY, filler text NOT NULL, number integer NOT NULL DEFAULT 0);
        INSERT INTO item SELECT i, repeat('x', 1000), 0 FROM generate_series(1, 1000) i;
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
