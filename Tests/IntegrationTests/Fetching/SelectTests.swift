import Kindred
import KindredTesting
import Testing

@Suite struct SelectTests {
    @Test(.database(.sql(librarySchema))) func attributesAreReadAsDictionariesAndTuples() async throws {
        try await withDatabase { database, context, other in
            let books = try context.fetch("book").where("id IN {10, 11}").sorted("id")
            try await expectStatements(["SELECT"]) { () async throws in
                let rows = try await books.select("title", "author.name", "tags.@count").all()
                #expect(rows[0] == ["title": "Book 10", "author.name": "Author 11", "tags.@count": 1])
                #expect(rows[1] == ["title": "Book 11", "author.name": nil, "tags.@count": 1])
            }
            let pairs = try await books.select("id", "author.name").all(as: Int.self, String.self)
            #expect(pairs.map(\.0) == [10, 11] && pairs.map(\.1) == ["Author 11", nil])
            await expectError(.invalidRequest) { _ = try await books.select("id", "title").all(as: Int.self) }
        }
    }

    @Test(.database(.sql(librarySchema))) func distinctRowsAreGivenOnce() async throws {
        try await withDatabase { database, context, other in
            let authors = try context.fetch("author").sorted("country")
            let countries = try await authors.select("country").distinct().all()
            #expect(countries == [["country": "DE"], ["country": "FR"], ["country": nil]])
            try await expectStatements([]) { () async throws in
                await expectError(.invalidRequest) { _ = try authors.select("name").distinct() }
            }
        }
    }

    @Test(.database(.sql(librarySchema))) func hostileSelectListsAreRefusedBeforeAnythingIsSent() async throws {
        try await withDatabase { database, context, other in
            let authors = try context.fetch("author")
            try await expectStatements([]) { () async throws in
                for path in [
                    "id; DROP TABLE author", "id\" FROM author; --", "*", "", "books.title", "pg_sleep(1)", "id.",
                ] {
                    do {
                        _ = try authors.select(path)
                        Issue.record("\(path) was taken")
                    } catch let error as KindredError {
                        #expect(error.code == .unknownKey || error.code == .invalidRequest)
                    }
                }
                await expectError(.invalidRequest) { _ = try authors.select() }
            }
        }
    }

    @Test(.database(.sql(librarySchema))) func aRequestShowsWhatItWouldSendAndHowItWouldRun() async throws {
        try await withDatabase { database, context, other in
            let request = try context.fetch("author").where("name = %@", "x'; --").sorted("name").limit(2)
            try await expectStatements([]) { () async throws in
                let sql = try request.sql
                #expect(sql.hasPrefix("SELECT") && sql.contains("\"name\" = $1") && !sql.contains("x'"))
            }
            try await expectStatements([try request.sql]) { () async throws in _ = try await request.all() }
            try await expectStatements(["EXPLAIN SELECT"]) { () async throws in
                #expect(try await request.explain().contains("Scan"))
            }
            try await expectStatements(["EXPLAIN (ANALYZE"]) { () async throws in
                #expect(try await request.explain(analyze: true).contains("actual"))
            }
        }
    }

    @Test(.database(.sql(librarySchema))) func distinctRowsAreSortedByWhatHasParameters() async throws {
        try await withDatabase { database, context, other in
            let books = try context.fetch("book")
            let counts = try await books.sorted("tags.@count", ascending: false).select("tags.@count").distinct().all()
            #expect(counts.map { $0["tags.@count"] } == [.integer(1)])
            let pages = try await books.sorted("pages", ascending: false).limit(2).select("pages").distinct().all()
            #expect(pages.map { $0["pages"] } == [.integer(4), .integer(3)])
        }
    }
}
