import DequeModule
import Synchronization

/// A state under a mutex, and the tasks that wait until it admits them, in the order in which they came.
///
/// One rule decides: after each change the waiters are asked again, from the first on. A task that is admitted at once does
/// not wait, and notices neither its cancellation nor its deadline.
package final class WaitQueue<State: Sendable, Wish: Sendable, Answer: Sendable>: Sendable {
    /// Which waiters a change may admit.
    package enum Order: Sendable {
        /// The first waiters: none is overtaken, not even by a task that comes later.
        case inLine
        /// All: a task may wait for another thing than the tasks before it.
        case any
    }

    private enum End: Sendable {
        case answer(Answer), cancelled, timedOut
    }

    private struct Waiter {
        let id: UInt64
        let wish: Wish
        let continuation: CheckedContinuation<End, Never>
    }

    private struct Line {
        var state: State
        var waiters: Deque<Waiter> = []
        var lastID: UInt64 = 0
    }

    private let line: RankedMutex<Line>
    private let order: Order
    private let admit: @Sendable (inout State, Wish) -> Answer?

    /// Makes a queue.
    ///
    /// - Parameters:
    ///   - rank: the rank of the mutex, under which `admit` runs.
    ///   - admit: changes the state for a wish and returns the answer; nil if the wish has to wait.
    package init(
        _ state: State, rank: LockRank = .leaf, order: Order = .inLine,
        admit: @escaping @Sendable (inout State, Wish) -> Answer?
    ) {
        line = RankedMutex(Line(state: state), rank)
        self.order = order
        self.admit = admit
    }

    /// The answer to a wish that need not wait; nil if it has to.
    package func answerNow(to wish: Wish) -> Answer? {
        line.withLock { answer(to: wish, &$0) }
    }

    private func answer(to wish: Wish, _ line: inout Line) -> Answer? {
        order == .inLine && !line.waiters.isEmpty ? nil : admit(&line.state, wish)
    }

    /// Waits until a wish is admitted.
    ///
    /// - Throws: `CancellationError`, and ``WaitTimeout`` at the deadline.
    package func wait(for wish: Wish, by deadline: MonotonicTime = .never) async throws -> Answer {
        if let answer = answerNow(to: wish) { return answer }
        let id = newID()
        let alarm = Alarm(at: deadline) { [weak self] in self?.leave(id, .timedOut) }
        let end = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                enqueue(Waiter(id: id, wish: wish, continuation: continuation), isCancellable: true)
                alarm?.set()
            }
        } onCancel: {
            // Only this task is resumed: two handlers that resume each other's tasks would deadlock.
            leave(id, .cancelled)
        }
        alarm?.callOff()
        if case .answer(let answer) = end { return answer }
        // The other waiters may have waited for this task.
        change { _ in }
        if case .timedOut = end { throw WaitTimeout() }
        throw CancellationError()
    }

    /// Waits until a wish is admitted, also in a cancelled task.
    package func waitShielded(for wish: Wish) async -> Answer {
        if let answer = answerNow(to: wish) { return answer }
        while true {
            let end = await withCheckedContinuation { continuation in
                enqueue(Waiter(id: 0, wish: wish, continuation: continuation), isCancellable: false)
            }
            // Nothing else ends it: no handler and no alarm has the number 0.
            if case .answer(let answer) = end { return answer }
        }
    }

    /// The number of tasks that wait.
    var waiterCount: Int { line.withLock { $0.waiters.count } }

    private func newID() -> UInt64 {
        line.withLock { line in
            line.lastID += 1
            return line.lastID
        }
    }

    private func enqueue(_ waiter: Waiter, isCancellable: Bool) {
        let end: End? = line.withLock { line in
            if let answer = answer(to: waiter.wish, &line) { return .answer(answer) }
            // A later cancellation finds the waiter; an earlier one shows here.
            if isCancellable, Task.isCancelled { return .cancelled }
            line.waiters.append(waiter)
            return nil
        }
        if let end { waiter.continuation.resume(returning: end) }
    }

    private func leave(_ id: UInt64, _ end: End) {
        let waiter = line.withLock { line in
            line.waiters.firstIndex { $0.id == id }.map { line.waiters.remove(at: $0) }
        }
        waiter?.continuation.resume(returning: end)
    }

    /// Changes the state, and admits the waiters that it lets in then.
    package func change<T: Sendable>(_ body: (inout State) -> T) -> T {
        var admitted: [(waiter: Waiter, answer: Answer)] = []
        let result = line.withLock { line in
            let result = body(&line.state)
            if !line.waiters.isEmpty { admitted = serve(&line) }
            return result
        }
        for (waiter, answer) in admitted { waiter.continuation.resume(returning: .answer(answer)) }
        return result
    }

    private func serve(_ line: inout Line) -> [(waiter: Waiter, answer: Answer)] {
        var admitted: [(waiter: Waiter, answer: Answer)] = []
        switch order {
        case .inLine:
            while let first = line.waiters.first, let answer = admit(&line.state, first.wish) {
                admitted.append((line.waiters.removeFirst(), answer))
            }
        case .any:
            var others: Deque<Waiter> = []
            for waiter in line.waiters {
                if let answer = admit(&line.state, waiter.wish) {
                    admitted.append((waiter, answer))
                } else {
                    others.append(waiter)
                }
            }
            line.waiters = others
        }
        return admitted
    }
}

/// The end of a wait at its deadline.
package struct WaitTimeout: Error {}
