import Kindred
import KindredTesting
import TestSupport
import Testing

/// Random programs over relationships of all kinds: objects show the same as SQL.
///
/// Staged changes included, and after each step. `GraphCounts` gives the number of programs.
@Suite struct RandomGraphTests {
    /// How many databases share the sequences.
    private static let blocks = 4

    @Test(.database(.sql(GraphSchema.sql), timeLimit: .seconds(3_600)), arguments: 0..<blocks)
    func objectsShowWhatTheDatabaseSays(block: Int) async throws {
        try await withDatabase { database, _, other in
            let shrinker = GraphShrinker<[GraphStep]> { try await GraphRun.run($0, database, other) }
            var failures = GraphFailures()
            for number in stride(from: block, to: GraphCounts.sequences, by: Self.blocks) {
                let seed = GraphCounts.firstSeed + number
                let program = GraphProgram.steps(seed: UInt64(seed), length: 20)
                guard let failure = try await GraphRun.run(program, database, other) else { continue }
                guard failures.add(failure, seed: seed) else { continue }
                let short = try await shrinker.shrink(program, failure)
                Issue.record("seed \(seed): \(failure.difference)\nmade short:\n\(short)")
            }
            if let summary = failures.summary { Issue.record("\(summary)") }
        }
    }

    /// Two to four tasks work on one context, in transactions that fail or succeed and outside of any.
    ///
    /// When all have come to their end, objects show what SQL says. One sequence of ten rounds for ten of the other kind.
    @Test(.database(.sql(GraphSchema.sql), timeLimit: .seconds(3_600)), arguments: 0..<blocks)
    func tasksLeaveWhatTheDatabaseSays(block: Int) async throws {
        try await withDatabase { database, _, other in
            // Effects of tasks on each other come only sometimes.
            let shrinker = GraphShrinker<GraphRounds> { rounds in
                for _ in 0..<5 {
                    if let failure = try await rounds.run(database, other) { return failure }
                }
                return nil
            }
            var failures = GraphFailures()
            for number in stride(from: block, to: GraphCounts.sequences / 10, by: Self.blocks) {
                let seed = GraphCounts.firstSeed + number
                let rounds = GraphRound.program(seed: UInt64(seed), count: 10)
                guard let failure = try await rounds.run(database, other) else { continue }
                guard failures.add(failure, seed: seed) else { continue }
                let short = try await shrinker.shrink(rounds, failure)
                Issue.record("seed \(seed): \(failure.difference)\nmade short:\n\(short)")
            }
            if let summary = failures.summary { Issue.record("\(summary)") }
        }
    }
}
