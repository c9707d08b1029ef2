/// The last time of something that a rollback takes back.
struct ScopedTime {
    private var settled: ContextTime = .never
    /// The times in scopes that may still be rolled back, in their order.
    private var pending: [(time: ContextTime, scope: TransactionScope)] = []
    /// The limit of pending times; with more, a rollback takes none of them back.
    private static let maximum = 64

    /// The last time that was not rolled back.
    var time: ContextTime {
        pending.last { !$0.scope.isUndone }.map { max($0.time, settled) } ?? settled
    }

    mutating func advance(to time: ContextTime, in scope: TransactionScope?) {
        if !pending.isEmpty { settle() }
        guard let scope else {
            settled = time
            return
        }
        if let last = pending.last, last.scope === scope { pending.removeLast() }
        pending.append((time, scope))
        if pending.count > Self.maximum { settled = max(settled, pending.removeFirst().time) }
    }

    private mutating func settle() {
        pending.removeAll { time, scope in
            if scope.isUndone { return true }
            if scope.isRunning { return false }
            settled = max(settled, time)
            return true
        }
    }
}
