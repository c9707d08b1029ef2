/// A program of a random test that can be made shorter.
protocol GraphShrinkable {
    /// Programs with less in them, the shortest programs first.
    var simpler: [Self] { get }
}

/// Makes a program that fails short: leaves out the steps without which it still fails.
struct GraphShrinker<Program: GraphShrinkable> {
    /// Runs a program from the beginning; nil if nothing is wrong with it.
    let run: (Program) async throws -> GraphFailure?
    /// How long programs are tried at most.
    var limit = Duration.seconds(30)

    func shrink(_ program: Program, _ failure: GraphFailure) async throws -> GraphFailure {
        var (program, failure) = (program, failure)
        let end = ContinuousClock.now + limit
        while true {
            var place = 0
            var isShorter = false
            var candidates = program.simpler
            while place < candidates.count {
                guard ContinuousClock.now < end else { return failure }
                if let found = try await run(candidates[place]), found.kind == failure.kind {
                    (program, failure, isShorter) = (candidates[place], found, true)
                    // A part that was tried in vain is tried again only after all other parts.
                    candidates = program.simpler
                } else {
                    place += 1
                }
            }
            guard isShorter else { return failure }
        }
    }
}

/// The steps of a program until the failure.
struct GraphFailure: Error, CustomStringConvertible {
    /// The difference from the database.
    let difference: String
    /// The program, as lines that resemble code.
    let lines: [String]

    /// The kind of difference: the relationship or column that is wrong, whatever the row and the way of reading.
    var kind: String {
        let words = difference.filter { !$0.isNumber }.split(separator: " ").filter { $0 != "new" }
        guard let first = words.first, first.contains("/") else { return words.prefix(5).joined(separator: " ") }
        return first.split(separator: ".").prefix(2).joined(separator: ".")
    }

    var description: String { lines.joined(separator: "\n") + "\n=> \(difference)" }
}

/// The failures of many programs: the first of each kind is made short and shown, all of them are counted.
struct GraphFailures {
    private var seeds: [String: [Int]] = [:]
    private var kinds: [String] = []

    /// Notes a failure; whether it is worth to be made short.
    mutating func add(_ failure: GraphFailure, seed: Int) -> Bool {
        seeds[failure.kind, default: []].append(seed)
        if !kinds.contains(failure.kind) { kinds.append(failure.kind) }
        return seeds[failure.kind]?.count == 1 && kinds.count <= GraphCounts.shown
    }

    /// How often each kind has come, with the seeds of some; nil if there was none.
    var summary: String? {
        if kinds.isEmpty { return nil }
        return kinds.map { kind in
            let seeds = seeds[kind] ?? []
            return "\(seeds.count) times \"\(kind)\", with the seeds \(seeds.prefix(5))"
        }.joined(separator: "\n")
    }
}

extension Array {
    /// The array without a part of it: larger parts first, parts at the end first.
    var parts: [[Element]] {
        var found: [[Element]] = []
        var length = Swift.max(count / 2, 1)
        while length > 0, !isEmpty {
            for start in stride(from: 0, to: count, by: length).reversed() {
                found.append(Array(self[..<start] + self[Swift.min(start + length, count)...]))
            }
            length /= 2
        }
        return found
    }

    /// The array with another element at a place, or with several or none.
    func replacing(_ place: Int, with elements: some Sequence<Element>) -> [Element] {
        Array(self[..<place]) + elements + self[(place + 1)...]
    }
}

extension [GraphStep]: GraphShrinkable {
    /// Programs with less in them: parts and single steps left out, transactions opened, steps made smaller.
    var simpler: [[GraphStep]] {
        var found = parts
        for place in indices.reversed() {
            if case .transaction(let body, _) = self[place].kind { found.append(replacing(place, with: body)) }
        }
        for place in indices.reversed() {
            found += self[place].smaller.map { replacing(place, with: [$0]) }
        }
        return found
    }
}

extension GraphStep {
    /// The same step with less in it.
    fileprivate var smaller: [GraphStep] {
        var found: [GraphStep] = []
        if case .transaction(let body, let fails) = kind {
            found += body.simpler.map { with(kind: .transaction($0, fails: fails)) }
        }
        switch check {
        case .nothing: break
        case .some(let count):
            found.append(with(check: .nothing))
            if count > 1 { found.append(with(check: .some(1))) }
        case .everything(let places):
            found.append(with(check: .nothing))
            found += places.parts.filter { !$0.isEmpty }.map { with(check: .everything(places: $0)) }
        }
        return found
    }

    private func with(kind: Kind? = nil, check: GraphCheck? = nil) -> GraphStep {
        GraphStep(kind: kind ?? self.kind, seed: seed, check: check ?? self.check, focus: focus)
    }
}
