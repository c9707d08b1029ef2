import CCounters
import Foundation
import Kindred

/// Counts the costs of works: statements and allocations in this process, instructions in a copy of it under callgrind.
enum Counting {
    /// The warm-up runs, which fill caches and prepare statements, and the counted runs, of which the minimum is reported:
    /// other work of threads, such as an extra wake-up, only adds.
    ///
    /// Long works need fewer of both, and would take minutes.
    private static func runs(of work: CountedWork) -> (warmUps: Int, counted: Int) {
        work.count < 100_000 ? (2, 3) : (0, 1)
    }

    /// Whether this is the copy that callgrind runs, many times more slowly.
    static var isUnderCallgrind: Bool { counters_has_instructions() != 0 }

    /// The costs of the works that `visit` passes, once in this process and once in one under callgrind, which gets nil.
    static func count(
        on serverURI: String, _ visit: ((CountedWork) async throws -> Void) async throws -> Void
    ) async throws -> [(work: CountedWork, counts: Counts)]? {
        if isUnderCallgrind {
            try await visit { try await recordInstructions(of: $0) }
            return nil
        }
        var counted: [(work: CountedWork, counts: Counts)] = []
        try await visit { counted.append(($0, try await counts(of: $0))) }
        let instructions = try await Callgrind.count(Array(CommandLine.arguments.dropFirst()), on: serverURI)
        for index in counted.indices {
            let work = counted[index].work
            let parts = work.parts.compactMap { instructions[$0.name] }
            guard parts.count == work.parts.count else { continue }
            counted[index].counts.instructions = work.perUnit(parts).rounded(digits: 1)
        }
        return counted
    }

    /// Statements and allocations.
    static func counts(of work: CountedWork) async throws -> Counts {
        var statements: [Double] = []
        var allocations: [Double] = []
        for part in work.parts {
            for _ in 0..<runs(of: work).warmUps {
                try await work.prepare()
                try await part.run()
            }
            try await work.prepare()
            let (_, recorder) = try await recordingStatements { try await part.run() }
            statements.append(Double(recorder.all.count))
            var least = Int.max
            for _ in 0..<runs(of: work).counted {
                try await work.prepare()
                counters_begin_allocations()
                try await part.run()
                least = min(least, counters_end_allocations())
            }
            allocations.append(Double(least))
        }
        return Counts(
            statements: (statements.last ?? 0) - (statements.count > 1 ? statements[0] : 0),
            allocations: allocations.contains { $0 < 0 } ? nil : work.perUnit(allocations).rounded(digits: 4),
            instructions: nil)
    }

    /// Makes callgrind count the instructions and write them; only in a process under it.
    ///
    /// Runs one less of each kind: each takes much longer there.
    static func recordInstructions(of work: CountedWork) async throws {
        let planned = runs(of: work)
        for part in work.parts {
            for _ in 0..<max(0, planned.warmUps - 1) {
                try await work.prepare()
                try await part.run()
            }
            for _ in 0..<max(1, planned.counted - 1) {
                try await work.prepare()
                counters_begin_instructions()
                try await part.run()
                counters_end_instructions(part.name)
            }
        }
    }
}

extension Double {
    func rounded(digits: Int) -> Double {
        let factor = (0..<digits).reduce(1.0) { factor, _ in 10 * factor }
        return (self * factor).rounded() / factor
    }
}
