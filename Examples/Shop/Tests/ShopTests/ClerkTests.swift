import Hummingbird
import HummingbirdTesting
import Kindred
import KindredTesting
import ShopModels
import Testing

/// Policies keep the stores apart: a clerk sees and writes what is their store's.
@Suite(.database(.migrations("../../Migrations")))
struct ClerkTests {
    @Test func pagesHoldThePurchasesOfOneStore() async throws {
        try await withShop { client, other in
            var seen: [Int] = []
            var next: String? = ""
            while let cursor = next {
                let after = cursor.isEmpty ? "" : "?after=\(cursor)"
                // The purchases and their buyers; what sets the store and the role goes with them.
                next = try await expectStatements(2) {
                    try await client.execute(uri: "/stores/4/purchases\(after)", method: .get) {
                        (response) async throws in
                        #expect(response.status == .ok)
                        let page = try response.json
                        seen += (page["purchases"] as? [[String: Any]] ?? []).compactMap { $0["number"] as? Int }
                        return page["next"] as? String
                    }
                }
            }
            let expected = try await other.query("SELECT number FROM purchase WHERE store_id = 4 ORDER BY number DESC")
                .map { try $0.decode(0, as: Int.self) }
            #expect(seen == expected)
        }
    }

    @Test func aStoreThatDoesNotExistShowsNothing() async throws {
        try await withShop { client, other in
            try await client.execute(uri: "/stores/99/purchases", method: .get) { (response) async throws in
                #expect(try (response.json["purchases"] as? [Any])?.isEmpty == true)
            }
            try await client.execute(uri: "/stores/99/purchases/1", method: .get) { #expect($0.status == .notFound) }
        }
    }

    @Test func noCallReachesAnotherStore() async throws {
        let database = try await TestDatabase.current.connect(classes: KindredModels.all)
        let clerk = try database.makeContext(settings: ["shop.store": 1], role: "shop_clerk")
        #expect(try await clerk.fetch(Purchase.self).count() > 0)
        #expect(try await clerk.fetch(Purchase.self).where { $0.storeID != 1 }.exists() == false)
        #expect(try await clerk.fetch(PurchaseLine.self).where { $0.storeID != 1 }.exists() == false)
        #expect(try await clerk.fetch(Stock.self).where { $0.storeID != 1 }.exists() == false)
        #expect(try await clerk.find(Purchase.self, 2, 1) == nil)
        let online = try await clerk.get(Store.self, 4)
        #expect(try await online.purchases.count == 0)
        #expect(try await clerk.fetch(Stock.self).where { $0.storeID == 4 }.update { $0.copies = 0 } == 0)

        // A purchase in the name of another store.
        let error = await #expect(throws: KindredError.self) {
            try await clerk.create(Purchase.self) {
                $0.storeID = 2
                $0.number = 9_999
            }
        }
        #expect(error?.code == .accessDenied)
        let nobody = try database.makeContext(settings: [:], role: "shop_clerk")
        #expect(try await nobody.fetch(Purchase.self).count() == 0)
        await database.close()
    }
}
