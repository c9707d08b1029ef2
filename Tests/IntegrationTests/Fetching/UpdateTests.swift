import Kindred
import KindredTesting
import Testing

/// Updates by condition: one UPDATE, and the objects in memory follow.
@Suite struct UpdateTests {
    @Test(.database(.sql(librarySchema))) func oneStatementChangesAllRowsAndTheirObjects() async throws {
        try await withDatabase { database, context, other in
            let books = try await context.fetch("book").where("id <= 3").sorted("id").all()
            try await expectStatements(["UPDATE"]) { () async throws in
                let count = try await context.fetch("book").where("id > 1 AND pages == 2")
                    .update(["title": "New", "pages": Formula("pages * %@ + 1", 10), "price": nil])
                #expect(count == 600)
            }
            #expect(books.map { $0["title"] } == ["Book 1", "New", "Book 3"])
            #expect(books.map { $0["pages"] } == [1, 21, 3])
            #expect(books[1]["price"] == nil)
            #expect(try await other.value("SELECT count(*) FROM book WHERE pages = 21 AND title = 'New'") == 600)
            #expect(try await context.fetch("book").where("id < 0").update(["title": "None"]) == 0)
        }
    }

    @Test(.database(.sql(librarySchema))) func noRowIsReturnedWithoutObjectsInMemory() async throws {
        try await withDatabase { database, context, other in
            let (count, recorder) = try await recordingStatements {
                try await context.fetch("book").update(["pages": 7])
            }
            #expect(count == 3_000)
            #expect(recorder.statements == [#"UPDATE "public"."book" AS t0 SET "pages" = $1"#])
            let book = try await context.fetch("book").first()
            #expect(book?["pages"] == 7)
            let (_, following) = try await recordingStatements { try await context.fetch("book").update(["pages": 8]) }
            #expect(following.statements[0].contains("RETURNING"))
            #expect(book?["pages"] == 8)
        }
    }

    @Test(.database(.sql(librarySchema))) func membersLoadedTogetherAreReadAgainWhenRowsWithoutObjectsChange()
        async throws
    {
        try await withDatabase { database, context, other in
            // The first set is loaded for both authors; the second has not been requested yet.
            let authors = try await context.fetch("author").where("id IN %@", [2, 3]).sorted("id").all()
            _ = try await authors[0].set(forKey: "books").objects
            try await context.fetch("book").where("author.id == 3").update(["author_id": 2])
            try await expectStatements(["SELECT"]) { () async throws in
                #expect(try await authors[1].set(forKey: "books").objects.isEmpty)
            }
        }
    }

    @Test(.database(.sql(librarySchema))) func membersLoadedTogetherLoseRowsWithoutObjects() async throws {
        try await withDatabase { database, context, other in
            let authors = try await context.fetch("author").where("id IN %@", [2, 3]).sorted("id").all()
            _ = try await authors[0].set(forKey: "books").objects
            try await other.query("DELETE FROM book_tag")
            #expect(try await context.fetch("book").where("author.id == 3").delete() > 0)
            #expect(try await authors[1].set(forKey: "books").objects.isEmpty)
        }
    }

    @Test(.database(.sql(librarySchema))) func orderLimitPathsAndLocksAreHonoured() async throws {
        try await withDatabase { database, context, other in
            let cheap = try context.fetch("book").where("author.country == %@ AND price != nil", "FR")
                .sorted("price").sorted("id").limit(5).offset(1)
            let expected = try await cheap.all()
            try await expectStatements(["WITH"]) { () async throws in
                #expect(try await cheap.update(["title": "Cheap", "price": Formula("price + author.id")]) == 5)
            }
            #expect(expected.allSatisfy { $0["title"] == "Cheap" })
            #expect(try await other.value("SELECT count(*) FROM book WHERE title = 'Cheap'") == 5)
            let wrong: SQL = """
                SELECT count(*) FROM book WHERE title = 'Cheap' AND price - author_id NOT BETWEEN 0 AND 9
                """
            #expect(try await other.value(wrong) == 0)
            // A queue: rows that another worker has taken are left out.
            try await other.withTransaction { transaction in
                try await transaction.query("SELECT FROM book WHERE id = 1 FOR UPDATE")
                let taken = try await context.fetch("book").where("id <= 3").sorted("id").limit(2)
                    .lock(.forUpdate, .skipLocked).update(["title": "Taken"])
                #expect(taken == 2)
            }
            #expect(try await other.values("SELECT id FROM book WHERE title = 'Taken' ORDER BY id") == [2, 3])
        }
    }

    private static let queue = """
        CREATE TABLE job (id int PRIMARY KEY, state text);
        INSERT INTO job VALUES (0, 'new');
        ANALYZE job;
        """

