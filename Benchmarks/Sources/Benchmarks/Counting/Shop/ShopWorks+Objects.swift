import Kindred

extension ShopWorks {
    /// Objects by key and of whole tables, and their relationships.
    static func objects(_ database: Database, typed: Database) -> [CountedWork] {
        let keys = Keys()
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
        ]
    }
}
