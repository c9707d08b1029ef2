import Kindred
import KindredTesting
import Testing

/// Foreign keys whose columns have other types or collations than the referenced columns: the constraint's comparison
/// counts.
@Suite struct ForeignComparisonTests {
    fileprivate struct Kind {
        let name: String
        let key: String
        let referencing: String
        let keys: [String]
        /// Of each row the value that refers to a key, and the place of that key.
        let rows: [(value: String, key: Int)]
        var isFolded = false

        var schema: String {
            """
            CREATE TABLE \(name) (name \(key) PRIMARY KEY);
            CREATE TABLE \(name)_visit (
                id integer PRIMARY KEY, place \(referencing) CONSTRAINT owner__visits REFERENCES \(name));
            CREATE TABLE \(name)_friend (
                id integer PRIMARY KEY);
            CREATE TABLE \(name)_pair (
                place \(referencing) CONSTRAINT owner__pairs REFERENCES \(name),
                friend_id integer CONSTRAINT friend__pairs REFERENCES \(name)_friend, PRIMARY KEY (place, friend_id));
            INSERT INTO \(name) VALUES \(keys.map { "('\($0)')" }.joined(separator: ", "));
            INSERT INTO \(name)_visit VALUES
                \(rows.enumerated().map { "(\($0), '\($1.value)')" }.joined(separator: ", "));
            INSERT INTO \(name)_friend SELECT i FROM generate_series(0, 9) AS i;
            INSERT INTO \(name)_pair SELECT place, id FROM \(name)_visit;

            """
        }
    }

    private static let kinds = [
        Kind(
            name: "mixed", key: "text", referencing: "ext.citext", keys: ["A", "a"],
            rows: [("A", 0), ("a", 1), ("A", 0)]),
        Kind(
            name: "loose", key: "text COLLATE folded", referencing: "text", keys: ["Ab", "cd"],
            rows: [("aB", 0), ("AB", 0), ("CD", 1)], isFolded: true),
        Kind(
            name: "exact", key: "text", referencing: "text COLLATE folded", keys: ["A", "a"],
            rows: [("A", 0), ("a", 1), ("a", 1)], isFolded: true),
        Kind(
            name: "other", key: #"text COLLATE "C""#, referencing: #"text COLLATE "POSIX""#, keys: ["A", "a"],
            rows: [("A", 0), ("a", 1)]),
    ]

    private static let fixture =
        "CREATE SCHEMA ext;\nCREATE EXTENSION citext SCHEMA ext;\n" + foldedCollation + kinds.map(\.schema).joined()

    @Test(.database(.sql(fixture))) func setsHaveTheRowsThatTheConstraintCounts() async throws {
        try await withDatabase { database, context, other in
            let isFolded = try await hasFoldedCollation(other)
            for kind in Self.kinds where isFolded || !kind.isFolded {
                let owners = try await context.fetch(kind.name).sorted("name").all()
                    .sorted { kind.place(of: $0) < kind.place(of: $1) }
                #expect(owners.count == kind.keys.count)
                for (place, owner) in owners.enumerated() {
                    let ids = kind.rows.indices.filter { kind.rows[$0].key == place }
                    let set = try await owner.set(forKey: "visits")
                    #expect(try await set.count == ids.count, "\(kind.name)")
                    #expect(try await set.objects.map { try $0.storedID }.sorted() == ids, "\(kind.name)")
                    let friends = try await owner.set(forKey: "\(kind.name)_friendSet")
                    #expect(try await friends.count == ids.count, "\(kind.name)")
                    #expect(try await friends.objects.map { try $0.storedID }.sorted() == ids, "\(kind.name)")
                    let found = try await context.fetch("\(kind.name)_visit").where("owner == %@", owner).sorted("id")
                        .all()
                    #expect(try found.map { try $0.storedID } == ids, "\(kind.name)")
                    let named = try await context.fetch("\(kind.name)_visit")
                        .where("owner.name == %@", kind.keys[place]).sorted("id").all()
                    #expect(try named.map { try $0.storedID } == ids, "\(kind.name)")
                    let holders = try await context.fetch(kind.name).where("ANY visits.id == %@", ids[0]).all()
                    #expect(holders == [owner], "\(kind.name)")
                    let paired = try await context.fetch(kind.name)
                        .where("ANY \(kind.name)_friendSet.id == %@", ids[0]).all()
                    #expect(paired == [owner], "\(kind.name)")
                }
                let fresh = database.makeContext()
                let prefetched = try await fresh.fetch(kind.name).prefetch("visits").all()
                for owner in prefetched {
                    let count = kind.rows.count { $0.key == kind.place(of: owner) }
                    #expect(try await owner.set(forKey: "visits").count == count, "\(kind.name)")
                }
                let visits = try await fresh.fetch("\(kind.name)_visit").prefetch("owner").sorted("id").all()
                for (visit, row) in zip(visits, kind.rows) {
                    let owner = try await visit.object(forKey: "owner")
                    #expect(owner?["name"] == .string(kind.keys[row.key]), "\(kind.name)")
                }
                // The members that leave are the rows that the constraint counts.
                let first = kind.rows.count { $0.key == 0 }
                try await owners[0].set(forKey: "visits").removeAll()
                let left = try await context.fetch("\(kind.name)_visit").where("place != nil").count()
                #expect(left == kind.rows.count - first, "\(kind.name)")
                try await owners[0].set(forKey: "\(kind.name)_friendSet").removeAll()
                #expect(try await context.fetch("\(kind.name)_pair").count() == kind.rows.count - first, "\(kind.name)")
            }
        }
    }
}

extension ForeignComparisonTests.Kind {
    fileprivate func place(of owner: DatabaseObject) -> Int {
        guard case .string(let name)? = owner["name"] else { return -1 }
        return keys.firstIndex(of: name) ?? -1
    }
}
