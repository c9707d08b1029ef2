import KindredTesting
import Testing

@testable import Kindred

/// A save writes new values that no other row waits for without asking about order.
@Suite struct SavePlanTests {
    private static let schema = """
        CREATE TABLE shelf (code text PRIMARY KEY, name text);
        CREATE TABLE book (
            id integer PRIMARY KEY, isbn text UNIQUE, title text, pages integer, shelf_code text REFERENCES shelf,
            place integer, UNIQUE (shelf_code, place) DEFERRABLE);
        CREATE UNIQUE INDEX ON book (lower(title));
        INSERT INTO shelf VALUES ('a', 'A'), ('b', 'B');
        INSERT INTO book VALUES (1, 'x', 'one', 10, 'a', 1), (2, 'y', 'two', 20, 'a', 2);
        """

    @Test(.database(.sql(schema))) func onlyChangesThatNoOtherRowWaitsForArePlain() async throws {
        try await withDatabase { _, context, _ in
            let books = try await context.fetch("book").sorted("id").all()
            let shelf = try await context.fetch("shelf").where("code = 'a'").one()
            let cases: [(name: String, isPlain: Bool, stage: () throws -> [DatabaseObject])] = [
                (
                    "a value", true,
                    {
                        books[0]["pages"] = 11; return [books[0]]
                    }
                ),
                (
                    "values of two tables", true,
                    {
                        books[0]["pages"] = 11; shelf["name"] = "C"; return [books[0], shelf]
                    }
                ),
                (
                    "a unique value", false,
                    {
                        books[0]["isbn"] = "z"; return [books[0]]
                    }
                ),
                (
                    "a value of an index of expressions", false,
                    {
                        books[0]["title"] = "three"; return [books[0]]
                    }
                ),
                (
                    "a value of a deferrable constraint", false,
                    {
                        books[0]["place"] = 3; return [books[0]]
                    }
                ),
                (
                    "a key to which rows refer", false,
                    {
                        shelf["code"] = "c"; return [shelf]
                    }
                ),
                (
                    "a value beside a unique one", false,
                    {
                        books[0]["pages"] = 11; books[1]["isbn"] = "z"; return [books[0], books[1]]
                    }
                ),
                ("a new row", false, { [try context.add("book", ["id": 3])] }),
                (
                    "a deletion", false,
                    {
                        try context.stageDeletion(of: books[1]); return [books[1]]
                    }
                ),
            ]
            for (name, isPlain, stage) in cases {
                let staged = try stage()
                if case .plain(let changes) = try SavePlan(staged, []) {
                    #expect(isPlain && changes.map(\.object) == staged, "\(name)")
                } else {
                    #expect(!isPlain, "\(name)")
                }
                context.rollback()
            }
        }
    }

    @Test(.database(.sql(schema))) func objectsThatAnotherSaveHasWrittenAreLeftOut() async throws {
        try await withDatabase { _, context, _ in
            let books = try await context.fetch("book").sorted("id").all()
            books[1]["pages"] = 21
            guard case .plain(let changes) = try SavePlan(books, []) else {
                Issue.record("the save is plain")
                return
            }
            #expect(changes.map(\.object) == [books[1]])
        }
    }

    @Test(.database(.sql(schema))) func aPlainSaveIsOneStatementForEachSetOfColumns() async throws {
        try await withDatabase { _, context, other in
            let books = try await context.fetch("book").sorted("id").all()
            let shelf = try await context.fetch("shelf").where("code = 'b'").one()
            for book in books { book["pages"] = 30 }
            shelf["name"] = "C"
            try await expectStatements(["UPDATE", "UPDATE"]) { try await context.save() }
            #expect(try await other.values("SELECT pages FROM book ORDER BY id") == [30, 30])
            #expect(try await other.value("SELECT name FROM shelf WHERE code = 'b'") == "C")
            #expect(!context.hasStagedChanges)
        }
    }
}
