import Synchronization

/// The summaries of the texts that came last, so that each is made once as long as it is in use.
///
/// To make one takes longer than many statements do: 5 % of a web server's processor time without this cache.
final class StatementSummaries: Sendable {
    /// A program has some hundreds of texts; one that makes new ones all the time is to keep no more than this.
    static let capacity = 1_000
    /// Longer ones are rare, and not worth their memory.
    private static let maximumSize = 10_000

    private struct State {
        var recent: [String: StatementSummary] = [:]
        /// Those before them, of which the ones that are still in use move over.
        var older: [String: StatementSummary] = [:]
    }

    private let state = Mutex(State())
    private let make: @Sendable (String) -> StatementSummary

    init(_ make: @escaping @Sendable (String) -> StatementSummary = { StatementSummary($0) }) {
        self.make = make
    }

    /// How many are kept.
    var count: Int { state.withLock { $0.recent.count + $0.older.count } }

    /// The summary of a statement's text; made if it is not there.
    func summary(of sql: String) -> StatementSummary {
        if let known = state.withLock({ $0.recent[sql] }) { return known }
        let summary = state.withLock { $0.older[sql] } ?? make(sql)
        guard sql.utf8.count <= Self.maximumSize else { return summary }
        state.withLock { state in
            if state.recent.count >= Self.capacity / 2 { state = State(older: state.recent) }
            state.recent[sql] = summary
            state.older[sql] = nil
        }
        return summary
    }
}
