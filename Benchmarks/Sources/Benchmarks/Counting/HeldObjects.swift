import CCounters
import Kindred

/// The memory of held objects, without their rows.
enum HeldObjects {
    static let count = 100_000

    /// The heap bytes of each object, without its row; nil if they cannot be counted.
    static func bytesPerObject(_ database: Database) async throws -> Double? {
        // A first, uncounted run makes the allocations that happen once for a connection or an entity.
        _ = try await bytes { try await objects(database) }
        guard let rows = try await bytes({ try await rows(database) }),
            let objects = try await bytes({ try await objects(database) })
        else { return nil }
        return ((objects - rows) / Double(count)).rounded(digits: 1)
    }

    /// The bytes in use while a value is held.
    private static func bytes<T>(_ make: () async throws -> T) async throws -> Double? {
        let before = counters_heap_bytes()
        let held = try await make()
        let after = counters_heap_bytes()
        withExtendedLifetime(held) {}
        return before < 0 ? nil : Double(after - before)
    }

    private static func rows(_ database: Database) async throws -> [Row] {
        let result = try await database.query("SELECT id, author_id, title, year, price FROM held")
        guard result.count == count else { throw UnexpectedResult() }
        return Array(result)
    }

    private static func objects(_ database: Database) async throws -> [DatabaseObject] {
        let objects = try await database.makeContext().fetch("held").all()
        guard objects.count == count else { throw UnexpectedResult() }
        return objects
    }
}
