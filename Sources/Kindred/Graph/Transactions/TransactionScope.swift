import Synchronization

/// How a transaction, or a savepoint inside of one, ended.
///
/// What was read or noted inside keeps its scope and asks it, so that a rollback need not find everything that it makes
/// untrue.
final class TransactionScope: Sendable {
    /// The scope around this one, of the same database.
    private let outer: TransactionScope?
    private let wasUndone = Atomic(false)
    private let hasEnded = Atomic(false)

    init(within outer: TransactionScope?) {
        self.outer = outer
    }

    /// The transaction that the scope belongs to.
    var root: TransactionScope { outer?.root ?? self }

    /// Whether what happened inside was rolled back, here or by a scope around this one.
    var isUndone: Bool {
        wasUndone.load(ordering: .acquiring) || outer?.isUndone == true
    }

    /// Whether the transaction is still to be committed or rolled back.
    var isRunning: Bool { !root.hasEnded.load(ordering: .acquiring) && !isUndone }

    func undo() {
        wasUndone.store(true, ordering: .releasing)
    }

    func end() {
        hasEnded.store(true, ordering: .releasing)
    }
}

/// When transactions changed a context, by the context's clock.
///
/// Answers to tasks outside of a transaction lack what it has not committed. So what they ask for while it runs counts as
/// asked for when it began: its changes are newer, also after its end.
struct TransactionTimes: Sendable {
    private struct Span {
        let root: TransactionScope
        let began: UInt64
        var ended: UInt64?
    }

    /// The latest ones, in the order in which they began.
    private var spans: [Span] = []
    /// More are not kept: an answer that is older than all of them counts as asked for before them.
    private static let maximum = 64
    /// When the first one that was let go began; 0 for none.
    private var forgottenBegan: UInt64 = 0
    private var forgottenEnded: UInt64 = 0

    mutating func begin(_ root: TransactionScope, at time: UInt64) {
        if spans.contains(where: { $0.root === root && $0.ended == nil }) { return }
        spans.append(Span(root: root, began: time))
        guard spans.count > Self.maximum, let ended = spans[0].ended else { return }
        if forgottenBegan == 0 { forgottenBegan = spans[0].began }
        forgottenEnded = max(ended, forgottenEnded)
        spans.removeFirst()
    }

    mutating func end(_ root: TransactionScope, at time: UInt64) {
        guard let place = spans.lastIndex(where: { $0.root === root }) else { return }
        spans[place].ended = time
    }

    /// The time that counts for what a task asked for.
    ///
    /// - Parameter root: the transaction that the task is in, which sees its own changes.
    func counted(_ askedAt: UInt64, in root: TransactionScope?) -> UInt64 {
        var counted = askedAt < forgottenEnded ? min(askedAt, forgottenBegan) : askedAt
        for span in spans where span.root !== root && span.began <= askedAt && askedAt < span.ended ?? .max {
            counted = min(counted, span.began)
        }
        return counted
    }

    /// Whether a transaction runs that a task is not in.
    func isRunning(besides root: TransactionScope?) -> Bool {
        spans.contains { $0.ended == nil && $0.root !== root }
    }
}
