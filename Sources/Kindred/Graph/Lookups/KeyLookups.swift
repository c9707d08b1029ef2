import KindredPostgres
import Synchronization

/// The look-ups by key of one entity: under load they share statements.
///
/// Waiting look-ups are sent together with the next answer. They wait only while answers arrive: a slow or hanging
/// server delays none.
final class KeyLookups: Sendable {
    private struct State {
        var traffic: LookupTraffic
        /// The look-up that the next answer sends, and its number of keys.
        var forming: (lookup: SharedLookup, count: Int)?

        func mustWait(_ client: some LookupServer) -> Bool {
            if let forming, forming.count >= maximumCount { return false }
            return traffic.shouldWait(connectionCount: client.lookupConnectionCount, now: .now)
        }
    }

    private let state: RankedMutex<State>
    /// The limit of keys per statement.
    private static let maximumCount = 500

    init(patience: Duration = .milliseconds(20)) {
        state = RankedMutex(
            State(traffic: LookupTraffic(patience: patience, processorCount: Processors.count)), .keyLookups)
    }

    /// Registers a look-up that should wait; nil if it is sent alone, and counted until `leave`.
    ///
    /// - Parameter isBound: whether it must not be shared, as in a transaction.
    func enter(
        for key: ObjectKey, of entity: EntityRuntime, _ client: some LookupServer, isBound: @autoclosure () -> Bool
    ) -> SharedLookup.Place? {
        state.withLock { state in
            guard state.mustWait(client), !isBound() else {
                state.traffic.begin(connectionCount: client.lookupConnectionCount, now: .now)
                return nil
            }
            let lookup = state.forming?.lookup ?? SharedLookup(entity)
            let place = lookup.add(key)
            state.forming = (lookup, place.seat + 1)
            state.traffic.wait()
            return place
        }
    }

    /// Waits for a shared look-up's row; nil if it must be sent alone, and is counted for that.
    func wait(at place: SharedLookup.Place, _ client: some LookupServer) async throws -> SharedLookup.Found? {
        if let found = try await place.lookup.answer(to: place.seat) { return found }
        state.withLock { $0.traffic.begin(connectionCount: client.lookupConnectionCount, now: .now) }
        return nil
    }

    /// Ends a look-up that was sent alone, and sends the waiting ones.
    func leave(_ client: some LookupServer) {
        statementEnded(1, client)
    }

    private func statementEnded(_ lookupCount: Int, _ client: some LookupServer) {
        let next = state.withLock { state -> (lookup: SharedLookup, count: Int)? in
            defer { state.forming = nil }
            state.traffic.end(
                lookupCount: lookupCount, isFollowed: state.forming != nil,
                connectionCount: client.lookupConnectionCount, now: .now)
            return state.forming
        }
        if let next { next.lookup.start(client) { self.statementEnded(next.count, client) } }
    }

    var underWayCount: Int { state.withLock { $0.traffic.statementCount } }
}
