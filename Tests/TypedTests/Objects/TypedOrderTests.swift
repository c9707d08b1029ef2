import DemoModels
import Kindred
import KindredTesting
import Testing

/// Ordered relationships through typed handles.
@Suite struct TypedOrderTests {
    private func withOrder(
        by column: String,
        _ body: (Purchase, DatabaseContext, PostgresClient) async throws -> Void
    ) async throws {
        let configuration = try PostgresConfiguration(uri: try TestDatabase.current.uri)
        let order = SchemaOverride.foreignKey("purchase__lines", of: "purchase_line", orderedBy: column)
        let database = try await Database.connect(configuration, classes: KindredModels.all, overrides: [order])
        let context = database.makeContext()
        let purchase = try #require(
            await context.fetch(Purchase.self).where("lines.@count > 1").sorted("number").first())
        do {
            try await body(purchase, context, database.client)
        } catch {
            await database.close()
            throw error
        }
        await database.close()
    }

    @Test(.database(.file("../../../sql/demo.sql"))) func typedHandlesKeepTheOrder() async throws {
        try await withOrder(by: "copies") { purchase, context, client in
            let lines = purchase.lines
            let before = try await lines.objects
            #expect(lines.isOrdered && before.map(\.copies) == before.map(\.copies).sorted())
            try await lines.move(from: 0, to: before.count - 1)
            let after: [PurchaseLine] = try await lines.objects
            #expect(after == Array(before.dropFirst()) + [before[0]])
            #expect(zip(after, after.dropFirst()).allSatisfy { $0.copies < $1.copies })
            let fresh = try await purchase.context.database.makeContext().get(try #require(purchase.objectID))
            #expect(try await fresh.set(forKey: "lines").objects.map(\.objectID) == after.map(\.objectID))
        }
    }

    @Test(.database(.file("../../../sql/demo.sql"))) func anOrderThatIsPartOfTheKeyCanOnlyBeRead() async throws {
        try await withOrder(by: "line") { purchase, context, client in
            let lines = try await purchase.lines.objects
            #expect(lines.map(\.line) == lines.map(\.line).sorted())
            await expectError(.readOnly) { () async throws in
                try await purchase.lines.move(from: 0, to: lines.count - 1)
            }
            #expect(try await purchase.lines.objects == lines)
        }
    }
}
