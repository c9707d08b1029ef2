import Foundation
import Kindred
import KindredTesting
import TestSupport
import Testing

/// Many tenants of the same shape: one model, the same statements for each, and memory that does not grow with their number.
@Suite struct ManySchemasTests {
    private static let tenants = TestAmount.of(30, full: 30, long: 1_000)
    private static let tables = TestAmount.of(10, full: 10, long: 50)

    /// Every fifth table refers to the table before it.
    private static func script(_ schema: String) -> String {
        "CREATE SCHEMA \(schema);\n"
            + (0..<tables).map { number in
                let reference = number % 5 == 4 ? ", parent bigint REFERENCES \(schema).t\(number - 1)" : ""
                return
                    "CREATE TABLE \(schema).t\(number) (id bigint PRIMARY KEY, size integer, done boolean\(reference));\n"
            }.joined()
    }

    private static func name(_ number: Int) -> String { "tenant_\(number)" }

    @Test(.database(.sql(script("tenant_template")))) func tenantsOfOneShapeShareModelAndTexts() async throws {
        try await withSchemaTenants { database, other in
            for number in 0..<Self.tenants {
                let schema = Self.name(number)
                try await other.runScript(
                    Self.script(schema)
                        + "INSERT INTO \(schema).t0 SELECT i FROM generate_series(1, \(number % 7)) AS i")
            }
            let first = try await use(0, of: database)
            let before = Self.memory
            var times: [Duration] = []
            for number in 1..<Self.tenants {
                let start = ContinuousClock.now
                let next = try await use(number, of: database)
                times.append(.now - start)
                // The model is the same, not an equal one.
                let pairs = zip(first.tenant.schema.entities, next.tenant.schema.entities)
                #expect(pairs.allSatisfy { $0 === $1 } && next.tenant.schema.entities.count == Self.tables)
                #expect(next.reading == first.reading)
                #expect(next.fetching == 1)
            }
            try await expectStatements([]) {
                for number in 0..<Self.tenants { _ = try await database.tenant(Self.name(number)) }
            }
            // In a process of other tests it is theirs that is measured.
            guard TestAmount.isLong, let before, let after = Self.memory else { return }
            let (middle, most) = (times.sorted()[times.count / 2], times.sorted()[times.count * 95 / 100])
            print("First use of a tenant: \(middle), the 95th percentile \(most); memory \(before) to \(after) pages")
            #expect(Double(after) <= 1.2 * Double(before), "\(before) to \(after) pages")
        }
    }

    /// Reads a tenant's schema and a table of it; returns the numbers of statements of both.
    private func use(
        _ number: Int, of database: Database
    ) async throws -> (tenant: SchemaTenant, reading: Int, fetching: Int) {
        let (tenant, reading) = try await recordingStatements { try await database.tenant(Self.name(number)) }
        let context = tenant.makeContext()
        let (rows, fetching) = try await recordingStatements { try await context.fetch("t0").all() }
        #expect(rows.count == number % 7)
        #expect(fetching.statements.allSatisfy { $0.contains("FROM \"\(Self.name(number))\".\"t0\"") })
        return (tenant, reading.statements.count, fetching.statements.count)
    }

    /// The pages of the process in memory, where the system has a file that says so.
    private static var memory: Int? {
        let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        return text?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
    }
}
