import Kindred
import KindredLive
import KindredTesting
import Testing

private let schema = """
    CREATE SCHEMA shop;
    CREATE TABLE shop.item (id integer PRIMARY KEY, name text);
    INSERT INTO shop.item VALUES (1, 'a'), (2, 'b');
    CREATE VIEW item_name AS SELECT id, name FROM shop.item;
    """

/// A role that loses its right to read a table, and gets it back.
@Suite(.database(.sql(schema)), .timeLimit(.minutes(5))) struct LostRightTests {
    /// A way to take the right away, and to give it back; `$` stands for the reader's role, `#` for a group's.
    struct Way: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let grant: String
        let revoke: String

        init(_ name: String, grant: String, revoke: String) {
            (testDescription, self.grant, self.revoke) = (name, grant, revoke)
        }

        static let all = [
            Way("table", grant: "GRANT SELECT ON shop.item TO $", revoke: "REVOKE SELECT ON shop.item FROM $"),
            Way(
                "schema", grant: "GRANT USAGE ON SCHEMA shop TO $; GRANT SELECT ON shop.item TO $",
                revoke: "REVOKE USAGE ON SCHEMA shop FROM $"),
            Way("group", grant: "GRANT SELECT ON shop.item TO #; GRANT # TO $", revoke: "REVOKE # FROM $"),
        ]

        func granting(_ roles: [String]) -> String { Self.text(grant, roles) }
        func revoking(_ roles: [String]) -> String { Self.text(revoke, roles) }

        private static func text(_ text: String, _ roles: [String]) -> String {
            text.replacing("$", with: roles[0]).replacing("#", with: roles[1])
        }
    }

    /// Runs `body` with the database of a reader that has its right in some way.
    private func lend(
        _ way: Way, _ body: (_ database: Database, _ roles: [String], _ other: PostgresClient) async throws -> Void
    ) async throws {
        try await withLive("shop.item") { owner, _, other in
            try await withReader(of: owner, other) { first in
                let role = try #require(first.client.configuration.user)
                let group = "group_\(UInt32.random(in: 0..<UInt32.max))"
                try await other.query("CREATE ROLE \(identifier: group)")
                if way.testDescription != "schema" {
                    try await other.runScript("GRANT USAGE ON SCHEMA shop TO \(role)")
                }
                try await other.runScript("\(way.granting([role, group])); GRANT SELECT ON item_name TO \(role)")
                // With the role's model of now.
                let database = try await Database.connect(first.client.configuration)
                let result: Result<Void, any Error>
                do {
                    result = .success(try await body(database, [role, group], other))
                } catch {
                    result = .failure(error)
                }
                await database.close(timeout: .zero)
                try await other.query("DROP OWNED BY \(identifier: group)")
                try await other.query("DROP ROLE \(identifier: group)")
                try result.get()
            }
        }
    }

    @Test(arguments: Way.all) func changesMeanwhileAreToldOnceAsAGap(_ way: Way) async throws {
        try await lend(way) { database, roles, other in
            let context = database.makeContext()
            var changes = try await context.changes(of: "shop.item").makeAsyncIterator()
            for round in Int32(0)..<2 {
                try await other.runScript(way.revoking(roles))
                try await other.query("INSERT INTO shop.item VALUES (\(10 * round + 10), 'hidden')")
                #expect(try await changes.seen(database) == .everything(.accessDenied, ["item"]))
                for id in 1...Int32(3) {
                    try await other.query("INSERT INTO shop.item VALUES (\(10 * round + 10 + id), 'hidden')")
                    try await database.tracking.catchUp()
                }
                if round == 1 {
                    // The model is read without the table, and once more when its records come again.
                    try await database.refreshSchema()
                    try await other.query("CREATE TABLE shop.more (id integer PRIMARY KEY)")
                    try await database.tracking.catchUp()
                }
                try await other.runScript(way.granting(roles))
                try await other.query("UPDATE shop.item SET name = \("seen \(round)") WHERE id = 1")
                let seen = try await changes.seen(database)
                if round == 0 {
                    #expect(seen == .changes(inserted: [], updated: ["item 1": ["name"]], deleted: []))
                } else {
                    #expect(seen != nil)
                }
            }
        }
    }

    @Test(arguments: Way.all) func listsAndContextsSayThatTheRightIsGone(_ way: Way) async throws {
        try await lend(way) { database, roles, other in
            let context = database.makeContext(tracking: .automatic)
            var list = try await database.makeContext().fetch("shop.item").sorted("id").live().makeAsyncIterator()
            var view = try await database.makeContext().fetch("item_name").sorted("id").live().makeAsyncIterator()
            let object = try #require(try await context.fetch("shop.item").sorted("id").first())
            #expect(try await list.update().integers() == [1, 2])
            #expect(try await view.update().integers() == [1, 2])
            try await other.runScript(way.revoking(roles))
            try await other.query("INSERT INTO shop.item VALUES (3, 'hidden')")
            try await other.query("UPDATE shop.item SET name = 'hidden' WHERE id = 1")
            let error = await expectError(.accessDenied) { _ = try await list.next() }
            #expect(error?.message.contains("shop.item") == true && error?.message.contains("gone") == false)
            // Its rights on the view are left.
            #expect(try await view.update().integers() == [1, 2, 3])
            await expectError(.accessDenied) { try await database.tracking.catchUp() }
            await expectError(.accessDenied) { _ = try await context.fetch("shop.item").all() }
            try await other.runScript(way.granting(roles))
            #expect(try await context.fetch("shop.item").sorted("id").all().count == 3)
            #expect(object["name"] == "hidden")
            try await other.query("UPDATE shop.item SET name = 'seen' WHERE id = 1")
            try await database.tracking.catchUp()
            #expect(object["name"] == "seen")
            var again = try await database.makeContext().fetch("shop.item").sorted("id").live().makeAsyncIterator()
            #expect(try await again.update().integers() == [1, 2, 3])
        }
    }
}
