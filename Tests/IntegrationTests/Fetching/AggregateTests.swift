import Kindred
import KindredTesting
import Testing

@Suite struct AggregateTests {
    @Test(.database(.sql(librarySchema))) func aggregatesAreOneStatementAndAgreeWithTheDatabase() async throws {
        try await withDatabase { database, context, other in
            let books = try context.fetch("book")
            try await expectStatements(["SELECT sum", "SELECT avg", "SELECT min", "SELECT max", "SELECT count"]) {
                () async throws in
                #expect(try await books.sum("pages") == .integer(6000))
                #expect(try await books.average("pages")?.description.hasPrefix("2") == true)
                #expect(try await books.minimum("author.name") == "Author 1")
                #expect(try await books.maximum("id") == 3000)
                #expect(try await books.aggregate(.count("price")) == .integer(3000 - 3000 / 7))
            }
            let part = try books.sorted("id").limit(3).offset(1)
            #expect(try await part.sum("id") == .integer(2 + 3 + 4))
            #expect(try await part.aggregate(.count) == .integer(3))
            #expect(try await books.where("id < 0").sum("price") == nil)
        }
    }

    @Test(.database(.sql(librarySchema))) func groupsHaveAggregatesAndConditions() async throws {
        try await withDatabase { database, context, other in
            let authors = try context.fetch("author").sorted("country", ascending: false)
            try await expectStatements(["SELECT"]) { () async throws in
                let groups = try await authors.group(by: "country", aggregates: .count, .maximum("id")).all()
                #expect(
                    groups == [
                        ["country": nil, "count": 400, "maximum(id)": 1200],
                        ["country": "FR", "count": 400, "maximum(id)": 1198],
                        ["country": "DE", "count": 400, "maximum(id)": 1199],
                    ])
            }
            let groups = try await authors.where("id <= 4").group(by: "country", aggregates: .count)
                .having(.count, .greater, 1).having(.sum("id"), .less, 100.5).all()
            #expect(groups == [["country": "FR", "count": 2]])
        }
    }

    @Test(.database(.sql(librarySchema + "CREATE TABLE place (id int PRIMARY KEY, at point, \"all\" point[])")))
    func whatHasNoMeaningIsRefusedBeforeAnythingIsSent() async throws {
        try await withDatabase { database, context, other in
            let books = try context.fetch("book")
            try await expectStatements([]) { () async throws in
                await expectError(.invalidRequest) { _ = try await books.sum("title") }
                await expectError(.invalidRequest) { _ = try await books.sum("author") }
                await expectError(.invalidRequest) { _ = try await context.fetch("place").minimum("at") }
                await expectError(.invalidRequest) { _ = try context.fetch("place").sorted("at") }
                await expectError(.invalidRequest) { _ = try context.fetch("place").sorted("all") }
                await expectError(.invalidRequest) {
                    _ = try context.fetch("place").group(by: "at", aggregates: .count)
                }
                await expectError(.invalidRequest) { _ = try context.fetch("place").select("at").distinct().sql }
                await expectError(.unknownKey) { _ = try await books.sum("price) FROM book; --") }
                await expectError(.unknownKey) { _ = try books.group(by: "x\"; --", aggregates: .count) }
                await expectError(.invalidRequest) { _ = try books.sorted("id").group(by: "title", aggregates: .count) }
                await expectError(.wrongType) {
                    _ = try books.group(by: "title", aggregates: .count).having(.count, .equal, "1 OR 1=1")
                }
            }
        }
    }
}
