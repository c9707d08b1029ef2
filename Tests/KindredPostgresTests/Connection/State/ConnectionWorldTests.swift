import TestSupport
import Testing

@testable import KindredPostgres

@Suite struct ConnectionWorldTests {
    @Test func randomStepsBreakNoRule() throws {
        var (repeated, resets, held, ended, givenUp, unknown) = (0, 0, 0, 0, 0, 0)
        for seed in 0..<TestAmount.of(100 as UInt64, full: 1_000, long: 100_000) {
            var world = ConnectionWorld(seed: seed)
            for _ in 0..<200 {
                try world.step()
                if !world.broken.isEmpty { break }
            }
            world.finish()
            try #require(world.broken.isEmpty, "seed \(seed)")
            repeated += world.repeated
            resets += world.resets
            held += world.held
            unknown += world.unknown
            ended += world.connection.endReason == nil ? 0 : 1
            givenUp += world.connection.state.isGivenUp ? 1 : 0
        }
        // The steps lead where the rules are.
        #expect(min(repeated, resets, held, ended, givenUp, unknown) > 3)
    }
}
