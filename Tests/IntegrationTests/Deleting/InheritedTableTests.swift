import Kindred
import KindredTesting
import Testing

/// Tables that others inherit from: their objects are the rows of all of them, and their foreign keys hold for their own.
@Suite struct InheritedTableTests {
    private static func schema(_ action: String) -> String {
        """
        CREATE TABLE author (id int PRIMARY KEY);
        CREATE TABLE book (id int PRIMARY KEY, author_id int REFERENCES author ON DELETE \(action));
        CREATE TABLE novel (PRIMARY KEY (id)) INHERITS (book);
        INSERT INTO author VALUES (5), (6);
        INSERT INTO book VALUES (1, 5);
        INSERT INTO novel VALUES (2, 5), (3, 99);
        """
    }

    @Test(.database(.sql(schema("CASCADE")))) func aDeletionTakesTheRowsOfAllTables() async throws {
        try await withDatabase { database, context, other async throws in
            let books = try await context.fetch("book").sorted("id").all()
            try await context.delete(try #require(try await context.find("author", 5)))
            #expect(try await other.values("SELECT id FROM book") == [3])
            #expect(books.map(\.isDeleted) == [true, true, false])
        }
    }

    @Test(.database(.sql(schema("SET NULL")))) func aDeletionClearsTheRowsOfAllTables() async throws {
        try await withDatabase { database, context, other async throws in
            let books = try await context.fetch("book").sorted("id").all()
            try await context.delete(try #require(try await context.find("author", 5)))
            #expect(try await other.values("SELECT author_id FROM book ORDER BY id") == [nil, nil, 99])
            #expect(books.map { $0["author_id"] } == [nil, nil, 99])
        }
    }

    @Test(.database(.sql(schema("CASCADE")))) func aRowThatRefersToNothingHasNoOwner() async throws {
        try await withDatabase { database, context, other async throws in
            #expect(try await context.fetch("book").where("author.id = 99").count() == 0)
            #expect(try await context.fetch("book").where("author.id = nil").one()["id"] == 3)
        }
    }
}
