import Kindred
import Synchronization

/// A context with a number of objects held in memory, for works that measure how these affect the cost.
final class HeldItems: Sendable {
    private let database: Database
    private let entities: [String]
    private let held = Mutex<(context: DatabaseContext, items: [DatabaseObject])?>(nil)

    init(_ database: Database, _ entities: [String] = ["item"]) {
        self.database = database
        self.entities = entities
    }

    /// The context, with exactly that number of objects of each entity.
    func context(holding count: Int) async throws -> DatabaseContext {
        if let (context, items) = held.withLock({ $0 }), items.count == count * entities.count {
            return context
        }
        held.withLock { $0 = nil }
        let context = database.makeContext()
        var items: [DatabaseObject] = []
        for entity in entities { items += try await Self.items(count, context, of: entity) }
        let all = items
        held.withLock { $0 = (context, all) }
        return context
    }

    func items(_ count: Int) -> [DatabaseObject] {
        held.withLock { Array($0?.items.prefix(count) ?? []) }
    }

    func release() {
        held.withLock { $0 = nil }
    }

    /// The first items, read 1,000 at a time.
    static func items(
        _ count: Int, _ context: DatabaseContext, of entity: String = "item"
    ) async throws -> [DatabaseObject] {
        var items: [DatabaseObject] = []
        items.reserveCapacity(count)
        for start in stride(from: 0, to: count, by: 1_000) {
            items += try await context.fetch(entity).where("id > %@ AND id <= %@", start, start + 1_000).all()
        }
        guard items.count == count else { throw UnexpectedResult() }
        return items
    }
}
