/// Work whose statements, heap allocations and instructions are counted; none depends on the machine's load.
struct CountedWork: Sendable {
    var name: String
    /// The unit for which allocations and instructions are reported.
    let unit: String
    /// The number of units in one run.
    let count: Int
    /// Whether to exclude a run's fixed cost, by subtracting the counts of one run from the counts of a run twice as
    /// large.
    var isMarginal = false
    /// Runs before each run, uncounted.
    var prepare: @Sendable () async throws -> Void = {}
    /// Does the work for a number of units.
    let run: @Sendable (_ count: Int) async throws -> Void

    /// The parts of a run that are counted separately.
    var parts: [Part] {
        let once = Part(name: name, count: count, work: self)
        return isMarginal ? [once, Part(name: "\(name), twice", count: 2 * count, work: self)] : [once]
    }

    struct Part: Sendable {
        let name: String
        let count: Int
        let work: CountedWork

        func run() async throws { try await work.run(count) }
    }

    /// The counts of one unit, from the counts of the parts.
    func perUnit(_ counts: [Double]) -> Double {
        ((counts.last ?? 0) - (counts.count > 1 ? counts[0] : 0)) / Double(count)
    }
}

/// The costs of some work.
struct Counts: Codable, Sendable {
    /// Per run.
    var statements: Double
    /// Per unit; nil if they cannot be counted.
    var allocations: Double?
    /// Per unit; nil without valgrind.
    var instructions: Double?
}
