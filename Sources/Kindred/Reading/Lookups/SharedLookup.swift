import KindredPostgres
import Synchronization

/// A statement that finds rows for several look-ups by key, with their waiters.
final class SharedLookup: Sendable {
    /// The row of one look-up.
    struct Found {
        let result: QueryResult
        /// Nil if there is no such row.
        let position: Int?
    }

    /// One look-up's place in the statement.
    struct Place {
        let lookup: SharedLookup
        let seat: Int
    }

    private enum Outcome {
        /// The keys found, with the position of each row by the key's number.
        case rows(QueryResult, KeyNumbers, positions: [Int])
        case failure(any Error)
        /// Each look-up must be sent alone.
        case none

        func found(_ key: ObjectKey) throws -> Found? {
            switch self {
            case .rows(let result, let keys, let positions):
                Found(result: result, position: keys.number(of: key).map { positions[$0] })
            case .failure(let error): throw error
            case .none: nil
            }
        }
    }

    private struct Seat {
        let key: ObjectKey
        var waiter: CheckedContinuation<Found?, any Error>?
        var hasLeft = false
    }

    private struct State {
        var seats: [Seat] = []
        var task: Task<Void, Never>?
        var outcome: Outcome?

        var isAbandoned: Bool { seats.allSatisfy(\.hasLeft) }
    }

    private let entity: EntityRuntime
    private let begin = MonotonicTime.now
    private let state = RankedMutex(State(), .sharedLookup)

    init(_ entity: EntityRuntime) {
        self.entity = entity
    }

    /// Adds a look-up, before the start.
    func add(_ key: ObjectKey) -> Place {
        state.withLock { state in
            state.seats.append(Seat(key: key))
            return Place(lookup: self, seat: state.seats.count - 1)
        }
    }

    // MARK: Waiting

    /// Waits for a look-up's row; nil if it must be sent alone.
    ///
    /// Throws the statement's error, or `CancellationError`. The cancellation of the last waiter cancels the statement.
    func answer(to seat: Int) async throws -> Found? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                let answer = state.withLock { state -> Result<Found?, any Error>? in
                    if let outcome = state.outcome { return Result { try outcome.found(state.seats[seat].key) } }
                    if state.seats[seat].hasLeft { return .failure(CancellationError()) }
                    state.seats[seat].waiter = waiter
                    return nil
                }
                if let answer { return waiter.resume(with: answer) }
                // The cancellation handler may have run before the waiter was set.
                if Task.isCancelled { leave(seat) }
            }
        } onCancel: {
            leave(seat)
        }
    }

    private func leave(_ seat: Int) {
        let (waiter, task) = state.withLock { state -> (CheckedContinuation<Found?, any Error>?, Task<Void, Never>?) in
            if state.outcome != nil { return (nil, nil) }
            let waiter = state.seats[seat].waiter
            state.seats[seat].waiter = nil
            state.seats[seat].hasLeft = true
            return (waiter, state.isAbandoned ? state.task : nil)
        }
        waiter?.resume(throwing: CancellationError())
        task?.cancel()
    }

    // MARK: Sending

    /// Sends the statement from a task of its own, because no single waiter owns it.
    func start(_ client: PostgresClient, then end: @escaping @Sendable () -> Void) {
        let task = Task.detached {
            let outcome = await self.ask(client)
            let seats = self.state.withLock { state in
                state.outcome = outcome
                return state.seats
            }
            end()
            for seat in seats { seat.waiter?.resume(with: Result { try outcome.found(seat.key) }) }
        }
        let isAbandoned = state.withLock { state in
            state.task = task
            return state.isAbandoned
        }
        if isAbandoned { task.cancel() }
    }

    /// Errors that one look-up may have caused, and that therefore do not concern the others.
    private static let ownFaults: [PostgresError.Code] = [.server, .resultTooLarge, .invalidParameter]

    private func ask(_ client: PostgresClient) async -> Outcome {
        let keys = state.withLock { $0.seats.filter { !$0.hasLeft }.map(\.key) }
        if keys.isEmpty { return .none }
        do {
            // The timeout includes the time spent waiting.
            let waited = MonotonicTime.now.since(begin)
            let timeout = client.configuration.statementTimeout.map { max($0 - waited, .milliseconds(1)) }
            let result = try await client.executeUnobserved(try entity.select(byKeys: keys), timeout: timeout)
            var (keys, positions) = (KeyNumbers(), [Int]())
            for position in 0..<result.count {
                guard let key = try ObjectKey(result, position, entity.key), keys.insert(key).isNew else { continue }
                positions.append(position)
            }
            return .rows(result, keys, positions: positions)
        } catch let error as PostgresError where !Self.ownFaults.contains(error.code) {
            return .failure(error)
        } catch {
            return .none
        }
    }
}
