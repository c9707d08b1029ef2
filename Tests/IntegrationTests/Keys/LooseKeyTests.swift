import Kindred
import KindredTesting
import Testing

/// Foreign keys that the server holds equal to keys of another form.
@Suite struct LooseKeyTests {
    static let schema = """
        CREATE TABLE padded (key char(5) PRIMARY KEY, name text);
        CREATE TABLE counted (key numeric PRIMARY KEY, name text);
        CREATE TABLE dated (key timestamp PRIMARY KEY, name text);
        INSERT INTO padded VALUES ('abc', 'A'), ('def', 'B');
        INSERT INTO counted VALUES (1.0, 'A'), (2, 'B');
        INSERT INTO dated VALUES ('2020-01-01', 'A'), ('2021-01-01', 'B');
        CREATE TABLE padded_row (
            id int PRIMARY KEY, owner char(10) CONSTRAINT padded__rows REFERENCES padded ON DELETE CASCADE);
        CREATE TABLE counted_row (
            id int PRIMARY KEY, owner int CONSTRAINT counted__rows REFERENCES counted ON DELETE CASCADE);
        CREATE TABLE dated_row (
            id int PRIMARY KEY, owner date CONSTRAINT dated__rows REFERENCES dated ON DELETE CASCADE);
        INSERT INTO padded_row VALUES (1, 'abc'), (2, 'def'), (3, 'abc'), (4, NULL);
        INSERT INTO counted_row VALUES (1, 1), (2, 2), (3, 1), (4, NULL);
        INSERT INTO dated_row VALUES (1, '2020-01-01'), (2, '2021-01-01'), (3, '2020-01-01'), (4, NULL);
        """

    private static let folded = """
        CREATE COLLATION folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
        CREATE TABLE folded (key text COLLATE folded PRIMARY KEY, name text);
        INSERT INTO folded VALUES ('abc', 'A'), ('def', 'B');
        CREATE TABLE folded_row (
            id int PRIMARY KEY, owner text COLLATE folded CONSTRAINT folded__rows REFERENCES folded ON DELETE CASCADE);
        INSERT INTO folded_row VALUES (1, 'ABC'), (2, 'Def'), (3, 'abC'), (4, NULL);
        """

    /// Adds tables whose keys ignore case; false where the server was built without ICU, and has no such collations.
    private func addFolded() async throws -> Bool {
        var isAdded = true
        try await withClient { client in
            do {
                try await client.runScript(Self.folded)
            } catch let error as PostgresError where error.sqlState == .featureNotSupported {
                isAdded = false
            }
        }
        return isAdded
    }

    @Test(.database) func formsOfOneKeyThatAreAskedForTogetherLeadToTheSameObject() async throws {
        guard try await addFolded() else { return }
        try await withDatabase { database, _, other in
            try await other.query("INSERT INTO folded_row VALUES (5, 'abc')")
            for ids in ["1, 5", "3, 5", "1, 3, 5", "5, 2", "2, 4, 5"] {
                for isPrefetched in [false, true] {
                    let context = database.makeContext()
                    var request = try context.fetch("folded_row").where("id IN {\(ids)}").sorted("id")
                    if isPrefetched { request = try request.prefetch("folded") }
                    let rows = try await request.all()
                    for row in rows {
                        let owner = try await row.object(forKey: "folded")
                        let expected: PostgresValue? = row["id"] == 4 ? nil : row["id"] == 2 ? "B" : "A"
                        #expect(owner?["name"] == expected, "\(ids) \(row)")
                    }
                }
            }
        }
    }

    @Test(.database(.sql(schema)), arguments: ["folded", "padded", "counted", "dated"])
    func bothSidesStayRight(owner name: String) async throws {
        if name == "folded" { guard try await addFolded() else { return } }
        try await withDatabase { database, context, other in
            let rows = try await context.fetch("\(name)_row").sorted("id").all()
            let owners = try await context.fetch(name).sorted("name").all()
            let sets = [
                try await owners[0].set(forKey: "\(name)_rowSet"), try await owners[1].set(forKey: "\(name)_rowSet"),
            ]
            func expect(_ first: [Int], _ second: [Int], sourceLocation: SourceLocation = #_sourceLocation) async throws
            {
                let fresh = database.makeContext()
                for (position, expected) in [first, second].enumerated() {
                    let ids = try await sets[position].objects.compactMap { try $0.value(forKey: "id", as: Int.self) }
                    #expect(ids.sorted() == expected, "in memory", sourceLocation: sourceLocation)
                    #expect(try await sets[position].count == expected.count, sourceLocation: sourceLocation)
                    let owner = try await fresh.fetch(name).sorted("name").all()[position]
                    let stored = try await fresh.fetch("\(name)_row").where("%K = %@", name, owner)
                        .sorted("id").select("id").all(as: Int.self).compactMap { $0 }
                    #expect(stored == expected, "in the database", sourceLocation: sourceLocation)
                }
                for row in rows where !row.isDeleted {
                    let id = try #require(try row.value(forKey: "id", as: Int.self))
                    let expected = first.contains(id) ? owners[0] : second.contains(id) ? owners[1] : nil
                    #expect(try await row.object(forKey: name) === expected, sourceLocation: sourceLocation)
                }
            }
            try await expect([1, 3], [2])
            try await sets[1].insert(rows[0])
            try await expect([3], [1, 2])
            try await rows[1].setValue(owners[0], forKey: name)
            try await expect([2, 3], [1])
            try await sets[0].set([rows[0], rows[3]])
            try await expect([1, 4], [])
            rows[2]["owner"] = rows[0]["owner"]
            try await context.save()
            try await expect([1, 3, 4], [])
            let new = try context.add("\(name)_row", ["id": 5, name: owners[1]])
            try await context.save()
            try await expect([1, 3, 4], [5])
            try await new.setValue(nil, forKey: name)
            try await expect([1, 3, 4], [])
            try await context.fetch("\(name)_row").where("id = 3").update([name: owners[1]])
            try await expect([1, 4], [3])
            _ = try await context.transaction {
                await #expect(throws: CancellationError.self) { () async throws in
                    try await context.transaction {
                        try await sets[0].insert(rows[2])
                        throw CancellationError()
                    }
                }
            }
            try await expect([1, 4], [3])
            try await context.delete(owners[0])
            #expect(rows.map(\.isDeleted) == [true, false, false, true])
        }
    }

    @Test(.database(.sql(schema))) func twoRowsWithEqualKeysAreNoUpsert() async throws {
        let isFolded = try await addFolded()
        try await withDatabase { database, context, other in
            for (entity, keys) in [("padded", ["xyz", "xyz "])] + (isFolded ? [("folded", ["xyz", "XYZ"])] : []) {
                let rows: [[String: (any PropertyValue)?]] = keys.map { ["key": $0, "name": "X"] }
                await expectError(.invalidRequest) {
                    try await context.upsert(entity, rows, on: "key")
                }
                let kept = try await context.create(entity, rows, unlessExists: "key")
                #expect(kept.count == 2 && kept[0] === kept[1])
            }
        }
    }

    @Test(.database(.sql(schema)), arguments: ["folded", "padded"])
    func deletionsReachWhatTheServerReaches(owner name: String) async throws {
        if name == "folded" { guard try await addFolded() else { return } }
        try await withDatabase { database, context, other in
            let rows = try await context.fetch("\(name)_row").sorted("id").all()
            try await context.fetch(name).where("name = 'A'").delete()
            #expect(rows.map(\.isDeleted) == [true, false, true, false])
        }
    }
}
