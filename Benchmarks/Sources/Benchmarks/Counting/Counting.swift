import CCounters
import Foundation
import Kindred

/// Counts what works cost: statements and allocations in this process, instructions in a copy of it that callgrind runs.
enum Counting {
    /// Runs before anything is counted, until caches are filled and statements are prepared, and those of which the
    /// least count stands: what threads do beside the work, like waking up once more, only adds.
    ///
    /// Long works drown both, and would take minutes.
    private static func runs(of work: CountedWork) -> (warmUps: Int, counted: Int) {
        work.count < 100_000 ? (2, 3) : (0, 1)
    }

    /// What the works cost that `visit` hands out, once here and once in a process under callgrind, which gets nil.
    static func count(
        on serverURI: String, _ visit: ((CountedWork) async throws -> Void) async throws -> Void
    ) async throws -> [(work: CountedWork, counts: Counts)]? {
        if counters_has_instructions() != 0 {
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

    /// Has callgrind count the instructions, and write them down; only in a process that it runs.
    static func recordInstructions(of work: CountedWork) async throws {
        for part in work.parts {
            for _ in 0..<runs(of: work).warmUps {
                try await work.prepare()
                try await part.run()
            }
            for _ in 0..<runs(of: work).counted {
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
