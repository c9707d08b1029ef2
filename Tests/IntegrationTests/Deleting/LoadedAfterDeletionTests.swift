import Kindred
import KindredTesting
import Testing

/// Loaded relationships after the deletion of rows without objects: they are read again on their next use, once for all
/// owners read together, and not at all if the deletion was rolled back.
@Suite struct LoadedAfterDeletionTests {
    private static let schema = """
        CREATE TABLE author (id int PRIMARY KEY);
        CREATE TABLE shelf (id int PRIMARY KEY);
        CREATE TABLE book (
            id int PRIMARY KEY, author_id int NOT NULL CONSTRAINT author__books REFERENCES author ON DELETE CASCADE,
            shelf_id int NOT NULL CONSTRAINT shelf__books REFERENCES shelf);
        CREATE TABLE tag (id int PRIMARY KEY);
        CREATE TABLE book_tag (
            book_id int REFERENCES book ON DELETE CASCADE, tag_id int REFERENCES tag ON DELETE CASCADE,
            PRIMARY KEY (book_id, tag_id));
        INSERT INTO author SELECT generate_series(1, 3);
        INSERT INTO shelf SELECT generate_series(1, 4);
        INSERT INTO tag SELECT generate_series(1, 3);
        INSERT INTO book SELECT i, i % 3 + 1, i % 4 + 1 FROM generate_series(1, 24) i;
        INSERT INTO book_tag SELECT b, t FROM generate_series(1, 24) b, generate_series(1, 3) t;
        """

    private struct Undone: Error {}

    private func counts(_ owners: [DatabaseObject], _ key: String) async throws -> [Int] {
        var counts: [Int] = []
        for owner in owners { counts.append(try await owner.set(forKey: key).objects.count) }
        return counts
    }

    @Test(.database(.sql(schema))) func setsOfADeletedEndAreReadAgainInOneStatement() async throws {
        try await withDatabase { database, context, other in
            let books = try await context.fetch("book").all()
            let tag = try #require(await context.find("tag", 2))
            #expect(try await counts(books, "tagSet") == Array(repeating: 3, count: 24))
            try await context.delete(tag)
            let (found, recording) = try await recordingStatements { try await counts(books, "tagSet") }
            #expect(found == Array(repeating: 2, count: 24))
            #expect(recording.statements.count == 1)
            try await expectStatements([]) { () async throws in
                #expect(try await counts(books, "tagSet") == found)
            }
            // The key comes back, and its pairs do not.
            try await context.create("tag", ["id": 2])
            #expect(try await counts(books, "tagSet") == found)
        }
    }

    @Test(.database(.sql(schema))) func setsLoseAnEndThatSomeoneElseHasDeleted() async throws {
        try await withDatabase { database, context, other in
            let books = try await context.fetch("book").all()
            let tag = try #require(await context.find("tag", 2))
            #expect(try await counts(books, "tagSet") == Array(repeating: 3, count: 24))
            let elsewhere = database.makeContext()
            try await elsewhere.delete(try #require(await elsewhere.find("tag", 2)))
            #expect(try await counts(books, "tagSet") == Array(repeating: 3, count: 24))
            await expectError(.objectDeleted) { try await tag.refresh() }
            #expect(try await counts(books, "tagSet") == Array(repeating: 2, count: 24))
        }
    }

    @Test(.database(.sql(schema))) func setsThatHoldRowsWhichMayHaveGoneAreReadAgain() async throws {
        try await withDatabase { database, context, other in
            let shelves = try await context.fetch("shelf").all()
            // The books have no objects.
            #expect(try await counts(shelves, "books") == [6, 6, 6, 6])
            try await context.delete(try #require(await context.find("author", 1)))
            let (found, recording) = try await recordingStatements { try await counts(shelves, "books") }
            #expect(found == [4, 4, 4, 4])
            #expect(recording.statements.count == 1)
            // Of books that are held it is known which are gone.
            let books = try await context.fetch("book").all()
            try await context.delete(try #require(await context.find("author", 2)))
            try await expectStatements([]) { () async throws in
                #expect(try await counts(shelves, "books") == [2, 2, 2, 2])
            }
            #expect(books.filter(\.isDeleted).count == 8)
        }
    }

    @Test(.database(.sql(schema)), arguments: [false, true])
    func aDeletionThatIsUndoneLeavesWhatIsLoaded(isReadInside: Bool) async throws {
        try await withDatabase { database, context, other in
            let (books, shelves) = (
                try await context.fetch("book").where("id <= 2").all(), try await context.fetch("shelf").all()
            )
            let (tag, author) = (
                try #require(await context.find("tag", 2)), try #require(await context.find("author", 1))
            )
            #expect(try await counts(books, "tagSet") == [3, 3])
            #expect(try await counts(shelves, "books") == [6, 6, 6, 6])
            await #expect(throws: Undone.self) {
                try await context.transaction {
                    try await context.transaction { try await context.delete(tag) }
                    try await context.delete(author)
                    if isReadInside {
                        #expect(try await counts(shelves, "books") == [4, 4, 4, 4])
                        #expect(try await counts(books, "tagSet") == [2, 2])
                    }
                    throw Undone()
                }
            }
            try await expectStatements([]) { () async throws in
                #expect(try await counts(books, "tagSet") == [3, 3])
                #expect(try await counts(shelves, "books") == [6, 6, 6, 6])
            }
        }
    }

    @Test(.database(.sql(schema))) func aSetInDoubtIsReadAgainAlsoAfterItsMembersWereCounted() async throws {
        try await withDatabase { database, context, other in
            let shelves = try await context.fetch("shelf").all()
            // No book is held, so that the rows that go with the author are not known.
            #expect(try await counts(shelves, "books") == [6, 6, 6, 6])
            try await context.delete(try #require(await context.find("author", 1)))
            let set = try await shelves[0].set(forKey: "books")
            #expect(try await set.count == 4)
            #expect(try await set.objects.count == 4)
            #expect(try await set.count == 4)
        }
    }
}
