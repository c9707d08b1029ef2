import Kindred
import KindredTesting
import TestSupport
import Testing

/// Ordered sets against plain Swift arrays: random calls, and transactions that are undone.
@Suite struct OrderModelTests {
    private struct Undone: Error {}

    private struct World {
        let kind: OrderedKind
        let items: [DatabaseObject]
        let lists: [DatabaseObject]
        var orders: [[Int]] = [[1, 2, 3, 4, 5], [6, 7, 8]]

        /// A member joins: where rows hold the foreign key themselves, it leaves its old list.
        mutating func take(_ numbers: [Int], into list: Int) {
            guard !kind.isHelper else { return }
            for other in orders.indices where other != list { orders[other].removeAll(where: numbers.contains) }
        }
    }

    @Test(.database(.sql(OrderedKind.schema)), arguments: UInt64(1)...TestAmount.of(7, full: 7, long: 200))
    func orderedSetsFollowPlainArrays(seed: UInt64) async throws {
        let kind = OrderedKind.allCases[Int(seed) % OrderedKind.allCases.count]
        try await withDatabase { database, context, other in
            var random = SeededGenerator(seed: seed)
            var world = World(
                kind: kind, items: try await kind.items(context),
                lists: [try await kind.list(1, context), try await kind.list(2, context)])
            for step in 0..<40 {
                let before = world
                if random.once(in: 6) {
                    do {
                        try await context.transaction {
                            for _ in 0..<2 { try await Self.step(&world, &random) }
                            throw Undone()
                        }
                    } catch is Undone {
                        world = before
                    }
                } else {
                    try await Self.step(&world, &random)
                }
                for (place, list) in world.lists.enumerated() {
                    let place = place + 1
                    if random.once(in: 3) { try await list.refresh() }
                    let stored = try await kind.stored(place, other)
                    try #require(stored == world.orders[place - 1], "\(kind), seed \(seed), step \(step): stored")
                    if random.once(in: 3) { continue }
                    let shown = try await list.set(forKey: "items").numbers
                    try #require(shown == world.orders[place - 1], "\(kind), seed \(seed), step \(step): shown")
                }
            }
        }
    }

    private static func step(_ world: inout World, _ random: inout SeededGenerator) async throws {
        let list = Int.random(in: 0...1, using: &random)
        let set = try await world.lists[list].set(forKey: "items")
        let order = world.orders[list]
        let given = random.some(Array(1...10), atMost: 3)
        let objects = given.map { world.items[$0 - 1] }
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1:
            let rest = order.filter { !given.contains($0) }
            let index = Int.random(in: 0...rest.count, using: &random)
            try await set.insert(contentsOf: objects, at: index)
            world.take(given, into: list)
            world.orders[list] = rest.prefix(index) + given + rest.dropFirst(index)
        case 2, 3:
            guard !order.isEmpty else { return }
            let (from, to) = (
                Int.random(in: order.indices, using: &random), Int.random(in: order.indices, using: &random)
            )
            try await set.move(from: from, to: to)
            world.orders[list].insert(world.orders[list].remove(at: from), at: to)
        case 4:
            try await set.append(contentsOf: objects)
            world.take(given, into: list)
            world.orders[list] += given.filter { !order.contains($0) }
        case 5:
            guard !order.isEmpty else { return }
            let index = Int.random(in: order.indices, using: &random)
            #expect(try await set.remove(at: index) === world.items[world.orders[list].remove(at: index) - 1])
        case 6:
            try await set.subtract(objects)
            world.orders[list].removeAll(where: given.contains)
        default:
            let wanted = random.some(Array(1...10), atMost: 8)
            try await world.lists[list].setValue(wanted.map { world.items[$0 - 1] }, forKey: "items")
            world.take(wanted, into: list)
            world.orders[list] = wanted
        }
    }
}
