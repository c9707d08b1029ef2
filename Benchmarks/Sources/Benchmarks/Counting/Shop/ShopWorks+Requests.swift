import Kindred

extension ShopWorks {
    /// Conditions, pages, parts of relationships, and JSON.
    static func requests(_ database: Database, typed: Database) -> [CountedWork] {
        let keys = Keys()
        return [
            CountedWork(name: "object by condition", unit: "object", count: 1_000) { count in
                for step in 0..<count { try await Suite.findByCondition(step, keys, database) }
            },
            CountedWork(name: "object by typed condition", unit: "object", count: 1_000) { count in
                for step in 0..<count { try await Suite.findByTypedCondition(step, keys, typed) }
            },
            CountedWork(name: "100 pages of 100 by keyset", unit: "page", count: 100) { count in
                try await Suite.readPages(count, database)
            },
            CountedWork(
                name: "1,000 authors with a part of their books", unit: "book", count: Int(Workload.books) / 2
            ) { _ in
                try await Suite.readCheapBooks(database)
            },
            CountedWork(name: "JSON of 1,000 books with author and tags", unit: "book", count: 1_000) { count in
                try await Suite.encodeBooks(count, database)
            },
        ]
    }
}
