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
    CREATE TABLE entry (
        word_code citext REFERENCES word ON UPDATE CASCADE, number integer, PRIMARY KEY (word_code, number));
    INSERT INTO account SELECT generate_series(1, 5);
    INSERT INTO rivalry VALUES (3, 3), (1, 3), (3, 2), (1, 2);
    INSERT INTO word VALUES ('a'), ('b');
    INSERT INTO usage VALUES (1, 'a'), (2, 'A'), (3, 'b');
    INSERT INTO entry VALUES ('a', 1), ('a', 2), ('b', 1);
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

    /// A key that is spelled otherwise equals the key before, and is other bytes: the object of another key, as with every key that
    /// another client changes.
    @Test func aKeySpelledOtherwiseIsTold() async throws {
        try await withLive("word", "usage", "entry") { database, _, other in
            let context = database.makeContext(tracking: .automatic)
            var list = try await context.fetch("usage").sorted("id").prefetch("word").live().makeAsyncIterator()
            var words = try await context.fetch("word").sorted("code").prefetch("usageSet").prefetch("entrySet").live()
                .makeAsyncIterator()
            let changes = try await context.changes(of: "entry")
            var updates = changes.makeAsyncIterator()
            _ = try await (list.update(), words.update())
            let usages = try await context.fetch("usage").sorted("id").all()
            for (old, spelling) in [("a", "A"), ("A", "a"), ("a", "A")] {
                let word = try await context.get("word", old)
                let members = try await word.set(forKey: "usageSet").objects
                #expect(Set(members.map { $0["id"] }) == [.integer(1), .integer(2)])
                let entries = try await word.set(forKey: "entrySet").objects
                #expect(Set(entries.map { $0["number"] }) == [.integer(1), .integer(2)])
                try await other.query("UPDATE word SET code = \(spelling) WHERE code = 'a'")
                try await database.tracking.catchUp()
                let stored = try await other.query("SELECT word_code::text FROM usage ORDER BY id")
                    .map { try $0.decode(0, as: String.self).map { PostgresValue.string($0) } }
                #expect(usages.map { $0["word_code"] } == stored && word.isDeleted)
                #expect(!entries.isEmpty && entries.map(\.isDeleted).allSatisfy { $0 })
                let update = try await list.update()
                #expect(update.values("word_code") == stored)
                let shown = try await words.update()
                #expect(shown.values("code") == [.string(spelling), .string("b")])
                for key in ["usageSet", "entrySet"] {
                    #expect(try await shown.objects[0].set(forKey: key).objects.count == 2)
                }
                guard case .changes(let batch)? = try await updates.next() else {
                    Issue.record("A gap")
                    return
                }
                #expect(batch.deleted.count == 2 && batch.inserted.count == 2 && batch.updated.isEmpty)
                #expect(batch.inserted.allSatisfy { $0.values.first == .string(spelling) })
            }
        }
    }
}
