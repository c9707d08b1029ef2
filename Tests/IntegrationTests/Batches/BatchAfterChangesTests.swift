import Kindred
import KindredTesting
import Testing

/// Objects that were fetched together stay together when their own changes outdate their loaded relationships.
@Suite struct BatchAfterChangesTests {
    private struct Failure: Error {}

    private func counts(_ owners: [DatabaseObject], _ key: String) async throws -> Set<Int> {
        var counts: Set<Int> = []
        for owner in owners { counts.insert(try await owner.set(forKey: key).count) }
        return counts
    }

    private func sizes(_ owners: [DatabaseObject], _ key: String) async throws -> Set<Int> {
        var sizes: Set<Int> = []
        for owner in owners { sizes.insert(try await owner.set(forKey: key).objects.count) }
        return sizes
    }

    @Test(.database(.sql(BatchFaultingTests.library))) func ownersWithNewMembersAreCountedTogetherAgain()
        async throws
    {
        try await withDatabase { database, context, other in
            let authors = try await context.fetch("author").sorted("id").limit(200).all()
            #expect(try await counts(authors, "bookSet") == [5])
            for (number, author) in authors.enumerated() {
                try context.add("book", ["id": 10_000 + number, "title": "new", "author": author])
            }
            try await context.save()
            try await expectStatements(["SELECT"]) { () async throws in
                for _ in 0..<2 { #expect(try await counts(authors, "bookSet") == [6]) }
            }
        }
    }

    @Test(.database(.sql(BatchFaultingTests.library))) func setsThatHelperRowsHaveChangedAreLoadedTogetherAgain()
        async throws
    {
        try await withDatabase { database, context, other in
            try await other.query("DELETE FROM book_tag WHERE tag_id = 20")
            let books = try await context.fetch("book").sorted("id").limit(50).all()
            let tag = try #require(try await context.find("tag", 20))
            _ = try await books[0].set(forKey: "tagSet").objects
            let pairs = try books.map { try context.add("book_tag", ["book": $0, "tag": tag]) }
            try await context.save()
            try await expectStatements(["SELECT"]) { () async throws in
                for book in books { #expect(try await book.set(forKey: "tagSet").objects.contains(tag)) }
            }
            try await context.delete(pairs)
            try await expectStatements(["SELECT"]) { () async throws in
                for book in books { #expect(try await !book.set(forKey: "tagSet").objects.contains(tag)) }
            }
        }
    }

    @Test("what a failed transaction had changed is loaded together", .database(.sql(BatchFaultingTests.library)))
    func whatWasUndoneIsLoadedTogether() async throws {
        try await withDatabase { database, context, other in
            let authors = try await context.fetch("author").sorted("id").limit(100).all()
            #expect(try await counts(authors, "bookSet") == [5])
            await #expect(throws: Failure.self) {
                try await context.transaction {
                    for author in authors { author["name"] = "new" }
                    try await context.save()
                    throw Failure()
                }
            }
            try await expectStatements(["SELECT"]) { () async throws in
                for _ in 0..<2 { #expect(try await counts(authors, "bookSet") == [5]) }
                #expect(try await sizes(authors, "bookSet") == [5])
            }
        }
    }

    @Test(.database(.sql(BatchFaultingTests.library))) func aLargeGroupIsAskedForAgainInSlices() async throws {
        try await withDatabase { database, context, other in
            let books = try await context.fetch("book").sorted("id").all()
            #expect(try await counts(books, "reviewSet") == [1])
            for (number, book) in books.enumerated() {
                try context.add("review", ["id": 10_000 + number, "book": book])
            }
            try await context.save()
            let (found, recorder) = try await recordingStatements { try await counts(books, "reviewSet") }
            #expect(found == [2])
            #expect(recorder.statements.count <= 7, "\(recorder.statements.count)")
        }
    }

    @Test(.database(.sql(BatchFaultingTests.library))) func aSingleChangedOwnerIsCountedAlone() async throws {
        try await withDatabase { database, context, other in
            let authors = try await context.fetch("author").sorted("id").limit(300).all()
            #expect(try await counts(authors, "bookSet") == [5])
            for turn in 1...3 {
                try await context.create("book", ["id": 10_000 + turn, "title": "new", "author": authors[7]])
                try await expectStatements(["SELECT"]) { () async throws in
                    #expect(try await authors[7].set(forKey: "bookSet").count == 5 + turn)
                    #expect(try await counts(authors, "bookSet") == [5, 5 + turn])
                }
            }
        }
    }
}
