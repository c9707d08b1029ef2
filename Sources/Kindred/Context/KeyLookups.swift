import KindredPostgres
import Synchronization

/// The look-ups by key of one entity: while every connection has one under way, those that come share a statement.
///
/// A look-up that would stand behind others on a connection waits for the next answer instead, and goes together with all
/// that wait then. It waits only as long as answers come: a server that is slow or stuck holds up nobody here.
final class KeyLookups: Sendable {
    private struct State {
        var underWay = 0
        /// When the last answer came, or the last connection got something to do.
        var movedAt = ContinuousClock.now
        /// What goes with the next answer.
        var forming: SharedLookup?
    }

    private let state = Mutex(State())
    /// How long an answer may take before look-ups no longer wait for it.
    private let patience: Duration
    /// How many share a statement at most.
    private static let maximumCount = 500

    init(patience: Duration = .milliseconds(20)) {
        self.patience = patience
    }

    /// Counts a look-up that goes alone, until `leave`; false if it should wait.
    ///
    /// - Parameter isBound: whether it may not go with others.
    func enter(_ client: PostgresClient, isBound: @autoclosure () -> Bool) -> Bool {
        state.withLock { state in
            if isFull(state, client), !isBound() { return false }
            count(&state, client)
            return true
        }
    }

    /// Waits for a row together with others; nil if the look-up has to go alone, and is counted for that.
    func wait(
        for key: ObjectKey, of entity: EntityRuntime, _ client: PostgresClient
    ) async throws -> SharedLookup.Found? {
        let place = state.withLock { state -> (lookup: SharedLookup, seat: Int)? in
            guard isFull(state, client) else {
                count(&state, client)
                return nil
            }
            let lookup = state.forming ?? SharedLookup(entity)
            state.forming = lookup
            return (lookup, lookup.add(key))
        }
        guard let place else { return nil }
        if let found = try await place.lookup.answer(to: place.seat) { return found }
        state.withLock { count(&$0, client) }
        return nil
    }

    /// Ends a look-up; those that wait go now.
    func leave(_ client: PostgresClient) {
        let next = state.withLock { state -> SharedLookup? in
            if state.underWay >= Self.limit(client) { state.movedAt = .now }
            defer { state.forming = nil }
            if state.forming == nil { state.underWay -= 1 }
            return state.forming
        }
        next?.start(client) { self.leave(client) }
    }

    var waitingCount: Int { state.withLock { $0.forming?.count ?? 0 } }

    var underWayCount: Int { state.withLock { $0.underWay } }

    private static func limit(_ client: PostgresClient) -> Int { client.configuration.pool.maximumConnections }

    private func isFull(_ state: borrowing State, _ client: PostgresClient) -> Bool {
        guard state.underWay >= Self.limit(client), state.forming?.count ?? 0 < Self.maximumCount else { return false }
        return .now - state.movedAt < patience
    }

    private func count(_ state: inout State, _ client: PostgresClient) {
        state.underWay += 1
        if state.underWay == Self.limit(client) { state.movedAt = .now }
    }
}
