import Kindred

extension ShopWorks {
    /// New and changed objects.
    static func saves(
        _ shop: BenchmarkDatabase, _ database: Database, typed: Database
    ) async throws -> [CountedWork] {
        let year = Counter()
        // Held by the works below: without a context each staged value would be moved to weak references.
        let context = database.makeContext()
        let books = try await context.fetch("book").sorted("id").all()
        // The context of the last run, whose staged objects are not taken back while something is counted.
        let staged = Kept<DatabaseContext>()
        let rows = Int(Workload.books)
        return [
            CountedWork(
                name: "10,000 new objects in one save", unit: "object", count: rows,
                prepare: { try shop.empty("review") }
            ) { count in
                try await Suite.insertReviews(count, database)
            },
            CountedWork(
                name: "10,000 typed new objects, staged", unit: "object", count: rows,
                prepare: { staged.take()?.rollback() }
            ) { count in
                let context = typed.makeContext()
                for row in 0..<count {
                    try context.add(Review.new(bookID: row + 1, text: "A review", stars: row % 5))
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
}
