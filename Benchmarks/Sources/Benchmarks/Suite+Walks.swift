import CFloor
import Kindred

extension Suite {
    /// Loops that follow the relationships of one object at a time, without prefetching.
    static func walks(_ shop: BenchmarkDatabase, _ database: Database) -> [Measurement] {
        let loop: Measurement.Run = {
            try await rate(of: 1) { try await walkAuthors(database) }
        }
        return [
            Measurement(
                name: "loop over 1,000 authors' books, libpq's 1,001 queries pipelined", unit: "times",
                goal: .ofFloor(1), peerWork: .loopOverBooks,
                floor: {
                    try shop.withTarget { target in
                        let count = Workload.authors
                        let time = try seconds(
                            floor_pipeline(target, Workload.booksOfAuthor, count, count, 1, count))
                        return 1 / time
                    }
                },
                kindred: loop),
            Measurement(
                name: "1,000 authors with their books", unit: "times", goal: .ofFloor(1 / 3.0),
                peerWork: .authorsWithBooks,
                floor: { try perSecond([Workload.allAuthors, Workload.booksOfAuthors], shop) },
                kindred: loop),
            Measurement(
                name: "10,000 books with author and tags", unit: "times", goal: .ofFloor(1 / 3.0),
                peerWork: .booksWithAuthorAndTags,
                floor: { try perSecond([Workload.allBooks, Workload.allAuthors, Workload.tagsOfBooks], shop) }
            ) {
                try await rate(of: 1) { try await walkBooks(database) }
            },
        ]
    }

    static func walkAuthors(_ database: Database) async throws {
        var count = 0
        for author in try await database.makeContext().fetch("author").all() {
            count += try await author.set(forKey: "bookSet").objects.count
        }
        guard count == Workload.books else { throw UnexpectedResult() }
    }

    static func walkBooks(_ database: Database, prefetching relationships: [String] = []) async throws {
        var count = 0
        var request = try database.makeContext().fetch("book")
        for relationship in relationships { request = try request.prefetch(relationship) }
        for book in try await request.all() {
            guard try await book.object(forKey: "author") != nil else { throw UnexpectedResult() }
            count += try await book.set(forKey: "tagSet").objects.count
        }
        guard count == 3 * Workload.books else { throw UnexpectedResult() }
    }

    /// libpq's rate per second for reading the rows of some queries.
    static func perSecond(_ queries: [String], _ shop: BenchmarkDatabase) throws -> Double {
        try shop.withTarget { target in
            var rows = 0
            return try 1 / queries.reduce(0) { try $0 + seconds(floor_rows(target, $1, 1, &rows)) }
        }
    }
}
