import Kindred
import KindredTesting
import TestSupport
import Testing

@testable import KindredModelImport

/// Random models: written as a file, read, imported, and inspected.
@Suite struct RandomModelTests {
    static let count = max(TestAmount.of(10, full: 60), Fuzzing.count / 400)

    @Test(.database(.empty, timeLimit: .seconds(600))) func whatIsInspectedIsWhatTheModelSays() async throws {
        try await withClient { client in
            for seed in 0..<Self.count {
                var random = SeededGenerator(seed: UInt64(seed))
                let made = RandomModel(&random)
                let model = try CoreDataModel(contents: Array(made.contents.utf8), name: "Random")
                #expect(model.entities == made.entities, "seed \(seed)")
                let inheritance = random.pick(ModelImportOptions.Inheritance.allCases)
                let tables = try ModelImport(model, ModelImportOptions(inheritance: inheritance))
                // All of it has a counterpart, except parts that no object can have, and indexes that exist already.
                let omitted = tables.reports.filter {
                    $0.level == .omitted && !$0.reason.hasPrefix("no objects of")
                        && !$0.reason.hasSuffix("is over the same columns already")
                }
                #expect(omitted == [], "seed \(seed)")
                do {
                    try await tables.apply(to: client)
                    let schema = try await SchemaReader.read(from: client)
                    try ModelExpectation(model: model, inheritance: inheritance).check(schema, "seed \(seed)")
                    #expect(
                        try ModelMigration(from: model, to: model, .init(inheritance: inheritance)).statements == [])
                } catch {
                    Issue.record("seed \(seed): \(String(reflecting: error))\n\(tables.sql)")
                }
                try await emptyDatabase(client)
            }
        }
    }
}
