import Kindred
import KindredTesting
import Testing

@Suite struct RelationshipLoadingTests {
    @Test(.database(.sql(librarySchema))) func forbiddenFaultsNameTheRelationshipAndPrefetchedOnesWork() async throws {
        try await withDatabase { database, context, other in
            let strict = database.makeContext(loading: .forbidden)
            let author = try await strict.fetch("author").where("id = 5").one()
            try await expectStatements([]) { () async throws in
                let error = await expectError(.loadingForbidden) { _ = try await author.set(forKey: "books").objects }
                #expect(error?.entity == "public.author" && error?.key == "books")
            }
            let authors = try await strict.fetch("author").where("id <= 5").prefetch("books.author").all()
            try await expectStatements([]) { () async throws in
                for author in authors {
                    for try await book in try await author.set(forKey: "books") {
                        _ = try await book.value(forKey: "author")
                    }
                }
            }
        }
    }

    @Test(.database(.sql(librarySchema))) func withoutBatchesEachObjectAsksForItself() async throws {
        try await withDatabase { database, context, other in
            let single = database.makeContext(loading: .single)
            let authors = try await single.fetch("author").where("id <= 4").all()
            try await expectStatements(["SELECT", "SELECT", "SELECT", "SELECT"]) { () async throws in
                for author in authors { #expect(try await author.set(forKey: "books").objects.count >= 2) }
            }
        }
    }

    @Test(.database(.sql(librarySchema))) func aBlockCanLimitItsStatements() async throws {
        try await withDatabase { database, context, other in
            let (_, recorder) = try await recordingStatements {
                await #expect(throws: PostgresError.self) {
                    try await withStatementLimit(2) {
                        for id in 1...3 { _ = try await context.fetch("author").where("id = %@", id).all() }
                    }
                }
                let count = try await withStatementLimit(1) { try await context.fetch("author").count() }
                #expect(count == 1200)
            }
            #expect(recorder.statements.count == 3)
        }
    }
}
