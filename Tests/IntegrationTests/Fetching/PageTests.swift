import Kindred
import KindredTesting
import Testing

@Suite struct PageTests {
    private static let orders: [[(String, Bool)]] = [
        [], [("price", true)], [("price", false)], [("price", true), ("pages", false)],
        [("author.country", false), ("price", true)], [("author.country", true), ("title", false), ("id", false)],
    ]

    @Test(.database(.sql(librarySchema)), arguments: orders.indices)
    func pagesGiveEveryRowOnceInOrder(_ index: Int) async throws {
        try await withDatabase { (database, context, other) async throws in
            var request = try context.fetch("book").where("id <= 300")
            for (path, ascending) in Self.orders[index] { request = try request.sorted(path, ascending: ascending) }
            let whole = Self.orders[index].contains { $0.0 == "id" } ? request : try request.sorted("id")
            let expected = try await whole.select("id").all(as: Int.self).map { $0 }
            var found: [Int?] = []
            let (_, recorder) = try await recordingStatements {
                var page = try await request.page(size: 70)
                found += page.objects.map { try? $0.value(forKey: "id", as: Int.self) }
                while let next = page.next {
                    page = try await request.page(size: 70, after: next)
                    found += page.objects.map { try? $0.value(forKey: "id", as: Int.self) }
                }
            }
            #expect(found == expected)
            #expect(recorder.statements.count == 5)
        }
    }

    @Test(.database(.sql(shopSchema))) func compositeKeysHavePages() async throws {
        try await withDatabase { database, context, other in
            let request = try context.fetch("purchase").sorted("customer_id", ascending: false)
            let expected = try await request.sorted("tenant").sorted("id").all()
            var page = try await request.page(size: 2)
            var found = page.objects
            while let next = page.next {
                page = try await request.page(size: 2, after: next)
                found += page.objects
            }
            #expect(found == expected)
        }
    }

    @Test(.database(.sql(librarySchema))) func whatHasNoPagesIsRefusedBeforeAnythingIsSent() async throws {
        try await withDatabase { database, context, other in
            let books = try context.fetch("book")
            let cursor = try await books.page(size: 1).next
            try await expectStatements([]) { () async throws in
                await expectError(.invalidRequest) { _ = try await books.page(size: 0) }
                await expectError(.invalidRequest) { _ = try await books.limit(3).page(size: 1) }
                await expectError(.invalidRequest) {
                    _ = try await books.sorted("price").page(size: 1, after: cursor)
                }
            }
        }
    }
}
