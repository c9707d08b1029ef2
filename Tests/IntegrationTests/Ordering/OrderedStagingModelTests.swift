import Kindred
import KindredTesting
import TestSupport
import Testing

/// New members of ordered sets, members that leave, and rows without a position, saved at random: against plain arrays and SQL.
@Suite struct OrderedStagingModelTests {
    @Test(.database(.sql(OrderedKind.schema)), arguments: UInt64(1)...TestAmount.of(7, full: 35, long: 350))
    func savedOrdersFollowPlainArrays(seed: UInt64) async throws {
        let kind = OrderedKind.allCases[Int(seed) % OrderedKind.allCases.count]
        try await withDatabase { database, context, other in
            var random = SeededGenerator(seed: seed)
            var lists = [try await kind.list(1, context), try await kind.list(2, context)]
            var orders = [[1, 2, 3, 4, 5], [6, 7, 8]]
            var items = try await kind.items(context)
            for step in 0..<10 {
                if random.once(in: 3) {
                    lists.append(try context.add("\(kind.rawValue).list", ["id": lists.count + 1]))
                    orders.append([])
                }
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    let list = Int.random(in: lists.indices, using: &random)
                    let new = items.count + 1
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0 where !kind.isHelper:
                        items.append(try context.add("\(kind.rawValue).item", ["id": new, "list": lists[list]]))
                        orders[list].append(new)
                    case 1 where !kind.isHelper && !orders[list].isEmpty:
                        let left = orders[list].remove(at: Int.random(in: orders[list].indices, using: &random))
                        try await items[left - 1].setValue(nil, forKey: "list")
                    case 2 where !orders[list].isEmpty && items[(orders[list].last ?? 1) - 1].isInserted:
                        // It is there already.
                        try await lists[list].set(forKey: "items").append(items[random.pick(orders[list]) - 1])
                    default:
                        items.append(try context.add("\(kind.rawValue).item", ["id": new]))
                        if random.once(in: 2) { _ = try await lists[list].set(forKey: "items").objects }
                        try await lists[list].set(forKey: "items").append(items[new - 1])
                        orders[list].append(new)
                    }
                }
                try await context.save()
                for (place, order) in orders.enumerated() {
                    let what = "\(kind), seed \(seed), step \(step), list \(place + 1)"
                    try #require(try await kind.stored(place + 1, other) == order, "\(what): stored")
                    try #require(try await lists[place].set(forKey: "items").numbers == order, "\(what): shown")
                }
                // Rows without a position stand last: another session takes the last member's, as old rows have none.
                let place = Int.random(in: lists.indices, using: &random)
                if !kind.isUnique, let last = orders[place].last, random.once(in: 2) {
                    let (table, column) = kind.isHelper ? ("entry", "item_id") : ("item", "id")
                    try await other.query(
                        """
                        UPDATE \(identifier: kind.rawValue).\(identifier: table) SET position = NULL
                        WHERE \(identifier: column) = \(last) AND list_id = \(place + 1)
                        """)
                    try await items[last - 1].refresh()
                    try await lists[place].refresh()
                }
            }
        }
    }
}
