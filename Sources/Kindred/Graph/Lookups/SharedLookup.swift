import KindredPostgres

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
    /// The seats, and the tasks that wait for the outcome, by their seats.
    private let queue = WaitQueue<State, Int, Result<Found?, any Error>>(State(), rank: .sharedLookup, order: .any) {
        state, seat in
        state.outcome.map { outcome in Result { try outcome.found(state.seats[seat].key) } }
    }

    init(_ entity: EntityRuntime) {
        self.entity = entity
    }

    /// Adds a look-up, before the start.
    func add(_ key: ObjectKey) -> Place {
        queue.change { state in
            state.seats.append(Seat(key: key))
            return Place(lookup: self, seat: state.seats.count - 1)
        }
    }

    // MARK: Waiting

    /// Waits for a look-up's row; nil if it must be sent alone.
    ///
    /// Throws the statement's error, or `CancellationError`. The cancellation of the last waiter cancels the statement.
    func answer(to seat: Int) async throws -> Found? {
        let answer: Result<Found?, any Error>
        do {
            answer = try await queue.wait(for: seat)
        } catch {
            leave(seat)
            throw error
        }
        return try answer.get()
    }

    private func leave(_ seat: Int) {
        let abandoned = queue.change { state in
            state.seats[seat].hasLeft = true
            return state.isAbandoned && state.outcome == nil ? state.task : nil
        }
        abandoned?.cancel()
    }

    // MARK: Sending

    /// Sends the statement from a task of its own, because no single waiter owns it.
    func start(_ client: some LookupServer, then end: @escaping @Sendable () -> Void) {
        let task = Task.detached {
            let outcome = await self.ask(client)
            end()
            self.queue.change { $0.outcome = outcome }
        }
        let isAbandoned = queue.change { state in
            state.task = task
            return state.isAbandoned
        }
        if isAbandoned { task.cancel() }
    }

    /// Errors that one look-up may have caused, and that therefore do not concern the others.
    private static let ownFaults: [PostgresError.Code] = [.server, .resultTooLarge, .invalidParameter]

    private func ask(_ client: some LookupServer) async -> Outcome {
        let keys = queue.change { $0.seats.filter { !$0.hasLeft }.map(\.key) }
        if keys.isEmpty { return .none }
        do {
            let waited = MonotonicTime.now.since(begin)
            let result = try await client.select(keys, of: entity, waited: waited)
            var (keys, positions) = (KeyNumbers(), [Int]())
            for position in 0..<result.count {
                guard let key = try ObjectKey(result, row: position, entity.key), keys.insert(key).isNew else {
                    continue
                }
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
