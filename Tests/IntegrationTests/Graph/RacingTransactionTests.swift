import Kindred
import KindredTesting
import TestSupport
import Testing

/// Tasks that share a context, each with a transaction of its own that fails.
@Suite(.database(.sql(GraphSchema.sql + "SELECT reset_graph();")))
struct RacingTransactionTests {
    private struct Undone: Error {}

    private static let rounds = TestAmount.of(10, full: 50, long: 2_000)

    @Test func setsLoseNoMembersByTransactionsThatFailAtTheSameTime() async throws {
        try await withDatabase { _, context, other in
            let items = try await context.fetch("item").sorted("id").all()
            let units = try await context.fetch("unit").sorted("id").all()
            let tags = try await context.fetch("tag").sorted("id").all()
            for round in 0..<Self.rounds {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for item in items.prefix(4) {
                        group.addTask {
                            do {
                                try await context.transaction {
                                    item["code"] = .integer(Int64(1_000 + round))
                                    try await item.setValue(nil, forKey: "tags")
                                    try await item.setValue(nil, forKey: "unit")
                                    throw Undone()
                                }
                            } catch is Undone {}
                        }
                    }
                    try await group.waitForAll()
                }
                #expect(!context.hasStagedChanges)
                for (owners, key, column) in [(units, "items", "unit_id"), (tags, "items", "tag_id")] {
                    let table = column == "unit_id" ? "item" : "item_tag"
                    let id = column == "unit_id" ? "id" : "item_id"
                    for owner in owners {
                        let stored = try await other.values(
                            """
                            SELECT \(identifier: id) FROM \(identifier: table)
                            WHERE \(identifier: column) = \(owner["id"]) ORDER BY 1
                            """)
                        let set = try await owner.set(forKey: key)
                        let shown = try await set.objects.map { $0["id"] }
                        try #require(Set(shown) == Set(stored) && shown.count == stored.count, "round \(round): \(set)")
                        try #require(try await set.count == stored.count, "round \(round): \(set).count")
                    }
                }
                for item in items {
                    let stored = try await other.value("SELECT unit_id FROM item WHERE id = \(item["id"])")
                    try #require(try await item.object(forKey: "unit")?["id"] == stored, "round \(round): \(item).unit")
                }
            }
        }
    }
}
