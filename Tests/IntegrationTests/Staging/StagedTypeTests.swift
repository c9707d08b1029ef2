import Foundation
import Kindred
import KindredTesting
import Testing

/// A subscript stages every type that `insert` and `setValue` take.
@Suite struct StagedTypeTests {
    private static let schema = """
        CREATE TABLE plan (
            id integer PRIMARY KEY, days daterange, weeks int4multirange, at timestamptz, born date, amount numeric,
            key uuid, tags text[], bytes bytea, wait interval, host inet, small smallint NOT NULL DEFAULT 0,
            next_id integer CONSTRAINT plan__following REFERENCES plan);
        INSERT INTO plan (id) VALUES (1), (2);
        """

    @Test(.database(.sql(schema))) func datesRangesAndArraysAreStaged() async throws {
        try await withDatabase { database, context, other in
            let plans = try await context.fetch("plan").sorted("id").all()
            let (plan, twin) = (plans[0], plans[1])
            let first = try #require(PostgresDate(year: 2000, month: 1, day: 1))
            let last = try #require(PostgresDate(year: 2000, month: 2, day: 1))
            let days = PostgresRange(first..<last)
            let weeks = PostgresMultirange([PostgresRange(Int32(1)..<Int32(3))])
            let (at, key) = (Date(timeIntervalSince1970: 1_000_000_000), UUID())
            let (amount, count): (Decimal, Int) = (12.5, 7)
            let born: PostgresDate? = last
            plan["days"] = days
            plan["weeks"] = weeks
            plan["at"] = at
            plan["born"] = born
            plan["amount"] = amount
            plan["key"] = key
            plan["tags"] = ["a", "b"]
            plan["bytes"] = Data([1, 2])
            plan["small"] = count
            // The same by setValues.
            try await twin.setValues([
                "days": days, "weeks": weeks, "at": at, "born": born, "amount": amount, "key": key, "tags": ["a", "b"],
                "bytes": Data([1, 2]), "small": count,
            ])
            #expect(plan["small"] == 7 && plan["tags"] == twin["tags"] && plan["days"] == twin["days"])
            try await context.save()
            let equal = try await other.value(
                """
                SELECT count(*) FROM plan AS a JOIN plan AS b ON a.id = 1 AND b.id = 2 AND a.days = b.days AND a.weeks = b.weeks
                    AND a.at = b.at AND a.born = b.born AND a.amount = b.amount AND a.key = b.key AND a.tags = b.tags
                    AND a.bytes = b.bytes AND a.small = b.small
                """)
            #expect(equal == 1)
            #expect(try await other.value("SELECT days::text FROM plan WHERE id = 1") == "[2000-01-01,2000-02-01)")
            let none: PostgresDate? = nil
            plan["born"] = none
            #expect(plan["born"] == nil && plan.hasStagedChanges)
        }
    }

    @Test(.database(.sql(schema))) func wrongValuesAreKeptAsProblems() async throws {
        try await withDatabase { database, context, other in
            let plan = try #require(await context.find("plan", 1))
            plan["small"] = 70_000 as Int
            plan["born"] = Date()
            plan["following"] = plan
            plan["dayz"] = UUID()
            plan["amount"] = UInt64.max
            let error = await expectError(.validationFailed) { try await context.save() }
            let problems = Dictionary(grouping: error?.problems ?? []) { $0.key ?? "" }.mapValues { $0.map(\.code) }
            #expect(problems["small"] == [.wrongType] || problems["small"] == [.valueTooLarge])
            #expect(problems["born"] == [.wrongType] && problems["dayz"] == [.unknownKey])
            #expect(problems["following"] == [.wrongType])
            plan.rollback()
            #expect(!plan.hasStagedChanges)
        }
    }
}
