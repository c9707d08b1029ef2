import Kindred
import KindredTesting
import Testing

/// Staged foreign keys of another form than the key that the server holds equal join and leave sets before they are saved.
@Suite struct StagedLooseKeyTests {
    struct Keys: Sendable, CustomTestStringConvertible {
        let type: String
        let referencing: String
        /// Two keys, and other forms of them.
        let first: (key: PostgresValue, form: PostgresValue)
        let second: (key: PostgresValue, form: PostgresValue)

        var testDescription: String { "\(type) \(referencing)" }

        var schema: String {
            """
            CREATE TABLE owner (key \(type) PRIMARY KEY);
            CREATE TABLE entry (
                id integer PRIMARY KEY, owner \(referencing) CONSTRAINT owner__rows REFERENCES owner ON DELETE CASCADE);
            """
        }
    }

    private static let kinds = [
        Keys(type: "citext", referencing: "citext", first: ("abc", "ABC"), second: ("def", "Def")),
        Keys(
            type: "text COLLATE folded", referencing: "text COLLATE folded", first: ("abc", "ABC"),
            second: ("def", "Def")),
        Keys(type: "char(5)", referencing: "char(8)", first: ("abc  ", "abc"), second: ("def  ", "def     ")),
        Keys(
            type: "numeric", referencing: "integer", first: (.numeric(PostgresNumeric(1)), 1),
            second: (.numeric(PostgresNumeric(2)), 2)),
    ]

    private static let types = """
        CREATE EXTENSION citext;
        \(foldedCollation)
        """

    /// The members that the sets of the two owners show, in any way of asking.
    private func shown(_ owners: [DatabaseObject], among rows: [DatabaseObject]) async throws -> [[Int]] {
        var shown: [[Int]] = []
        for owner in owners {
            let set = try await owner.set(forKey: "rows")
            var contained: [Int] = []
            for row in rows where try await set.contains(row) { contained.append(try row.storedID) }
            #expect(try await set.count == contained.count)
            #expect(try await set.isEmpty == contained.isEmpty)
            let members = try await set.objects.map { try $0.storedID }
            #expect(members.sorted() == contained.sorted())
            shown.append(contained)
        }
        return shown
    }

    @Test(.database(.sql(types)), arguments: kinds) func setsFollowWhatWillBeStored(_ keys: Keys) async throws {
        try await withClient { try await $0.runScript(keys.schema) }
        try await withDatabase { database, context, other in
            if keys.type.contains("folded"), try await !hasFoldedCollation(other) { return }
            let made = database.makeContext()
            for key in [keys.first.key, keys.second.key] { try await made.create("owner", ["key": key]) }
            for (id, owner) in [(1, keys.first.form), (2, keys.first.form), (3, keys.second.form)] {
                try await made.create("entry", ["id": id, "owner": owner])
            }
            let owners = try await context.fetch("owner").sorted("key").all()
            var rows = try await context.fetch("entry").sorted("id").all()
            #expect(try await shown(owners, among: rows) == [[1, 2], [3]])
            // One leaves the first set for the second, and comes by its other form.
            rows[0]["owner"] = keys.second.form
            #expect(try await shown(owners, among: rows) == [[2], [1, 3]])
            // A new one joins.
            rows.append(try context.add("entry", ["id": 4, "owner": keys.first.form]))
            rows[2]["owner"] = nil
            let staged = try await shown(owners, among: rows)
            #expect(staged == [[2, 4], [1]])
            // A set that was not read before.
            let fresh = database.makeContext()
            let row = try #require(await fresh.find("entry", 2))
            row["owner"] = keys.second.form
            let second = try #require(await fresh.fetch("owner").sorted("key").all().last)
            #expect(try await second.set(forKey: "rows").count == 2)
            try await context.save()
            #expect(try await shown(owners, among: rows) == staged)
            for (place, ids) in staged.enumerated() {
                let stored = try await other.values(
                    """
                    SELECT e.id FROM (SELECT key, row_number() OVER (ORDER BY key) AS place FROM owner) AS o
                    JOIN entry AS e ON e.owner = o.key WHERE o.place = \(place + 1) ORDER BY e.id
                    """)
                #expect(stored == ids.map { .integer(Int64($0)) })
            }
            // Taken back, all is as before.
            rows[1]["owner"] = keys.second.form
            #expect(try await shown(owners, among: rows) == [[4], [1, 2]])
            context.rollback()
            #expect(try await shown(owners, among: rows) == staged)
        }
    }

    @Test(.database(.sql(types + kinds[0].schema))) func membersOfANewOwnerAreStoredAfterIt() async throws {
        try await withDatabase { database, context, other in
            let row = try context.add("entry", ["id": 1, "owner": "ABC"])
            let owner = try context.add("owner", ["key": "abc"])
            #expect(try await owner.set(forKey: "rows").objects == [row])
            try await context.save()
            #expect(try await other.values("SELECT owner::text FROM entry") == ["ABC"])
            #expect(try await owner.set(forKey: "rows").objects == [row])
        }
    }

    @Test(.database(.sql(types + kinds[0].schema))) func theServerIsAskedOnceForEachForm() async throws {
        try await withDatabase { database, context, other in
            for key in ["abc", "def"] { try await context.create("owner", ["key": key]) }
            let owner = try #require(await context.find("owner", "abc"))
            let row = try await context.create("entry", ["id": 1, "owner": "DEF"])
            row["owner"] = "ABC"
            // The staged form, the former one, and the members.
            try await expectStatements(["SELECT given.place", "SELECT"]) { () async throws in
                #expect(try await owner.set(forKey: "rows").objects == [row])
            }
            try await expectStatements([]) { () async throws in
                #expect(try await owner.set(forKey: "rows").count == 1)
            }
        }
    }
}
