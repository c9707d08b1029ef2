import Kindred
import KindredTesting
import Testing

@Suite struct PrefetchTests {
    @Test(.database(.sql(librarySchema))) func aPathIsOneQueryPerLevelAndItsFirstAccessSendsNothing() async throws {
        try await withDatabase { database, context, other in
            var authors: [DatabaseObject] = []
            try await expectStatements(["SELECT", "SELECT", "SELECT"]) { () async throws in
                authors = try await context.fetch("author").prefetch("books", "books.tags").all()
            }
            try await expectStatements([]) { () async throws in
                var count = 0
                for author in authors {
                    for try await book in try await author.set(forKey: "books") {
                        for try await _ in try await book.set(forKey: "tags") { count += 1 }
                    }
                }
                #expect(count == 3000 - 3000 / 11)
            }
        }
    }

    @Test(.database(.sql(librarySchema))) func toOnePathsAndSingleObjectsArePrefetchedToo() async throws {
        try await withDatabase { database, context, other in
            var books: [DatabaseObject] = []
            try await expectStatements(["SELECT", "SELECT", "SELECT"]) { () async throws in
                books = try await context.fetch("book").where("id <= 100").prefetch("author.books").all()
            }
            try await expectStatements([]) { () async throws in
                for book in books { _ = try await book.value(forKeyPath: "author.books.title") }
            }
            let one = database.makeContext()
            var author: DatabaseObject?
            try await expectStatements(["SELECT", "SELECT"]) { () async throws in
                author = try await one.fetch("author").where("id = 5").prefetch("books").first()
            }
            try await expectStatements([]) { () async throws in
                #expect(try await author?.set(forKey: "books").count == 3)
            }
        }
    }

    @Test(.database(.sql(librarySchema))) func whatIsKnownIsNotAskedAgainAndWrongPathsAreRefused() async throws {
        try await withDatabase { database, context, other in
            let authors = try await context.fetch("author").where("id <= 3").prefetch("books").all()
            try await expectStatements(["SELECT"]) { () async throws in
                #expect(try await context.fetch("author").where("id <= 3").prefetch("books").all() == authors)
            }
            let books = try await context.fetch("book").where("id <= 3").prefetch("author").all()
            try await expectStatements(["SELECT"]) { () async throws in
                #expect(try await context.fetch("book").where("id <= 3").prefetch("author").all() == books)
            }
            try await expectStatements([]) { () async throws in
                await expectError(.unknownKey) { _ = try context.fetch("author").prefetch("name") }
                await expectError(.unknownKey) { _ = try context.fetch("author").prefetch("books.nothing") }
                await expectError(.unknownKey) { _ = try context.fetch("author").prefetch("books; DROP TABLE author") }
            }
        }
    }

    @Test(.database(.sql(librarySchema))) func aStreamReadsPortionsThatAreGroups() async throws {
        try await withDatabase { database, context, other in
            var ids: [PostgresValue?] = []
            let (_, recorder) = try await recordingStatements {
                for try await book in try context.fetch("book").sorted("id").stream() {
                    ids.append(book["id"])
                    _ = try await book.value(forKey: "author")
                }
            }
            #expect(ids == (1...3000).map { .integer($0) })
            // 64, 256, 1,024 and 1,656 rows; each portion asks for its authors in at most a few slices.
            #expect(recorder.statements.filter { $0.hasPrefix("FETCH") }.count == 4)
            #expect(recorder.statements.filter { $0.hasPrefix("SELECT") }.count <= 8)
            let (_, prefetched) = try await recordingStatements {
                for try await book in try context.fetch("book").prefetch("author").stream() { _ = book["id"] }
            }
            #expect(prefetched.statements.filter { $0.hasPrefix("SELECT") }.count == 4)
        }
    }
}
