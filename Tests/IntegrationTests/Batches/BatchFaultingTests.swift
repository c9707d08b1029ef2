import Kindred
import KindredTesting
import Testing

/// Objects that were fetched together load their relationships together: what a walk costs, exactly.
@Suite struct BatchFaultingTests {
    static let library = """
        CREATE TABLE author (id integer PRIMARY KEY, name text NOT NULL);
        CREATE TABLE book (id integer PRIMARY KEY, title text NOT NULL, author_id integer NOT NULL REFERENCES author);
        CREATE TABLE tag (id integer PRIMARY KEY, name text NOT NULL);
        CREATE TABLE book_tag (book_id integer REFERENCES book, tag_id integer REFERENCES tag, PRIMARY KEY (book_id, tag_id));
        CREATE TABLE review (id integer PRIMARY KEY, book_id integer REFERENCES book);
        INSERT INTO author SELECT i, 'author ' || i FROM generate_series(1, 1000) AS i;
        INSERT INTO book SELECT i, 'book ' || i, 1 + i % 1000 FROM generate_series(1, 5000) AS i;
        INSERT INTO tag SELECT i, 'tag ' || i FROM generate_series(1, 20) AS i;
        INSERT INTO book_tag SELECT b, 1 + (b + t * 7) % 20 FROM generate_series(1, 5000) AS b, generate_series(1, 3) AS t;
        INSERT INTO review SELECT i, i FROM generate_series(1, 5000) AS i;
        CREATE INDEX ON book (author_id);
        CREATE INDEX ON review (book_id);
        ANALYZE;
        """

    @Test(.database(.sql(library))) func aLoopOverAuthorsAndTheirBooksIsTwoStatements() async throws {
        try await withDatabase { database, context, other in
            try await expectStatements(["SELECT", "SELECT"]) { () async throws in
                var count = 0
                for author in try await context.fetch("author").all() {
                    for try await _ in try await author.set(forKey: "bookSet") { count += 1 }
                }
                #expect(count == 5000)
            }
        }
    }

    @Test(.database(.sql(library))) func aLoopOverBooksWithAuthorAndTagsIsThreeStatements() async throws {
        try await withDatabase { database, context, other in
            try await expectStatements(["SELECT", "SELECT", "SELECT"]) { () async throws in
                for book in try await context.fetch("book").limit(1000).all() {
                    #expect(try await book.object(forKey: "author")?["name"] != nil)
                    #expect(try await book.set(forKey: "tagSet").objects.count == 3)
                }
            }
        }
    }

    @Test(.database(.sql(library))) func everyLevelOfAWalkIsOneStatement() async throws {
        try await withDatabase { database, context, other in
            let (count, recorder) = try await recordingStatements {
                var count = 0
                for author in try await context.fetch("author").limit(150).all() {
                    for try await book in try await author.set(forKey: "bookSet") {
                        for try await review in try await book.set(forKey: "reviewSet") {
                            #expect(try await review.object(forKey: "book") === book)
                            count += 1
                        }
                        for try await tag in try await book.set(forKey: "tagSet") {
                            count += tag["name"] == nil ? 0 : 1
                        }
                    }
                }
                return count
            }
            #expect(count == 150 * 5 * 4)
            #expect(recorder.statements.count == 4)
        }
    }

    @Test(.database(.sql(library))) func aLargeGroupIsLoadedInSlicesThatDouble() async throws {
        try await withDatabase { database, context, other in
            let books = try await context.fetch("book").sorted("id").all()
            // Touching one of many costs a small slice; a walk over all of them doubles it: 128, 256, …, 4096.
            for (touched, expected) in [(0, 1), (100, 0), (127, 0), (128, 1), (383, 0), (384, 1)] {
                let (_, recorder) = try await recordingStatements {
                    try await books[touched].set(forKey: "reviewSet").objects
                }
                #expect(recorder.statements.count == expected, "touching \(touched)")
            }
            let (_, recorder) = try await recordingStatements {
                for book in books {
                    let reviews = try await book.set(forKey: "reviewSet").objects
                    #expect(reviews.count == 1)
                }
            }
            #expect(recorder.statements.count == 3)
        }
    }

    @Test(.database(.sql(library))) func changesOfOneRelationshipLeaveTheOthersTogether() async throws {
        try await withDatabase { database, context, other in
            let books = try await context.fetch("book").sorted("id").limit(50).all()
            let tag = try #require(try await context.find("tag", 20))
            for book in books { try await book.set(forKey: "tagSet").formUnion([tag]) }
            try await expectStatements(["SELECT", "SELECT"]) { () async throws in
                for book in books {
                    #expect(try await book.set(forKey: "reviewSet").objects.count == 1)
                    #expect(try await book.set(forKey: "reviewSet").count == 1)
                    #expect(try await book.object(forKey: "author")?["name"] != nil)
                }
            }
        }
    }

    @Test(.database(.sql(library))) func tasksThatAskAtOnceShareOneStatement() async throws {
        try await withDatabase { database, context, other in
            let authors = try await context.fetch("author").limit(200).all()
            let (_, recorder) = try await recordingStatements {
                try await withThrowingTaskGroup(of: Int.self) { group in
                    for author in authors {
                        group.addTask { try await author.set(forKey: "bookSet").objects.count }
                    }
                    for try await count in group { #expect(count == 5) }
                }
            }
            #expect(recorder.statements.count == 1)
        }
    }

    @Test(.database(.sql(library))) func anObjectFetchedByItselfLoadsForItselfOnly() async throws {
        try await withDatabase { database, context, other in
            let book = try await context.fetch("book").where("id = 7").one()
            let (rows, recorder) = try await recordingStatements {
                _ = try await book.object(forKey: "author")
                return try await book.set(forKey: "tagSet").objects
            }
            #expect(rows.count == 3)
            #expect(recorder.all.map(\.rows) == [1, 3])
        }
    }
}
