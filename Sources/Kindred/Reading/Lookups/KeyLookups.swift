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
        state = Mutex(State(traffic: LookupTraffic(patience: patience, processorCount: Processors.count)))
    }

    /// Gives a look-up that should wait its place among others; nil if it goes alone, and is counted until `leave`.
    ///
    /// - Parameter isBound: whether it may not go with others.
    func enter(
        for key: ObjectKey, of entity: EntityRuntime, _ client: PostgresClient, isBound: @autoclosure () -> Bool
    ) -> SharedLookup.Place? {
        state.withLock { state in
            guard state.mustWait(client), !isBound() else {
                state.traffic.begin(connectionCount: limit(client), now: .now)
                return nil
            }
            let lookup = state.forming?.lookup ?? SharedLookup(entity)
            let place = lookup.add(key)
            state.forming = (lookup, place.seat + 1)
            state.traffic.wait()
            return place
        }
    }

    /// Waits for a row together with others; nil if the look-up has to go alone after all, and is counted for that.
    func wait(at place: SharedLookup.Place, _ client: PostgresClient) async throws -> SharedLookup.Found? {
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

    var underWayCount: Int { state.withLock { $0.traffic.statementCount } }
}

private func limit(_ client: PostgresClient) -> Int { client.configuration.pool.maximumConnections }