    @Test(.database(.sql(queue))) func aLimitHoldsWhateverTheServerPlans() async throws {
        try await withDatabase { database, context, other in
            // A nested loop that asks for the rows again each time, as the server may choose for tables that it thinks small.
            for setting in ["enable_hashjoin", "enable_mergejoin", "enable_material"] {
                let name = try #require(try await other.value("SELECT quote_ident(current_database())")?.description)
                try await other.query(SQL(unsafeRaw: "ALTER DATABASE \(name) SET \(setting) = off"))
            }
            try await other.query("INSERT INTO job SELECT i, 'new' FROM generate_series(1, 49) AS i")
        }
        try await withDatabase { database, context, other in
            let queue = try context.fetch("job").where("state == 'new'").sorted("id").limit(1)
            for turn in 1...3 {
                #expect(try await queue.lock(.forUpdate, .skipLocked).update(["state": "taken"]) == 1)
                let taken = try await other.value("SELECT count(*) FROM job WHERE state = 'taken'")
                #expect(taken == .integer(Int64(turn)))
            }
            #expect(try await queue.update(["state": "taken"]) == 1)
        }
    }

    @Test(.database(.sql(librarySchema))) func loadedRelationshipsFollow() async throws {
        try await withDatabase { database, context, other in
            let authors = try await context.fetch("author").where("id <= 3").sorted("id").all()
            var sets: [ToMany<DatabaseObject>] = []
            for author in authors { sets.append(try await author.set(forKey: "books")) }
            var held: [DatabaseObject] = []
            for set in sets.dropLast() { held += try await set.objects }
            // No book of the third author has an object.
            let before = try await sets[2].count
            let count = try await context.fetch("book").where("author.id IN %@", [2, 3]).update(["author": authors[0]])
            #expect(try await sets[1].count == 0)
            #expect(try await sets[2].count == 0)
            let all = try await sets[0].objects
            #expect(
                try await other.value("SELECT count(*) FROM book WHERE author_id = 1") == .integer(Int64(all.count)))
            #expect(count >= before)
            for book in held {
                let author: DatabaseObject? = try await book.object(forKey: "author")
                #expect(author === authors[0])
            }
        }
    }

    @Test(.database(.sql(librarySchema))) func aFailureTakesEverythingBack() async throws {
        struct Stop: Error {}
        try await withDatabase { database, context, other in
            let authors = try await context.fetch("author").where("id <= 2").sorted("id").all()
            let first = try await authors[0].set(forKey: "books")
            let books = try await first.objects
            let titles = books.map { $0["title"] }
            await #expect(throws: Stop.self) { () async throws in
                try await context.transaction {
                    try await context.fetch("book").where("author == %@", authors[0])
                        .update(["title": "Lost", "author": authors[1]])
                    #expect(try await first.count == 0)
                    #expect(books.allSatisfy { $0["title"] == "Lost" })
                    throw Stop()
                }
            }
            #expect(books.map { $0["title"] } == titles)
            #expect(try await Set(first.objects) == Set(books))
            let error = await expectError(.constraintViolation) { () async throws in
                try await context.fetch("book").where("id == 1").update(["author_id": 99_999])
            }
            #expect(error?.constraint == "author")
            #expect(books.map { $0["title"] } == titles)
        }
    }

    @Test(.database(.sql(librarySchema))) func stagedChangesStayStaged() async throws {
        try await withDatabase { database, context, other in
            let book = try await context.fetch("book").where("id = 1").one()
            book["title"] = "Mine"
            try await context.fetch("book").where("id = 1").update(["title": "Theirs", "pages": 12])
            #expect(book["title"] == "Mine")
            #expect(book["pages"] == 12)
            try await context.save()
            #expect(try await other.value("SELECT title FROM book WHERE id = 1") == "Mine")
        }
    }

    @Test(.database(.sql(librarySchema + shopSchema))) func badValuesAreRefusedBeforeAnythingIsSent() async throws {
        try await withDatabase { database, context, other in
            let books = try context.fetch("book")
            let ann = try await context.fetch("customer").first()
            let book = try #require(await context.fetch("book").first())
            try await expectStatements([]) { () async throws in
                await expectError(.invalidRequest) { () async throws in try await books.update([:]) }
                await expectError(.unknownKey) { () async throws in try await books.update(["titel": "x"]) }
                await expectError(.readOnly) { () async throws in try await books.update(["id": 1]) }
                await expectError(.readOnly) { () async throws in try await books.update(["id": Formula("id + 1")]) }
                await expectError(.missingValue) { () async throws in try await books.update(["title": nil]) }
                await expectError(.wrongType) { () async throws in try await books.update(["pages": "many"]) }
                await expectError(.wrongType) { () async throws in
                    try await books.update(["title": Formula("pages + 1")])
                }
                await expectError(.wrongType) { () async throws in try await books.update(["author": Formula("id")]) }
                await expectError(.wrongType) { () async throws in try await books.update(["tags": [DatabaseObject]()])
                }
                await expectError(.unknownKey) { () async throws in
                    try await books.update(["pages": Formula("page + 1")])
                }
                await expectError(.invalidCondition) { () async throws in
                    try await books.update(["pages": Formula("pages > 1")])
                }
                await expectError(.invalidRequest) { () async throws in
                    try await books.limit(-1).update(["pages": 1])
                }
                // The tenant's column belongs to the rows' own key.
                await expectError(.wrongType) { () async throws in
                    try await context.fetch("purchase").update(["customer": ann])
                }
                await expectError(.wrongType) { () async throws in
                    try await book.setValue(Formula("pages + 1"), forKey: "pages")
                }
            }
        }
    }
}
