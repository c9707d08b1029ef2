import DemoModels
import Kindred
import KindredTesting
import Testing

/// Changes by condition, written over properties.
@Suite struct TypedUpdateTests {
    @Test(.database(.file("../../../sql/demo.sql"))) func columnsAreCalculatedInTheDatabase() async throws {
        try await withModels { _, context in
            let books = try await context.fetch(Book.self).where { $0.id <= 5 }.sorted { $0.id }.all()
            let prices = books.map(\.price)
            let (count, recorder) = try await recordingStatements {
                try await context.fetch(Book.self).where { $0.id <= 3 }
                    .update {
                        $0.price = $0.price + 10
                        $0.title = "Dear"
                    }
            }
            #expect(count == 3 && recorder.statements.count == 1)
            #expect(books.map(\.price) != prices && books.prefix(3).allSatisfy { $0.title == "Dear" })
            #expect(books.suffix(2).map(\.price) == prices.suffix(2))
            await #expect(throws: KindredError.self) { () async throws in
                try await context.fetch(Book.self).update { $0.isbn = nil }
            }
            let category = try await books[1].category.object
            try await context.fetch(Book.self).where { $0.id == 1 }.update {
                $0.category = nil
                $0.category = category
            }
            #expect(try await books[0].category.object === category)
        }
    }
}
