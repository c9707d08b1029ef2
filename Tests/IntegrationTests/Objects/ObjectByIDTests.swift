import Kindred
import KindredTesting
import Testing

/// `get` and `find` with an ID: from memory, else by one SELECT.
@Suite(
    .database(.sql("CREATE TABLE item (id integer PRIMARY KEY, name text); INSERT INTO item VALUES (1, 'a'), (2, 'b')"))
)
struct ObjectByIDTests {
    @Test func aRowIsFoundByItsIDAndItsURI() async throws {
        try await withDatabase { database, context, other in
            let id = try #require(try await context.get("item", 1).objectID)
            let fresh = database.makeContext()
            try await expectStatements(["SELECT"]) { () async throws in
                let item = try await fresh.get(id)
                #expect(item["name"] == "a")
                #expect(try await fresh.find(id) === item)
                #expect(try await fresh.get(uri: id.uri) === item)
            }
            try await other.query("DELETE FROM item WHERE id = 1")
            let last = database.makeContext()
            try await expectStatements(["SELECT", "SELECT", "SELECT"]) { () async throws in
                #expect(try await last.find(id) == nil)
                await expectError(.notFound) { _ = try await last.get(id) }
                await expectError(.notFound) { _ = try await last.get(uri: id.uri) }
            }
            let new = try #require(try last.add("item", ["id": 3]).objectID)
            await expectError(.invalidObjectID) { _ = try await last.find(new) }
        }
    }
}
