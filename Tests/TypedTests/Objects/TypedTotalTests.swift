import DemoModels
import Kindred
import KindredTesting
import Testing

/// Totals of a typed class's rows, in types of their own.
@Suite struct TypedTotalTests {
    private struct Load: Equatable {
        let city: String
        let count: Int
        let amount: PostgresNumeric
    }

    @Test(.database(.file("../../../sql/demo.sql"))) func totalsHaveTypesAndAreOneStatement() async throws {
        try await withModels { database, context in
            let lines = try context.fetch(PurchaseLine.self)
            let ((copies, amount, mean, least, latest, twice), recorder) = try await recordingStatements {
                let copies: Int? = try await lines.sum { $0.copies }
                let amount: PostgresNumeric? = try await lines.sum(\.amount)
                let mean: PostgresNumeric? = try await lines.average { $0.copies }
                let least: PostgresNumeric? = try await lines.minimum(\.price)
                let latest: PostgresTimestamp? = try await lines.maximum { $0.purchase.placedAt }
                let twice: Int? = try await lines.sum { $0.copies * 2 }
                return (copies, amount, mean, least, latest, twice)
            }
            #expect(recorder.statements.count == 6)
            let row = try #require(
                try await database.query(
                    """
                    SELECT sum(copies)::bigint, sum(amount), avg(copies), min(price),
                        (SELECT max(placed_at) FROM purchase JOIN purchase_line
                            ON purchase.store_id = purchase_line.store_id AND number = purchase_number)
                    FROM purchase_line
                    """
                ).first)
            #expect(try row.decode(0, as: Int.self) == copies && copies.map { $0 * 2 } == twice)
            #expect(try row.decode(1, as: PostgresNumeric.self) == amount)
            #expect(try row.decode(2, as: PostgresNumeric.self) == mean)
            #expect(try row.decode(3, as: PostgresNumeric.self) == least)
            #expect(try row.decode(4, as: PostgresTimestamp.self) == latest)
            #expect(try await lines.where { $0.copies < 0 }.sum(\.copies) == nil)
            #expect(try await lines.sorted { $0.storeID }.limit(0).sum { $0.copies } == nil)
            let status = try await context.fetch(Purchase.self).maximum { $0.status }
            let last = try await database.query("SELECT max(status)::text FROM purchase").first?.decode(
                0, as: String.self)
            #expect(status?.rawValue == last && last != nil)
            await expectError(.unknownKey) { _ = try await lines.maximum { $0.isInserted } }
        }
    }

    @Test(.database(.file("../../../sql/demo.sql"))) func groupsAreTuples() async throws {
        try await withModels { database, context in
            let lines = try context.fetch(PurchaseLine.self)
            let (loads, recorder) = try await recordingStatements {
                try await lines.group(by: { $0.purchase.store.city }) { ($0.count, $0.sum { $0.amount } ?? 0) }
                    .having { $0.count > 1 && $0.sum { $0.amount } > 10 }
                    .sorted(ascending: false) { $0.count }
                    .all()
            }
            #expect(recorder.statements.count == 1)
            let expected = try await database.query(
                """
                SELECT city, count(*), sum(amount) FROM purchase_line JOIN store ON store.id = store_id
                GROUP BY city HAVING count(*) > 1 AND sum(amount) > 10 ORDER BY city COLLATE "C"
                """
            ).map { row in
                Load(
                    city: try row.decode(0) ?? "", count: try row.decode(1) ?? 0, amount: try row.decode(2) ?? 0)
            }
            let found = loads.map { Load(city: $0, count: $1, amount: $2) }
            #expect(found.sorted { $0.city < $1.city } == expected && expected.count > 1)
            #expect(loads.map(\.1) == loads.map(\.1).sorted(by: >))
            let made = try await lines.group(by: \.purchase.store.city) { ($0.count, $0.sum(\.amount) ?? 0) }
                .sorted(ascending: false) { $0.count }.all(into: Load.init)
            #expect(made.count >= expected.count && expected.allSatisfy(made.contains))
        }
    }

    @Test(.database(.file("../../../sql/demo.sql"))) func keysAreOptionalWhereTheyMayBeMissing() async throws {
        try await withModels { database, context in
            let purchases = try context.fetch(Purchase.self)
            let groups: [(String?, PurchaseStatus, Int, PostgresTimestamp?)] =
                try await purchases
                .group(by: { ($0.buyer.surname, $0.status) }) { ($0.count, $0.maximum { $0.placedAt }) }.all()
            #expect(groups.map(\.2).reduce(0, +) == (try await purchases.count()))
            try await database.query("UPDATE purchase SET buyer_id = NULL WHERE store_id = 1")
            let buyers: [(PostgresDate?, Int, Int)] = try await purchases.where { $0.storeID == 1 }
                .group(by: \.buyer.born) { ($0.count, $0.count(of: \.buyerID)) }.all()
            #expect(buyers.count == 1 && buyers[0].0 == nil && buyers[0].1 > 0 && buyers[0].2 == 0)
            let cities: [String] = try await purchases.sorted { $0.store.city }.limit(2)
                .group(by: \.store.city) { _ in () }.all()
            #expect(cities.count == 2 && cities == cities.sorted())
        }
    }

    @Test(.database(.file("../../../sql/demo.sql"))) func theOrderOfTotalsComesBeforeTheRequests() async throws {
        try await withModels { _, context in
            let purchases = try context.fetch(Purchase.self).sorted { $0.status }
            let groups = try purchases.group(by: { ($0.status, $0.storeID) }) { $0.count }
                .sorted(ascending: false, nulls: .last) { $0.maximum { $0.placedAt } }.having { $0.count != 5 }
            let end =
                #" GROUP BY 1, 2 HAVING count(*) <> $1 ORDER BY max(t0."placed_at") DESC NULLS LAST, 1"#
            let text = try groups.sql
            #expect(text.hasSuffix(end), "\(text)")
            let plain = try context.fetch("purchase").group(by: "status", aggregates: .count)
                .sorted(.maximum("placed_at"), ascending: false).sorted(.count)
            #expect(try plain.sql.hasSuffix(#" GROUP BY 1 ORDER BY max(t0."placed_at") DESC, count(*)"#))
            #expect(try await plain.all().count > 1)
        }
    }

    @Test(.database(.file("../../../sql/demo.sql"))) func whatHasNoMeaningIsRefused() async throws {
        try await withModels { _, context in
            let (_, recorder) = try await recordingStatements {
                let purchases = try context.fetch(Purchase.self)
                await expectError(.unknownKey) { _ = try purchases.group(by: { $0.isDeleted }) { $0.count } }
                await expectError(.invalidRequest) {
                    _ = try purchases.sorted { $0.number }.group(by: { $0.status }) { $0.count }
                }
                // A total outlives the closure that it is lent to, and has no meaning among rows.
                var count: ColumnExpression<Int>?
                _ = try purchases.group(by: { $0.status }) { $0.count }.having {
                    count = $0.count
                    return $0.count > 1
                }
                let total = try #require(count)
                await expectError(.invalidCondition) { _ = try purchases.where { _ in total > 1 } }
            }
            #expect(recorder.statements == [])
        }
    }
}
