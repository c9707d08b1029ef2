import KindredPostgres

/// The times at which transactions changed a context.
///
/// Queries outside a transaction do not see its uncommitted changes. So a query that is sent while it runs counts as
/// sent when it began: its changes are newer, also after its end.
struct TransactionTimes: Sendable {
    private struct Span {
        let root: TransactionScope
        let began: ContextTime
        var ended: ContextTime?
    }

    /// The latest transactions, in the order in which they began.
    private var spans: [Span] = []
    /// The limit of spans; answers older than all of them count as read before them.
    private static let maximum = 64
    /// When the first evicted transaction began.
    private var forgottenBegan: ContextTime = .never
    private var forgottenEnded: ContextTime = .never

    mutating func begin(_ root: TransactionScope, at time: ContextTime) {
        if spans.contains(where: { $0.root === root && $0.ended == nil }) { return }
        spans.append(Span(root: root, began: time))
        guard spans.count > Self.maximum, let ended = spans[0].ended else { return }
        if forgottenBegan == .never { forgottenBegan = spans[0].began }
        forgottenEnded = max(ended, forgottenEnded)
        spans.removeFirst()
    }

    mutating func end(_ root: TransactionScope, at time: ContextTime) {
        guard let place = spans.lastIndex(where: { $0.root === root }) else { return }
        spans[place].ended = time
    }

    /// The effective time of a query.
    ///
    /// - Parameter root: the task's own transaction, whose changes it sees.
    func counted(_ askedAt: ContextTime, in root: TransactionScope?) -> ContextTime {
        var counted = askedAt < forgottenEnded ? min(askedAt, forgottenBegan) : askedAt
        for span in spans where span.root !== root && span.began <= askedAt && askedAt < span.ended ?? .forever {
            counted = min(counted, span.began)
        }
        return counted
    }

    /// Whether a query lacks a change that it was sent after: both came while a transaction ran, which has ended, and which the
    /// query's task was not in.
    func lacks(_ changedAt: ContextTime, askedAt: ContextTime, in root: TransactionScope?) -> Bool {
        if changedAt > askedAt { return true }
        if forgottenBegan <= changedAt && askedAt < forgottenEnded { return true }
        return spans.contains { span in
            guard let ended = span.ended, span.root !== root else { return false }
            return span.began <= changedAt && askedAt < ended
        }
    }

    /// Whether a transaction runs that a task is not in.
    func isRunning(besides root: TransactionScope?) -> Bool {
        spans.contains { $0.ended == nil && $0.root !== root }
    }
}
