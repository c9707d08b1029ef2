import CFloor
import Kindred

extension Suite {
    /// Sequential statements on one connection.
    static func lookups(
        _ shop: BenchmarkDatabase, _ database: Database, _ keys: Keys, isPinned: Bool
    ) -> [Measurement] {
        let count = 5_000
        let floor: Measurement.Run = {
            try shop.withTarget {
                Double(count) / (try seconds(floor_lookup($0, Workload.bookByKey, Workload.books, Int32(count))))
            }
        }
        // Pinned: at most twice the work of libpq.
        let goal = Measurement.Goal.ofFloor(isPinned ? 0.5 : 0.85)
        return [
            Measurement(name: "object by key", unit: "objects", goal: goal, peerWork: .objectByKey, floor: floor) {
                try await rate(of: count) {
                    for step in 0..<count { try await find(step, keys, database) }
                }
            },
            Measurement(name: "row by key", unit: "rows", goal: goal, floor: floor) {
                try await rate(of: count) {
                    for step in 0..<count {
                        let key = Int(keys.numbers[step % keys.numbers.count])
                        let result = try await database.query(
                            "SELECT id, author_id, title, year, price FROM book WHERE id = \(key)")
                        guard result.first?.count == 5 else { throw UnexpectedResult() }
                    }
                }
            },
        ]
    }

    /// Whole tables.
    static func rows(_ shop: BenchmarkDatabase, _ database: Database, typed: Database) -> [Measurement] {
        let count = 20
        let floor: Measurement.Run = {
            try shop.withTarget {
                var rows = 0
                let time = try seconds(floor_rows($0, Workload.allBooks, Int32(count), &rows))
                return Double(rows) / time
            }
        }
        return [
            Measurement(
                name: "10,000 rows to objects", unit: "objects", goal: .ofFloor(0.35), peerWork: .rowsToObjects,
                floor: floor
            ) {
                try await rate(of: count * Int(Workload.books)) {
                    for _ in 0..<count { try await readBooks(database) }
                }
            },
            Measurement(
                name: "10,000 rows, all attributes read typed", unit: "objects", goal: .ofFloor(0.2),
                peerWork: .readAttributes, floor: floor
            ) {
                try await rate(of: count * Int(Workload.books)) {
                    for _ in 0..<count { try await readBooksTyped(typed) }
                }
            },
            Measurement(name: "10,000 rows", unit: "rows", goal: nil, floor: floor) {
                try await rate(of: count * Int(Workload.books)) {
                    for _ in 0..<count {
                        let result = try await database.query("SELECT id, author_id, title, year, price FROM book")
                        for row in result where row.count != 5 { throw UnexpectedResult() }
                    }
                }
            },
        ]
    }

    /// Many tasks on few connections.
    static func concurrentLookups(_ shop: BenchmarkDatabase, _ database: Database, _ keys: Keys) -> [Measurement] {
        let tasks = 20
        let count = 1_000
        let kindred: Measurement.Run = {
            try await rate(of: tasks * count) {
                try await withThrowingDiscardingTaskGroup { group in
                    for task in 0..<tasks {
                        group.addTask {
                            for step in 0..<count { try await find(task * count + step, keys, database) }
                        }
                    }
                }
            }
        }
        let name = "20 tasks by key over 4 connections"
        return [
            Measurement(
                name: "\(name), libpq in 20 threads", unit: "objects", goal: .ofFloor(1),
                peerWork: .concurrentByKey,
                floor: {
                    try shop.withTarget { target in
                        let time = try seconds(
                            floor_threads(target, Workload.bookByKey, Workload.books, Int32(tasks), 4, Int32(count)))
                        return Double(tasks * count) / time
                    }
                },
                kindred: kindred),
            // The design's 90,000 a second were 0.56 of the pipeline on its author's machine.
            Measurement(
                name: "\(name), libpq pipelined", unit: "objects", goal: .ofFloor(0.56),
                peerWork: .concurrentByKey,
                floor: {
                    try shop.withTarget { target in
                        let time = try seconds(
                            floor_pipeline(
                                target, Workload.bookByKey, Workload.books, Int32(tasks), 4, Int32(tasks * count)))
                        return Double(tasks * count) / time
                    }
                },
                kindred: kindred),
        ]
    }

    /// The whole catalog, read again each time; libpq only fetches it.
    static func catalog(
        _ name: String, within limit: Double, _ catalog: BenchmarkDatabase, _ database: Database
    ) -> Measurement {
        Measurement(
            name: name, unit: "times", goal: .rate(1 / limit),
            floor: {
                try catalog.withTarget { target in
                    var rows = 0
                    let time = try Workload.catalogQueries.reduce(0) {
                        try $0 + seconds(floor_rows(target, $1, 1, &rows))
                    }
                    return 1 / time
                }
            },
            kindred: {
                try await rate(of: 1) { _ = try await database.refreshSchema() }
            })
    }

    static func readBooks(_ database: Database) async throws {
        let books = try await database.makeContext().fetch("book").all()
        guard books.count == Workload.books else { throw UnexpectedResult() }
    }

    static func readBooksTyped(_ database: Database) async throws {
        var sum = 0
        for book in try await database.makeContext().fetch(Book.self).all() {
            sum += book.id + book.authorID + book.title.utf8.count + (book.year ?? 0)
            guard book.price != nil else { throw UnexpectedResult() }
        }
        guard sum > 0 else { throw UnexpectedResult() }
    }

    static func find(_ step: Int, _ keys: Keys, _ database: Database) async throws {
        let key = Int(keys.numbers[step % keys.numbers.count])
        // A new context, as for each request of a server, so nothing comes from memory.
        guard try await database.makeContext().find("book", key) != nil else { throw UnexpectedResult() }
    }
}

/// The rate per second.
func rate(of count: Int, _ body: () async throws -> Void) async throws -> Double {
    let start = ContinuousClock.now
    try await body()
    let time = ContinuousClock.now - start
    return Double(count) / (Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18)
}
