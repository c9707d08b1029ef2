import Kindred
import KindredTesting
import Testing

/// Owners whose keys have several columns, or are texts that only the server compares, and relationships with an order.
@Suite struct PartKeyTests {
    @Test(.database(.file("../../../sql/demo.sql"))) func keysOfSeveralColumnsAreMatchedTogether() async throws {
        try await withDatabase { database, context, other in
            var purchases: [DatabaseObject] = []
            try await expectStatements(["SELECT", "SELECT"]) { () async throws in
                purchases = try await context.fetch("purchase").prefetch("lines") {
                    $0.sorted("copies", ascending: false).sorted("line").limit(1)
                }.all()
            }
            try #require(purchases.count > 5)
            for purchase in purchases {
                let expected = try await other.values(
                    """
                    SELECT line FROM purchase_line WHERE store_id = \(purchase["store_id"])
                    AND purchase_number = \(purchase["number"]) ORDER BY copies DESC, line LIMIT 1
                    """)
                try await expectStatements([]) { () async throws in
                    let lines = try await purchase.set(forKey: "lines").sorted("copies", ascending: false).sorted(
                        "line"
                    )
                    .limit(1).all()
                    #expect(lines.map { $0["line"] } == expected)
                }
            }
        }
    }

    @Test(.database(.file("../../../sql/demo.sql"))) func anOrderedRelationshipKeepsItsOrder() async throws {
        try await withDatabase { database, context, other in
            var books: [DatabaseObject] = []
            try await expectStatements(["SELECT", "SELECT"]) { () async throws in
                books = try await context.fetch("book").prefetch("authors") { $0.limit(2) }.all()
            }
            for book in books {
                let expected = try await other.values(
                    """
                    SELECT author_id FROM book_author WHERE book_id = \(book["id"]) ORDER BY position, author_id LIMIT 2
                    """)
                try await expectStatements([]) { () async throws in
                    #expect(try await book.set(forKey: "authors").limit(2).all().keys == expected)
                }
            }
        }
    }

    @Test(
        .database(
            .sql(
                foldedCollation + """
                    CREATE TABLE owner (name text COLLATE folded PRIMARY KEY);
                    CREATE TABLE item (
                        id integer PRIMARY KEY, owner text COLLATE folded CONSTRAINT holder__items REFERENCES owner);
                    INSERT INTO owner VALUES ('Ann'), ('Bob');
                    INSERT INTO item VALUES (1, 'Ann'), (2, 'Ann'), (3, 'Bob');
                    """)))
    func textsThatTheServerComparesAreOneStatement() async throws {
        try await withDatabase { database, context, other in
            if try await hasFoldedCollation(other) { try await other.query("UPDATE item SET owner = lower(owner)") }
            for limit in [nil, 2] {
                let fresh = database.makeContext()
                var owners: [DatabaseObject] = []
                try await expectStatements(["SELECT", "SELECT"]) { () async throws in
                    owners = try await fresh.fetch("owner").sorted("name").prefetch("items") { part in
                        let sorted = part.sorted("id", ascending: false)
                        return limit.map { sorted.limit($0) } ?? sorted
                    }.all()
                }
                try await expectStatements([]) { () async throws in
                    var keys: [[PostgresValue?]] = []
                    for owner in owners {
                        let items = try await owner.set(forKey: "items").sorted("id", ascending: false)
                        keys.append(try await (limit.map { items.limit($0) } ?? items).all().keys)
                    }
                    #expect(keys == [[2, 1], [3]])
                }
            }
        }
    }

    @Test(.database(.sql(partSchema))) func ownersBeyondAGroupAreOneStatementToo() async throws {
        try await withDatabase { database, context, other in
            try await other.query("INSERT INTO project SELECT i, 'p' FROM generate_series(5, 2500) AS i")
            try await other.query(
                "INSERT INTO task SELECT i, 't', i, false, i FROM generate_series(100, 2500) AS i")
            var projects: [DatabaseObject] = []
            try await expectStatements(["SELECT", "SELECT"]) { () async throws in
                projects = try await context.fetch("project").prefetch("tasks") { $0.openTasks }.all()
            }
            try await expectStatements([]) { () async throws in
                var count = 0
                for project in projects { count += try await project.set(forKey: "tasks").openTasks().count() }
                #expect(count == 12 + 2401)
            }
        }
    }
}
