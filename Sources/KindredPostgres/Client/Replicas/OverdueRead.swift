import Synchronization

/// A read on its way to a replica, which is asked again elsewhere once its answer is overdue.
///
/// The first answer counts. The request that has not answered by then is cancelled, and no task waits for its end.
final class OverdueRead: SupersedableRead {
    /// The answer to the second request.
    struct Answer: Sendable {
        let results: [QueryResult]
        /// The replica that gave it; nil for the primary.
        let replica: ReplicaAsk?
        /// The place that the replica had replayed then.
        let replayed: UInt64?
    }

    private struct State {
        var alarm: Alarm?
        /// Stops the first request, once it has a connection.
        var stopFirst: (@Sendable () -> Void)?
        var second: Task<Answer?, Never>?
        var answer: Answer?
        var hasPrimaryFailed = false
        /// Whether the read has its answer, or its error.
        var isOver = false
    }

    private let statement: Statement
    private let first: ReplicaAsk
    private let route: ReadRoute
    private let servers: ReplicaSet
    private let maximumLag: Duration
    private let primary: PostgresClient
    private let state = RankedMutex(State(), .leaf)

    /// Starts the time; nil for a read that is not asked again, as too little is known of its text.
    ///
    /// - Parameters:
    ///   - first: the replica that it is sent to.
    ///   - primary: the context's client.
    init?(
        _ statement: Statement, _ first: ReplicaAsk, by route: ReadRoute, among servers: ReplicaSet,
        within maximumLag: Duration,
        over primary: PostgresClient
    ) {
        // Settings that are passed on run between BEGIN and COMMIT, on a connection to itself.
        guard primary.settings?.passing == nil else { return nil }
        (self.statement, self.first, self.route, self.servers) = (statement, first, route, servers)
        (self.maximumLag, self.primary) = (maximumLag, primary)
        if first.overdueAt == .never { return nil }
        wait(until: first.overdueAt)
    }

    private func wait(until time: MonotonicTime) {
        guard let alarm = Alarm(at: time, { self.timeIsOver() }) else { return }
        let isOver = state.withLock { state in
            if !state.isOver { state.alarm = alarm }
            return state.isOver
        }
        if !isOver { alarm.set() }
    }

    /// Runs on the poller's thread.
    private func timeIsOver() {
        let isOver = state.withLock(\.isOver)
        guard !isOver, !statement.text.mayWrite else { return }
        guard servers.takesOverdue(first) else {
            // Too many were asked again just now: it tries later, after twice the time.
            let now = MonotonicTime.now
            return wait(until: now + now.since(first.startedAt))
        }
        let task = Task { await self.askAgain() }
        let isLate = state.withLock { state in
            if !state.isOver { state.second = task }
            return state.isOver
        }
        if isLate { task.cancel() }
    }

    /// Asks another server, and lets the first request's caller go on with its answer; nil if it fails.
    private func askAgain() async -> Answer? {
        guard let answer = try? await ask() else { return nil }
        let stopFirst = state.withLock { state in
            if !state.isOver { state.answer = answer }
            return state.isOver ? nil : state.stopFirst
        }
        stopFirst?()
        return answer
    }

    /// Asks another replica that has replayed the position, else the primary.
    ///
    /// Observers and limits do not see it: with its answer they see the read, once.
    private func ask() async throws -> Answer? {
        let choice = servers.choose(
            maximumLag: maximumLag, need: route.positions.need, text: statement.text, besides: first.server)
        switch choice {
        case .replica(let ask):
            var isAnswered = false
            defer { servers.end(ask, isAnswered: isAnswered) }
            let client = ask.server.client.with(primary.settings)
            let found = try await client.guarded(
                client.route.resolved([statement]), by: try ask.guardian, until: client.deadline(nil))
            guard case .result(let results, let replayed) = found else { return nil }
            isAnswered = true
            return Answer(results: results, replica: ask, replayed: replayed)
        case .primary:
            do {
                let result = try await primary.executeUnobserved(statement, timeout: nil)
                return Answer(results: [result], replica: nil, replayed: nil)
            } catch {
                state.withLock { $0.hasPrimaryFailed = true }
                throw error
            }
        }
    }

    func noteFirst(_ stop: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            state.stopFirst = stop
            return state.answer != nil
        }
    }

    /// The second answer, where the first request gives none; nil if there was no second request, or it failed too.
    ///
    /// - Parameter error: the first request's; nil where its replica was behind.
    func answer(after error: (any Error)?) async -> Answer? {
        if error is ReadSuperseded { return state.withLock(\.answer) }
        if let error {
            guard let error = error as? PostgresError, error.isOfReplica else { return nil }
            if error.endsUseOfReplica { servers.leaveOut(first.server) }
        }
        guard let second = state.withLock(\.second) else { return nil }
        return await withTaskCancellationHandler {
            await second.value
        } onCancel: {
            second.cancel()
        }
    }

    /// Whether the second request went to the primary, and failed.
    var hasPrimaryFailed: Bool { state.withLock(\.hasPrimaryFailed) }

    /// Ends the read: a second request that is still on its way is cancelled.
    func end() {
        let (alarm, second) = state.withLock { state in
            state.isOver = true
            defer { (state.alarm, state.stopFirst) = (nil, nil) }
            return (state.alarm, state.second)
        }
        alarm?.callOff()
        second?.cancel()
    }
}
