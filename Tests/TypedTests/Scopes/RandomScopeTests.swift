import Kindred
import KindredTesting
import TestSupport
import Testing
import TypeModels

/// Random conditions that name columns of any object around them find what SQL finds.
@Suite struct RandomScopeTests {
    private static let trees = TestAmount.of(60, full: 200, long: 20_000)

    @Test(.database(.file(ScopeWorld.schema)), arguments: [UInt64.random(in: 0..<100_000), 1])
    func nestedConditionsFindTheSameAsSQL(seed: UInt64) async throws {
        try await ScopeWorld.open { _, context, plain in
            var random = SeededGenerator(seed: seed)
            var decided = 0
            for number in 0..<Self.trees {
                var maker = ScopeMaker(random: random)
                let tree = maker.tree(3)
                random = maker.random
                let right = try await plain.texts(
                    "SELECT s0.id FROM keeper s0 WHERE \(tree.sql(["keeper"])) ORDER BY 1")
                decided += right.isEmpty || right.count == 14 ? 0 : 1
                let format = tree.format(["keeper"])
                let keepers = try context.fetch(Keeper.self).sorted { $0.id }
                for form in ["closure", "format"] {
                    do {
                        let request =
                            form == "format"
                            ? try keepers.where(format) : try keepers.where { try tree.condition([.keeper($0)]) }
                        let found = try await request.all().map { "\($0.id)" }
                        #expect(found == right, "seed \(seed), \(number), \(form): \(format)")
                        guard found == right else { return }
                    } catch {
                        Issue.record(error, "seed \(seed), \(number), \(form): \(format)")
                        return
                    }
                }
            }
            #expect(decided > Self.trees / 4)
        }
    }
}
