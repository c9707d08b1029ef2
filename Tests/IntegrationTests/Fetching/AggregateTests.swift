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

    private static let spans = """
        CREATE TABLE span (id int PRIMARY KEY, kind text, lasting interval);
        INSERT INTO span VALUES (1, 'a', '1 hour'), (2, 'a', '30 minutes'), (3, 'b', '1 day'), (4, 'b', NULL);
        """

    @Test(.database(.sql(spans))) func intervalsHaveASumAndAnAverage() async throws {
        try await withDatabase { database, context, other in
            let spans = try context.fetch("span")
            try await expectStatements(["SELECT sum", "SELECT avg"]) { () async throws in
                #expect(try await spans.sum("lasting")?.description == "1 day 01:30:00")
                #expect(try await spans.average("lasting")?.description == "08:30:00")
            }
            #expect(try await spans.sorted("id").limit(2).sum("lasting")?.description == "01:30:00")
            let groups = try spans.sorted("kind").group(by: "kind", aggregates: .sum("lasting"), .average("lasting"))
            let long = try groups.having(.sum("lasting"), .greater, PostgresInterval(microseconds: 7_200_000_000))
            #expect(try await long.all().map { $0["kind"] } == ["b"])
            let sums = try await groups.all().map { $0["sum(lasting)"]??.description }
            #expect(sums == ["01:30:00", "1 day"])
            #expect(try await spans.where("id > 9").average("lasting") == nil)
        }
    }

    private static let marks = """
        CREATE TABLE mark (id int PRIMARY KEY, at pg_lsn);
        INSERT INTO mark VALUES (1, '0/20'), (2, '0/10'), (3, NULL)
        """

    @Test(.database(.sql(marks))) func valuesWithoutABinaryFormAreReadAsText() async throws {
        try await withDatabase { database, context, other in
            let marks = try context.fetch("mark").sorted("id")
            #expect(try marks.sql.hasPrefix(#"SELECT t0."id", t0."at"::text FROM "#))
            #expect(try await marks.all().map { $0["at"] } == ["0/20", "0/10", nil])
            let selected = try marks.select("at", "id")
            #expect(try selected.sql.hasPrefix(#"SELECT t0."at"::text, t0."id" FROM "#))
            #expect(
                try await selected.all() == [["at": "0/20", "id": 1], ["at": "0/10", "id": 2], ["at": nil, "id": 3]])
            #expect(try await marks.minimum("at") == "0/10")
            #expect(try await marks.limit(1).minimum("at") == "0/20")
            let groups = try context.fetch("mark").sorted("at").group(by: "at", aggregates: .count, .maximum("at"))
            #expect(try groups.sql.hasPrefix(#"SELECT t0."at"::text, count(*), max(t0."at")::text FROM "#))
            #expect(
                try await groups.all() == [
                    ["at": "0/10", "count": 1, "maximum(at)": "0/10"],
                    ["at": "0/20", "count": 1, "maximum(at)": "0/20"], ["at": nil, "count": 1, "maximum(at)": nil],
                ])
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
