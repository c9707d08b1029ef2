import Kindred
import KindredLive
import KindredTesting
import Testing

private let schema = """
    CREATE EXTENSION citext;
    CREATE TABLE account (id integer PRIMARY KEY);
    CREATE TABLE rivalry (
        one integer REFERENCES account ON UPDATE CASCADE, other integer REFERENCES account ON UPDATE CASCADE,
        PRIMARY KEY (one, other));
    CREATE TABLE word (code citext PRIMARY KEY, note text);
    CREATE TABLE usage (
        id integer PRIMARY KEY, word_code citext REFERENCES word ON UPDATE CASCADE, place text NOT NULL DEFAULT 'x');
    INSERT INTO account SELECT generate_series(1, 5);
    INSERT INTO rivalry VALUES (3, 3), (1, 3), (3, 2), (1, 2);
    INSERT INTO word VALUES ('a'), ('b');
    INSERT INTO usage VALUES (1, 'a'), (2, 'A'), (3, 'b');
    """

/// Changes by which rows are equal to what they were, and not the same.
@Suite(.database(.sql(schema)), .timeLimit(.minutes(10))) struct EqualRowsTests {
    @Test func twoCascadesOfOneStatementNameWhatIsCommitted() async throws {
        try await withLive("account", "rivalry") { _, context, other in
            let changes = try await context.changes(of: "rivalry")
            var updates = changes.makeAsyncIterator()
            var list = try await context.fetch("rivalry").sorted("one").sorted("other").live().makeAsyncIterator()
            _ = try await list.update()
            for (old, new) in [(3, 30), (30, 3), (1, 10)] {
                let before = try await Self.pairs(other)
                try await other.query("UPDATE account SET id = \(new) WHERE id = \(old)")
                let after = try await Self.pairs(other)
                guard case .changes(let batch)? = try await updates.next() else {
                    Issue.record("A gap")
                    return
                }
                func pairs(_ ids: some Collection<ObjectID>) -> Set<[PostgresValue]> { Set(ids.map(\.values)) }
                #expect(pairs(batch.deleted) == before.subtracting(after))
                #expect(pairs(batch.inserted) == after.subtracting(before) && batch.updated.isEmpty)
                let update = try await list.update()
                #expect(Set(update.objects.map { [$0["one"], $0["other"]].compactMap(\.self) }) == after)
            }
        }
    }

    private static func pairs(_ other: PostgresClient) async throws -> Set<[PostgresValue]> {
        Set(
            try await other.query("SELECT one, other FROM rivalry").map { row in
                [.integer(try row.decode(0, as: Int64.self) ?? 0), .integer(try row.decode(1, as: Int64.self) ?? 0)]
            })
    }

    /// A key that is spelled otherwise equals the key before, and is other bytes.
    @Test func aKeySpelledOtherwiseIsTold() async throws {
        try await withLive("word", "usage") { database, _, other in
            let context = database.makeContext(tracking: .automatic)
            var list = try await context.fetch("usage").sorted("id").prefetch("word").live().makeAsyncIterator()
            var words = try await context.fetch("word").sorted("code").prefetch("usageSet").live().makeAsyncIterator()
            let changes = try await context.changes(of: "usage", "word")
            var updates = changes.makeAsyncIterator()
            _ = try await (list.update(), words.update())
            let word = try #require(try await context.fetch("word").where("code = %@", "a").first())
            let usages = try await word.set(forKey: "usageSet").objects
            #expect(Set(usages.map { $0["id"] }) == [.integer(1), .integer(2)])
            for spelling in ["A", "a", "A"] {
                try await other.query("UPDATE word SET code = \(spelling) WHERE code = 'a'")
                try await database.tracking.catchUp()
                let stored = try await other.query("SELECT word_code::text FROM usage ORDER BY id")
                    .map { try $0.decode(0, as: String.self).map { PostgresValue.string($0) } }
                #expect(usages.sorted { $0.key() < $1.key() }.map { $0["word_code"] } == Array(stored.prefix(2)))
                #expect(word["code"] == .string(spelling) && !word.isDeleted)
                let members = try await word.set(forKey: "usageSet").objects
                #expect(Set(members.map { $0["id"] }) == [.integer(1), .integer(2)])
                let update = try await list.update()
                #expect(update.values("word_code") == stored)
                let shown = try await words.update()
                #expect(shown.values("code") == [.string(spelling), .string("b")])
                let shownMembers = try await shown.objects[0].set(forKey: "usageSet").objects
                #expect(Set(shownMembers.map { $0["id"] }) == [.integer(1), .integer(2)])
                #expect(try await updates.next() != nil)
            }
        }
    }
}

extension DatabaseObject {
    fileprivate func key() -> Int64 { if case .integer(let id)? = self["id"] { id } else { 0 } }
}
