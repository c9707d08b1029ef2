import KindredPostgres
import KindredTesting
import Testing

/// Measures the whole process, so nothing else may run in it at the same time.
@Suite(.database, .serialized, .enabled(if: LongTests.areOn)) struct StreamMemoryTests {
    @Test func tenMillionRowsGrowTheProcessByLessThan32MiB() async throws {
        try await withClient { client in
            func stream(_ count: Int) async throws -> Int {
                var sum = 0
                let rows = try client.stream(
                    "SELECT i, 'some text of ' || i AS text FROM generate_series(1, \(count)) AS i")
                for try await row in rows { sum += try row.decode(0, as: Int.self) ?? 0 }
                return sum
            }
            _ = try await stream(100_000)
            let before = try #require(LongTests.residentBytes)
            let sum = try await stream(10_000_000)
            #expect(sum == 50_000_005_000_000)
            let growth = try #require(LongTests.residentBytes) - before
            print("10,000,000 rows: grown by \(growth >> 10) KiB")
            #expect(growth < 32 << 20)
        }
    }
}
