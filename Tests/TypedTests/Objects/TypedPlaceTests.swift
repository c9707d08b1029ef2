import DemoModels
import Kindred
import KindredTesting
import Testing

/// Statements that typed properties cause say where in the program that was, wherever a call can know.
@Suite struct TypedPlaceTests {
    @Test(.database(.file("../../../sql/demo.sql"))) func callsNameTheirLines() async throws {
        func fill(_ person: inout NewValues<Person>) {
            person.firstname = "A"
            person.surname = "B"
        }
        try await withModels { database, context in
            let (lines, recorder) = try await recordingStatements {
                var lines: [Int] = []
                let author = try #require(await context.find(Author.self, 1)); lines.append(#line)
                let other = try #require(await context.find("author", 2) as? Author); lines.append(#line)
                let book = try #require(await author.books.all().first); lines.append(#line)
                for try await _ in other.books() { break }; lines.append(#line)
                _ = try await book.category(); lines.append(#line)
                _ = try await book.authors().count; lines.append(#line)
                _ = try await book.authors().isEmpty; lines.append(#line)
                _ = try await context.fetch(Book.self).select(\.title).all(); lines.append(#line)
                _ = try await context.fetch(Book.self).sum("price"); lines.append(#line)
                _ = try await context.fetch(Book.self).average("price"); lines.append(#line)
                _ = try await context.fetch(Book.self).minimum("price"); lines.append(#line)
                _ = try await context.fetch(Book.self).maximum("price"); lines.append(#line)
                _ = try await context.fetch(Book.self).first(); lines.append(#line)
                _ = try await context.fetch(Book.self).limit(1).one(); lines.append(#line)
                let person = try await context.create(Person.self, with: fill); lines.append(#line)
                _ = try await context.deletionPlan(for: person); lines.append(#line)
                try await database.refreshSchema(); lines.append(#line)
                return lines
            }
            let events = recorder.all.filter { $0.kind == .statement }
            var places: [Int?] = []
            for event in events where places.last != .some(event.place?.line) { places.append(event.place?.line) }
            let shown = events.map { "\($0.place.map(\.description) ?? "-") \($0.sql)" }.joined(separator: "\n")
            #expect(places == lines, "\(shown)")
            #expect(events.allSatisfy { $0.place?.fileID == "TypedTests/TypedPlaceTests.swift" })
        }
    }

    @Test(.database(.file("../../../sql/demo.sql"))) func transactionControlNamesItsTransaction() async throws {
        try await withModels { _, context in
            let (line, recorder) = try await recordingStatements {
                try await context.transaction {
                    try await context.query("SELECT 1")
                    try await context.transaction { _ = try await context.query("SELECT 2") }
                }
                return #line - 4
            }
            let control = recorder.all.filter { $0.kind == .transactionControl }
            func places(_ sql: String) -> [Int?] { control.filter { $0.sql.hasPrefix(sql) }.map { $0.place?.line } }
            #expect(places("COMMIT") == [line] && places("RELEASE") == [line + 2])
            // BEGIN and SAVEPOINT travel with the first statement behind them.
            #expect(places("BEGIN") == [line + 1] && places("SAVEPOINT") == [line + 2])
        }
    }

    /// Properties and loops over them cannot know where they are: the statement has no place rather than a wrong one.
    @Test(.database(.file("../../../sql/demo.sql"))) func propertiesHaveNone() async throws {
        try await withModels { _, context in
            let book = try #require(await context.fetch(Book.self).first())
            let (_, recorder) = try await recordingStatements {
                _ = try await book.category.object
                for try await _ in book.authors {}
            }
            #expect(recorder.all.count == 2 && recorder.all.allSatisfy { $0.place == nil })
        }
    }
}
