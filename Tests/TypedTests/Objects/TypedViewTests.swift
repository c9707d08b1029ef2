import DemoModels
import Kindred
import KindredTesting
import Testing

/// Relationships of views as properties of generated classes: the demo's view `new_book` shows some of the books.
@Suite struct TypedViewTests {
    @Test(.database(.file("../../../sql/demo.sql"))) func propertiesLeadToViewsAndBack() async throws {
        try await withModels { database, context in
            let new = try await context.fetch(NewBook.self).sorted { $0.id }.all()
            try #require(!new.isEmpty)
            for view in new {
                let book = try await context.fetch(Book.self).where { $0.id == view.id }.one()
                let authors = try await view.authors.objects
                let expected = try await book.authors.objects
                #expect(Set(authors) == Set(expected) && !authors.isEmpty)
                for author in authors { #expect(try await author.newBooks.contains(view)) }
                for stock in try await view.stocks.objects {
                    #expect(try await stock.newBook.object === view)
                    #expect(try await stock.book.object === book)
                }
            }
            let first = try #require(PostgresDate("2024-01-01"))
            let old = try await context.fetch(Stock.self).where { $0.book.published < first }.all()
            try #require(!old.isEmpty)
            for stock in old { #expect(try await stock.newBook.object == nil) }
        }
    }

    @Test(.database(.file("../../../sql/demo.sql"))) func conditionsAndPrefetchTakeViews() async throws {
        try await withModels { database, context in
            let authors = try await context.fetch(Author.self).where { $0.newBooks.contains { $0.id > 0 } }
                .prefetch(\.newBooks).all()
            try #require(!authors.isEmpty)
            let (_, recorder) = try await recordingStatements {
                for author in authors {
                    let count = try await author.newBooks.objects.count
                    #expect(count > 0)
                }
            }
            #expect(recorder.statements.isEmpty)
            let none = try await context.fetch(Author.self).where { !$0.newBooks.contains { $0.id > 0 } }.all()
            #expect(Set(none).isDisjoint(with: authors))
            for author in none { #expect(try await author.newBooks.isEmpty) }
        }
    }

    @Test(.database(.file("../../../sql/demo.sql"))) func pairsAreWrittenThroughAView() async throws {
        try await withModels { database, context in
            let view = try #require(try await context.fetch(NewBook.self).sorted { $0.id }.first())
            let book = try await context.fetch(Book.self).where { $0.id == view.id }.one()
            let count = try await book.authors.objects.count
            let newcomer = try #require(
                try await context.fetch(Author.self).where { !$0.newBooks.contains { $0.id == view.id } }.first())
            try await view.authors.insert(newcomer)
            #expect(try await book.authors.objects.count == count + 1)
            #expect(try await newcomer.newBooks.contains(view))
            try await book.authors.remove(newcomer)
            #expect(try await view.authors.objects.count == count)
        }
    }
}
