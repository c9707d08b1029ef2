/// Work whose statements, heap allocations and instructions are counted: none of them depends on how busy the machine is.
struct CountedWork: Sendable {
    var name: String
    /// What allocations and instructions are given for one of.
    let unit: String
    /// How many of them one run does.
    let count: Int
    /// Whether what a run costs beside its units is left out, by taking the counts of one run from those of one twice as
    /// large.
    var isMarginal = false
    /// Done before each run, and not counted.
    var prepare: @Sendable () async throws -> Void = {}
    /// Does the work for a number of units.
    let run: @Sendable (_ count: Int) async throws -> Void

    /// The runs to be counted by themselves.
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

    /// The counts of one unit, of those of the parts.
    func perUnit(_ counts: [Double]) -> Double {
        ((counts.last ?? 0) - (counts.count > 1 ? counts[0] : 0)) / Double(count)
    }
}

/// What some work costs.
struct Counts: Codable, Sendable {
    /// Of one run.
    var statements: Double
    /// Of one unit; nil where they cannot be counted.
    var allocations: Double?
    /// Of one unit; nil without valgrind.
    var instructions: Double?
}
