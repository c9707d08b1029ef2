import Kindred
import KindredTesting
import TestSupport
import Testing

/// Foreign keys to a unique key that is not the primary key, with so many objects in memory that these are looked up by it.
@Suite struct UniqueKeyReferenceTests {
    private static let schema = """
        CREATE TABLE owner (id int PRIMARY KEY, code text NOT NULL UNIQUE, name text);
        CREATE TABLE part (
            id int PRIMARY KEY, code text CONSTRAINT owner__parts REFERENCES owner (code) ON DELETE CASCADE, note int);
        INSERT INTO owner SELECT i, 'c' || i, 'n' || i FROM generate_series(1, 60) i;
        INSERT INTO part SELECT i, 'c' || (i % 50 + 1), i FROM generate_series(1, 200) i;
        """

    /// Every object shows what the database has, seen from either end, without asking it for an owner.
    private func expectRight(
        _ owners: [DatabaseObject], _ parts: [DatabaseObject], _ database: Database,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        var codes: [PostgresValue?: PostgresValue?] = [:]
        for row in try await database.makeContext().fetch("part").all() { codes[row["id"]] = row["code"] }
        for part in parts {
            let id = part["id"]
            #expect(part.isDeleted == (codes[id] == nil), "\(part)", sourceLocation: sourceLocation)
            guard !part.isDeleted, let code = codes[id] else { continue }
            #expect(part["code"] == code, "\(part)", sourceLocation: sourceLocation)
            let wanted = owners.first { !$0.isDeleted && code != nil && $0["code"] == code }
            try await expectStatements([]) {
                let found = try await part.value(forKey: "owner")?.object
                #expect(found === wanted, "\(part)", sourceLocation: sourceLocation)
            }
        }
    }

    @Test(.database(.sql(schema)), arguments: 1...4) func bothEndsStayRight(seed: UInt64) async throws {
        try await withDatabase { database, context, other in
            var generator = SeededGenerator(seed: seed)
            var owners = try await context.fetch("owner").sorted("id").all()
            var parts = try await context.fetch("part").sorted("id").all()
            var next = 1_000
            for step in 0..<60 {
                next += 1
                let live = owners.filter { !$0.isDeleted }
                let part = try #require(parts.filter { !$0.isDeleted }.randomElement(using: &generator))
                let owner = try #require(live.randomElement(using: &generator))
                switch Int.random(in: 0..<6, using: &generator) {
                case 0: try await part.setValue(owner, forKey: "owner")
                case 1: try await part.setValue(try owner.value(forKey: "code", as: String.self), forKey: "code")
                case 2: owners.append(try await context.create("owner", ["id": next, "code": "x\(next)"]))
                case 3: parts.append(try await context.create("part", ["id": next, "owner": owner]))
                case 4:
                    // A code that no row references may change, and lead to another row.
                    let free = try await context.create("owner", ["id": next, "code": "y\(next)"])
                    try await free.setValue("z\(next)", forKey: "code")
                    owners.append(free)
                    parts.append(try await context.create("part", ["id": next, "code": "z\(next)"]))
                default: try await context.delete(owner)
                }
                if step % 15 == 14 { try await expectRight(owners, parts, database) }
            }
        }
    }
}
