import KindredPostgres
import Metrics
import Synchronization

/// Measures where reads go, and how far the replicas are behind; makes its instruments when there is something to report.
final class ReadMeters: Sendable {
    private struct State {
        var figures: ReadMetrics?
        /// By the reason why a read went to the primary; nil for reads on replicas.
        var reads: [ReadMetrics.Reason?: Counter] = [:]
        var ignoredPositions: Counter?
        /// The reads that were asked again, and the reads whose second answer came first.
        var secondRequests: Counter?
        var secondAnswers: Counter?
        /// The lag of each replica, and whether it is left out.
        var replicas: [String: (lag: Meter, isLeftOut: Meter)] = [:]
    }

    private let dimensions: [(String, String)]
    private let state = Mutex(State())

    init(_ place: DatabasePlace) { dimensions = place.dimensions }

    func report(_ figures: ReadMetrics) {
        state.withLock { state in
            let before = state.figures
            // Another task may come with older figures.
            guard figures != before, figures.replica >= before?.replica ?? 0,
                figures.ignoredPositions >= before?.ignoredPositions ?? 0,
                figures.secondRequests >= before?.secondRequests ?? 0,
                figures.secondAnswers >= before?.secondAnswers ?? 0,
                before?.primary.allSatisfy({ figures.primary[$0.key, default: 0] >= $0.value }) ?? true
            else { return }
            state.figures = figures
            count(figures.replica - (before?.replica ?? 0), nil, &state)
            for (reason, count) in figures.primary {
                self.count(count - (before?.primary[reason] ?? 0), reason, &state)
            }
            count(
                figures.ignoredPositions - (before?.ignoredPositions ?? 0), "ignored_positions", &state.ignoredPositions
            )
            count(figures.secondRequests - (before?.secondRequests ?? 0), "second_requests", &state.secondRequests)
            count(figures.secondAnswers - (before?.secondAnswers ?? 0), "second_answers", &state.secondAnswers)
            for replica in figures.replicas { report(replica, &state) }
        }
    }

    private func count(_ new: Int, _ reason: ReadMetrics.Reason?, _ state: inout State) {
        guard new > 0 else { return }
        let counter =
            state.reads[reason] ?? Counter(label: "kindred.reads", dimensions: dimensions + Self.names(reason))
        state.reads[reason] = counter
        counter.increment(by: new)
    }

    private func count(_ new: Int, _ name: String, _ known: inout Counter?) {
        guard new > 0 else { return }
        let counter = known ?? Counter(label: "kindred.reads.\(name)", dimensions: dimensions)
        known = counter
        counter.increment(by: new)
    }

    private static func names(_ reason: ReadMetrics.Reason?) -> [(String, String)] {
        let role = ("kindred.reads.role", reason == nil ? "replica" : "primary")
        return [role] + (reason.map { [("kindred.reads.reason", $0.rawValue)] } ?? [])
    }

    private func report(_ replica: ReadMetrics.Replica, _ state: inout State) {
        let names = dimensions + [("kindred.replica.address", replica.address)]
        let meters =
            state.replicas[replica.address]
            ?? (
                Meter(label: "kindred.replica.lag", dimensions: names),
                Meter(label: "kindred.replica.left_out", dimensions: names)
            )
        state.replicas[replica.address] = meters
        if let lag = replica.lag { meters.lag.set(lag / .seconds(1)) }
        meters.isLeftOut.set(replica.lag == nil ? 1 : 0)
    }
}
