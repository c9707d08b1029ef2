import KindredPostgres
import Synchronization

/// The look-ups by key of one entity: where many are under way, those that come share a statement.
///
/// A look-up that waits goes with the next answer, together with all that wait then. It waits only as long as answers come:
/// a server that is slow or stuck holds up nobody here.
final class KeyLookups: Sendable {
    private struct State {
        var traffic: LookupTraffic
        /// What goes with the next answer, and for how many.
        var forming: (lookup: SharedLookup, count: Int)?

        func mustWait(_ client: PostgresClient) -> Bool {
            if let forming, forming.count >= maximumCount { return false }
            return traffic.shouldWait(connectionCount: limit(client), now: .now)
        }
    }

    private let state: Mutex<State>
    /// How many share a statement at most.
    private static let maximumCount = 500

    init(patience: Duration = .milliseconds(20)) {
        state = Mutex(State(traffic: LookupTraffic(patience: patience)))
    }

    /// Counts a look-up that goes alone, until `leave`; false if it should wait.
    ///
    /// - Parameter isBound: whether it may not go with others.
    func enter(_ client: PostgresClient, isBound: @autoclosure () -> Bool) -> Bool {
        state.withLock { state in
            if state.mustWait(client), !isBound() { return false }
            state.traffic.begin(connectionCount: limit(client), now: .now)
            return true
        }
    }

    /// Waits for a row together with others; nil if the look-up has to go alone, and is counted for that.
    func wait(
        for key: ObjectKey, of entity: EntityRuntime, _ client: PostgresClient
    ) async throws -> SharedLookup.Found? {
        let place = state.withLock { state -> (lookup: SharedLookup, seat: Int)? in
            guard state.mustWait(client) else {
                state.traffic.begin(connectionCount: limit(client), now: .now)
                return nil
            }
            let lookup = state.forming?.lookup ?? SharedLookup(entity)
            let seat = lookup.add(key)
            state.forming = (lookup, seat + 1)
            state.traffic.wait()
            return (lookup, seat)
        }
        guard let place else { return nil }
        if let found = try await place.lookup.answer(to: place.seat) { return found }
        state.withLock { $0.traffic.begin(connectionCount: limit(client), now: .now) }
        return nil
    }

    /// Ends a look-up that went alone; those that wait go now.
    func leave(_ client: PostgresClient) {
        statementEnded(1, client)
    }

    private func statementEnded(_ lookupCount: Int, _ client: PostgresClient) {
        let next = state.withLock { state -> (lookup: SharedLookup, count: Int)? in
            defer { state.forming = nil }
            state.traffic.end(
                lookupCount: lookupCount, isFollowed: state.forming != nil, connectionCount: limit(client), now: .now)
            return state.forming
        }
        if let next { next.lookup.start(client) { self.statementEnded(next.count, client) } }
    }

    var waitingCount: Int { state.withLock { $0.forming?.count ?? 0 } }

    var underWayCount: Int { state.withLock { $0.traffic.statementCount } }
}

private func limit(_ client: PostgresClient) -> Int { client.configuration.pool.maximumConnections }
