import EmbeddedPostgres
import Foundation
import KindredPostgres
import KindredSchemaDifferences
import TestSupport
import Testing

/// Pairs of random schemas: the statements for each are run on a database with rows, and nothing is left to change.
///
/// `KINDRED_DIFF_PAIRS` says how many, and `KINDRED_DIFF_SEED` with which seed to begin.
@Suite struct RandomDifferenceTests {
    private static let pairs = TestAmount.number("KINDRED_DIFF_PAIRS") ?? TestAmount.of(4, full: 12)
    private static let firstSeed = UInt64(TestAmount.number("KINDRED_DIFF_SEED") ?? 1)

    @Test func whatIsAppliedLeavesNothingToChange() async throws {
        var outcomes: [Outcome: Int] = [:]
        var failures = 0
        for pair in 0..<Self.pairs {
            let seed = Self.firstSeed + UInt64(pair)
            do {
                outcomes[try await Pair(seed: seed).run(), default: 0] += 1
            } catch {
                failures += 1
                if failures <= 12 { Issue.record("Seed \(seed): \(error)") }
            }
        }
        print("schema differences: \(Self.pairs) pairs, \(outcomes), \(failures) failed")
        #expect(failures == 0)
        // Rows may be in the way of a constraint or of a new type, but not as a rule.
        #expect(Self.pairs < 12 || outcomes[.refusedByRows, default: 0] * 3 <= Self.pairs)
        #expect(outcomes[.applied, default: 0] > 0)
    }

    private enum Outcome { case applied, refusedByRows, same }

    private struct Failure: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    private struct Pair {
        let from: RandomSchema
        let to: RandomSchema
        let isConcurrent: Bool

        init(seed: UInt64) {
            var random = SeededGenerator(seed: seed)
            from = .random(using: &random)
            to = random.chance(75) ? from.changed(using: &random) : .random(using: &random)
            isConcurrent = random.chance(70)
        }

        func run() async throws -> Outcome {
            let server = try await EmbeddedPostgres.shared()
            let maintenance = try await PostgresClient.connect(try PostgresConfiguration(uri: server.uri))
            let name = "kindred_pair_\(UInt64.random(in: 0...UInt64.max))"
            do {
                try await maintenance.query(
                    "CREATE DATABASE \(identifier: name) TEMPLATE template0\(unsafeRaw: server.copyStrategy)")
                let client = try await PostgresClient.connect(
                    try PostgresConfiguration(uri: server.uri(database: name)))
                let result: Result<Outcome, any Error>
                do {
                    result = .success(try await run(client))
                } catch {
                    result = .failure(error)
                }
                await client.close()
                try await maintenance.query("DROP DATABASE \(identifier: name) WITH (FORCE)")
                await maintenance.close()
                return try result.get()
            } catch {
                await maintenance.close()
                throw error
            }
        }

        private func run(_ client: PostgresClient) async throws -> Outcome {
            try await client.runScript(from.script)
            try await client.runScript(from.rows)
            var options = SchemaDifferences.Options()
            options.isConcurrent = isConcurrent
            let (old, new) = (
                SchemaSource.sql(from.script, name: "from"), SchemaSource.sql(to.script, name: "to")
            )
            // Nothing is dropped: proven, too, and nothing that is planned can lose anything.
            let careful = try await SchemaDifferences.between(old, new, options: options)
            try check(careful)
            for statement in careful.steps.flatMap(\.statements) where statement.canLoseData {
                throw Failure("without leave: \(statement.sql)")
            }
            options.allowsDropping = true
            let differences = try await SchemaDifferences.between(old, new, options: options)
            try check(differences)
            guard !differences.steps.isEmpty else {
                guard careful.steps.isEmpty, careful.withheld.isEmpty else {
                    throw Failure("the careful one does more")
                }
                return .same
            }
            let before = try await untouched(client)
            for step in differences.steps {
                do {
                    try await apply(step, to: client)
                } catch let error as PostgresError {
                    // Integrity constraints, data exceptions: the rows are in the way, which the statements say.
                    let state = error.sqlState?.rawValue.prefix(2)
                    if state == "23" || state == "22" { return .refusedByRows }
                    throw Failure("\(error.debugDescription)\n\(differences.sql)")
                }
            }
            let configuration = client.configuration
            options.isProven = false
            let rest = try await SchemaDifferences.between(.database(configuration), new, options: options)
            guard rest.steps.isEmpty, rest.withheld.isEmpty else {
                throw Failure("left: \(rest.sql)\nafter: \(differences.sql)")
            }
            let after = try await untouched(client)
            guard before == after else { throw Failure("rows changed: \(before) \(after)\n\(differences.sql)") }
            return .applied
        }

        private func check(_ differences: SchemaDifferences) throws {
            if differences.steps.isEmpty || differences.proof == .proven { return }
            throw Failure("\(differences.proof)\n\(differences.sql)")
        }

        private func apply(_ step: SchemaStep, to client: PostgresClient) async throws {
            if step.isTransaction {
                try await client.withTransaction { transaction in
                    for statement in step.statements { try await transaction.query(SQL(unsafeRaw: statement.sql)) }
                }
            } else {
                for statement in step.statements { try await client.query(SQL(unsafeRaw: statement.sql)) }
            }
        }

        /// The values of the columns that both schemas have with the same type, by table and column.
        private func untouched(_ client: PostgresClient) async throws -> [String: String] {
            var values: [String: String] = [:]
            for (name, table) in from.tables.sorted(by: { $0.key < $1.key }) {
                guard let other = to.tables[name], other.partitions == table.partitions,
                    from.path(name) == to.path(name)
                else { continue }
                for (column, item) in table.columns {
                    guard case .plain = item.kind, RandomSchema.plainTypes.contains(item.type),
                        let same = other.columns.first(where: { $0.name == column }), same.column.type == item.type,
                        case .plain = same.column.kind
                    else { continue }
                    let list = from.quoted(column)
                    let rows = try await client.query(
                        SQL(
                            unsafeRaw:
                                "SELECT string_agg(\(list)::text, ',' ORDER BY \(list)::text) FROM \(from.path(name))"))
                    values["\(name).\(column)"] = try rows.first?.decode(0, as: String.self) ?? ""
                }
            }
            return values
        }
    }
}
