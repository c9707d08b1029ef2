import CFloor
import Kindred
import Synchronization

extension Suite {
    /// Many objects in one save.
    static func saves(_ shop: BenchmarkDatabase, _ database: Database) async throws -> [Measurement] {
        let count = 10_000
        let value = Counter()
        let context = database.makeContext()
        let books = try await context.fetch("book").sorted("id").all()
        return [
            Measurement(
                name: "10,000 new objects in one save, keys back", unit: "objects", goal: .ofFloor(0.7),
                peerWork: .newObjects,
                prepare: { try shop.empty("review") },
                floor: {
                    try shop.withTarget { target in
                        let time = try seconds(
                            floor_insert(target, Workload.insertReviews, Workload.books, Int32(count)))
                        return Double(count) / time
                    }
                },
                kindred: {
                    try await rate(of: count) { try await insertReviews(count, database) }
                }),
            Measurement(
                name: "10,000 changed objects in one save", unit: "objects", goal: .ofFloor(1),
                peerWork: .changedObjects,
                floor: {
                    try shop.withTarget { target in
                        let time = try seconds(floor_updates(target, Workload.updateBook, value.next(), Int32(count)))
                        return Double(count) / time
                    }
                },
                kindred: {
                    let year = Int(value.next())
                    return try await rate(of: count) { try await change(books, of: context, year: year) }
                }),
        ]
    }

    static func insertReviews(_ count: Int, _ database: Database) async throws {
        let context = database.makeContext()
        for row in 0..<count {
            try context.add(
                "review",
                [
                    "book_id": row % Int(Workload.books) + 1,
                    "text": "The review with the number \(row)",
                    "stars": row % 5,
                ])
        }
        try await context.save()
    }

    static func change(_ books: [DatabaseObject], of context: DatabaseContext, year: Int) async throws {
        for book in books { book["year"] = .integer(Int64(year)) }
        try await context.save()
    }
}

/// Unique numbers, so that each round changes every row.
final class Counter: Sendable {
    private let number = Mutex<Int32>(1_000)

    func next() -> Int32 {
        number.withLock { number in
            number += 1
            return number
        }
    }
}
