import Kindred
import KindredTesting
import Testing

private let shelfSchema = """
    CREATE TABLE shelf (id integer PRIMARY KEY, name text NOT NULL);
    CREATE TABLE book (
        id integer PRIMARY KEY, shelf_id integer REFERENCES shelf ON DELETE SET NULL, title text NOT NULL, note text, body text);
    CREATE TABLE unkeyed (name text);
    COMMENT ON COLUMN book.body IS '@kindred {"lazy": true}';
    INSERT INTO shelf SELECT i, 'shelf ' || i FROM generate_series(1, 3) AS i;
    INSERT INTO book SELECT i, 1 + i % 2, 'book ' || i, NULL, 'body ' || i FROM generate_series(1, 6) AS i;
    INSERT INTO unkeyed VALUES ('a');
    """

/// `context.refresh()`: all objects that the program holds show the database's rows again.
@Suite(.database(.sql(shelfSchema))) struct ContextRefreshTests {
    @Test func allObjectsAreReadByOneSelectForEachEntity() async throws {
        try await withDatabase { _, context, other in
            let shelves = try await context.fetch("shelf").sorted("id").all()
            let books = try await context.fetch("book").sorted("id").all()
            let loose = try await context.fetch("unkeyed").all()
            books[0]["note"] = "mine"
            try await other.query("UPDATE book SET title = title || '!', note = 'theirs'")
            try await other.query("UPDATE shelf SET name = 'top' WHERE id = 1")
            try await other.query("DELETE FROM book WHERE id = 6")
            try await expectStatements(["SELECT", "SELECT"]) { try await context.refresh() }
            #expect(shelves.map { $0["name"] } == ["top", "shelf 2", "shelf 3"])
            #expect(books.map(\.isDeleted) == [false, false, false, false, false, true])
            #expect(books[1]["title"] == "book 2!" && books[1]["note"] == "theirs")
            // Staged values stay, over the row as it is now.
            #expect(books[0]["title"] == "book 1!" && books[0]["note"] == "mine")
            #expect(books[0].stagedValues == ["note": "mine"] && context.hasStagedChanges)
            await expectError(.objectDeleted) { try await books[5].setValue("x", forKey: "title") }
            #expect(loose.map { $0["name"] } == ["a"])
            try await expectStatements(["UPDATE"]) { try await context.save() }
            #expect(try await other.value("SELECT title || note FROM book WHERE id = 1") == "book 1!mine")
        }
    }

    @Test func relationshipsAreAskedAnewForAllThatWereReadTogether() async throws {
        try await withDatabase { _, context, other in
            let shelves = try await context.fetch("shelf").sorted("id").prefetch("bookSet").all()
            let members = try await shelves[0].set(forKey: "bookSet").objects
            let book = try #require(members.first { $0["id"] == 2 })
            #expect(try await book.object(forKey: "shelf") === shelves[0])
            try await other.query("UPDATE book SET shelf_id = 3 WHERE id IN (2, 3)")
            try await other.query("INSERT INTO book VALUES (7, 1, 'new', NULL, NULL)")
            try await context.refresh()
            try await expectStatements(["SELECT"]) { () async throws in
                var numbers: [[PostgresValue?]] = []
                for shelf in shelves {
                    numbers.append(
                        try await shelf.set(forKey: "bookSet").objects.map { $0["id"] }.sorted {
                            "\($0 ?? 0)" < "\($1 ?? 0)"
                        })
                }
                #expect(numbers == [[4, 6, 7], [1, 5], [2, 3]])
            }
            #expect(try await book.object(forKey: "shelf") === shelves[2])
            #expect(try await shelves[1].set(forKey: "bookSet").count == 2)
            withExtendedLifetime(members) {}
        }
    }

    @Test func lazyColumnsAreLoadedAgainWhenTheyAreAskedFor() async throws {
        try await withDatabase { _, context, other in
            let books = try await context.fetch("book").sorted("id").all()
            #expect(try await books[0].loaded("body") == "body 1")
            try await other.query("UPDATE book SET body = body || '!'")
            try await expectStatements(["SELECT"]) { try await context.refresh() }
            #expect(books.allSatisfy { !$0.has("body") })
            try await expectStatements(["SELECT"]) { () async throws in
                for (number, book) in books.enumerated() {
                    #expect(try await book.loaded("body") == .string("body \(number + 1)!"))
                }
            }
        }
    }

    @Test func whatIsNotInTheDatabaseStaysAsItIs() async throws {
        try await withDatabase { _, context, _ in
            try await expectStatements([]) { try await context.refresh() }
            let new = try context.add("shelf", ["id": 9, "name": "new"])
            let gone = try await context.get("shelf", 3)
            try await context.delete(gone)
            try await expectStatements([]) { try await context.refresh() }
            #expect(new.isInserted && new["name"] == "new" && gone.isDeleted)
        }
    }

    @Test func aTransactionSeesItsOwnRowsAndARollbackTakesThemBack() async throws {
        struct Undone: Error {}
        try await withDatabase { _, context, other in
            let shelves = try await context.fetch("shelf").sorted("id").all()
            do {
                try await context.transaction { () async throws in
                    try await shelves[0].setValue("mine", forKey: "name")
                    try await context.query("UPDATE shelf SET name = 'raw' WHERE id = 2")
                    try await context.query("DELETE FROM shelf WHERE id = 3")
                    try await expectStatements(["SELECT"]) { try await context.refresh() }
                    #expect(shelves[0]["name"] == "mine" && shelves[1]["name"] == "raw" && shelves[2].isDeleted)
                    throw Undone()
                }
            } catch is Undone {}
            #expect(shelves.map(\.isDeleted) == [false, false, false])
            #expect(try await other.value("SELECT count(*) FROM shelf WHERE name LIKE 'shelf%'") == 3)
            try await context.refresh()
            #expect(shelves.map { $0["name"] } == ["shelf 1", "shelf 2", "shelf 3"])
        }
    }

    @Test func rowsOfAnotherTasksTransactionAreLeftToIt() async throws {
        try await withDatabase { _, context, other in
            let known = try await context.get("shelf", 2)
            try await context.transaction { () async throws in
                let new = try await context.create("shelf", ["id": 9, "name": "new"])
                try await known.setValue("mine", forKey: "name")
                try await Task.detached { try await context.refresh() }.value
                #expect(!new.isDeleted && new["name"] == "new" && known["name"] == "mine")
                try await new.setValue("newer", forKey: "name")
            }
            #expect(try await other.value("SELECT name FROM shelf WHERE id = 9") == "newer")
        }
    }

    @Test func manyObjectsAreReadInSlices() async throws {
        try await withDatabase { _, context, other in
            try await other.query("INSERT INTO shelf SELECT i, 'many' FROM generate_series(10, 20010) AS i")
            let shelves = try await context.fetch("shelf").sorted("id").all()
            try await other.query("UPDATE shelf SET name = 'other' WHERE id % 2 = 0")
            try await expectStatements(["SELECT", "SELECT", "SELECT"]) { try await context.refresh() }
            #expect(shelves.count { $0["name"] == "other" } == 10_002)
        }
    }
}
