import CFloor
import Foundation
import Kindred

extension Suite {
    /// One object by a condition, in text and typed.
    static func conditions(
        _ shop: BenchmarkDatabase, _ database: Database, typed: Database, _ keys: Keys
    ) -> [Measurement] {
        let count = 5_000
        let floor: Measurement.Run = {
            try shop.withTarget {
                Double(count) / (try seconds(floor_lookup($0, Workload.bookByKey, Workload.books, Int32(count))))
            }
        }
        return [
            Measurement(name: "object by condition", unit: "objects", goal: nil, floor: floor) {
                try await rate(of: count) {
                    for step in 0..<count { try await findByCondition(step, keys, database) }
                }
            },
            Measurement(name: "object by typed condition", unit: "objects", goal: nil, floor: floor) {
                try await rate(of: count) {
                    for step in 0..<count { try await findByTypedCondition(step, keys, typed) }
                }
            },
        ]
    }

    /// Pages, parts of relationships, and JSON.
    static func requests(_ shop: BenchmarkDatabase, _ database: Database) -> [Measurement] {
        [
            Measurement(
                name: "100 pages of 100 by keyset", unit: "pages", goal: nil,
                floor: {
                    try shop.withTarget { target in
                        var rows = 0
                        // The columns id and author_id.
                        let time = try seconds(floor_pages(target, Workload.pageOfBooks, 1, 0, 100, &rows))
                        guard rows == Workload.books else { throw UnexpectedResult() }
                        return 100 / time
                    }
                }
            ) {
                try await rate(of: 100) { try await readPages(100, database) }
            },
            Measurement(
                name: "1,000 authors with a part of their books", unit: "times", goal: nil,
                floor: { try perSecond([Workload.allAuthors, Workload.cheapBooksOfAuthors], shop) }
            ) {
                try await rate(of: 1) { try await readCheapBooks(database) }
            },
            Measurement(
                name: "JSON of 1,000 books with author and tags, libpq reads the rows alone", unit: "times", goal: nil,
                floor: {
                    try perSecond(
                        [Workload.firstBooks, Workload.authorsOfFirstBooks, Workload.tagsOfFirstBooks], shop)
                }
            ) {
                try await rate(of: 1) { try await encodeBooks(1_000, database) }
            },
        ]
    }

    static func findByCondition(_ step: Int, _ keys: Keys, _ database: Database) async throws {
        let key = Int(keys.numbers[step % keys.numbers.count])
        let book = try await database.makeContext().fetch("book").where("id = %@", key).one()
        guard book["id"] != nil else { throw UnexpectedResult() }
    }

    static func findByTypedCondition(_ step: Int, _ keys: Keys, _ typed: Database) async throws {
        let key = Int(keys.numbers[step % keys.numbers.count])
        guard try await typed.makeContext().fetch(Book.self).where({ $0.id == key }).one().id == key else {
            throw UnexpectedResult()
        }
    }

    /// Reads pages of 100 books, each with a context of its own as for each request of a server.
    static func readPages(_ count: Int, _ database: Database) async throws {
        var cursor: PageCursor?
        var books = 0
        for _ in 0..<count {
            let page = try await database.makeContext().fetch("book").sorted("author_id").page(size: 100, after: cursor)
            books += page.objects.count
            cursor = page.next
        }
        guard books == 100 * count, cursor != nil else { throw UnexpectedResult() }
    }

    /// Authors with half of their books.
    static func readCheapBooks(_ database: Database) async throws {
        let request = try database.makeContext().fetch("author").prefetch("bookSet") { $0.where("price < %@", 25) }
        var count = 0
        for author in try await request.all() {
            count += try await author.set(forKey: "bookSet").where("price < %@", 25).all().count
        }
        guard count == Workload.books / 2 else { throw UnexpectedResult() }
    }

    static func encodeBooks(_ count: Int, _ database: Database) async throws {
        let books = try await database.makeContext().fetch("book").where("id <= %@", count)
            .views("title", "price", "author.name", "tagSet.name")
        guard books.count == count, try JSONEncoder().encode(books).count > 100 * count else {
            throw UnexpectedResult()
        }
    }
}
