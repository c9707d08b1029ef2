import Kindred
import Synchronization

/// The works that are counted on the database of the other measurements.
enum ShopWorks {
    /// The context of the last run, whose staged objects are not taken back while something is counted.
    private final class StagedContext: Sendable {
        private let last = Mutex<DatabaseContext?>(nil)

        func keep(_ context: DatabaseContext) { last.withLock { $0 = context } }

        func discard() { last.withLock { $0.take() }?.rollback() }
    }

    static func all(_ shop: BenchmarkDatabase, _ database: Database, typed: Database) async throws -> [CountedWork] {
        let keys = Keys()
        let year = Counter()
        // Held by the works below: without a context each staged value would be moved to weak references.
        let context = database.makeContext()
        let books = try await context.fetch("book").sorted("id").all()
        let staged = StagedContext()
        let rows = Int(Workload.books)
        return [
            CountedWork(name: "object by key", unit: "object", count: 1_000) { count in
                for step in 0..<count { try await Suite.find(step, keys, database) }
            },
            CountedWork(name: "10,000 rows", unit: "row", count: rows) { count in
                let result = try await database.query("SELECT id, author_id, title, year, price FROM book")
                guard result.reduce(0, { $0 + $1.count }) == 5 * count else { throw UnexpectedResult() }
            },
            CountedWork(name: "10,000 rows to objects", unit: "object", count: rows) { _ in
                try await Suite.readBooks(database)
            },
            CountedWork(name: "10,000 rows, all attributes read typed", unit: "object", count: rows) { _ in
                try await Suite.readBooksTyped(typed)
            },
            CountedWork(name: "1,000 authors with their books", unit: "book", count: rows) { _ in
                try await Suite.walkAuthors(database)
            },
            CountedWork(name: "10,000 books with author and tags", unit: "book", count: rows) { _ in
                try await Suite.walkBooks(database)
            },
            CountedWork(name: "10,000 books with author and tags, prefetched", unit: "book", count: rows) { _ in
                try await Suite.walkBooks(database, prefetching: ["author", "tagSet"])
            },
            CountedWork(
                name: "10,000 new objects in one save", unit: "object", count: rows,
                prepare: { try shop.empty("review") }
            ) { count in
                try await Suite.insertReviews(count, database)
            },
            CountedWork(
                name: "10,000 typed new objects, staged", unit: "object", count: rows,
                prepare: { staged.discard() }
            ) { count in
                let context = typed.makeContext()
                for row in 0..<count {
                    try context.insert(Review.new(bookID: row + 1, text: "A review", stars: row % 5))
                }
                staged.keep(context)
            },
            CountedWork(name: "10,000 changed objects in one save", unit: "object", count: rows) { _ in
                try await Suite.change(books, of: context, year: Int(year.next()))
            },
            CountedWork(name: "1,000 new objects, each stored at once", unit: "object", count: 1_000) { count in
                let context = database.makeContext()
                for row in 0..<count {
                    try await context.create("review", ["book_id": row + 1, "text": "A review", "stars": row % 5])
                }
            },
            CountedWork(name: "1,000 changed objects, each stored at once", unit: "object", count: 1_000) { count in
                let value = Int(year.next())
                for book in books.prefix(count) { try await book.setValue(value, forKey: "year") }
                withExtendedLifetime(context) {}
            },
        ]
    }

    static func catalog(_ database: Database) -> CountedWork {
        CountedWork(name: "catalog of 375 tables with 770 keys", unit: "table", count: 375) { _ in
            _ = try await database.refreshSchema()
        }
    }
}
