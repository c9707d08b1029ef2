import Synchronization

/// An observation of a client's statements; ends when it is cancelled or deinitialized.
public final class StatementObservation: Sendable {
    private let observers: StatementObservers
    private let id: Int

    init(_ observers: StatementObservers, _ id: Int) {
        self.observers = observers
        self.id = id
    }

    /// An observation without a client.
    package static var ofNothing: StatementObservation { StatementObservation(StatementObservers(), 0) }

    /// Ends the observation; the handler may still be running in another task.
    public func cancel() {
        observers.remove(id)
    }

    deinit {
        cancel()
    }
}

/// The observers of a client's statements.
final class StatementObservers: Sendable {
    typealias Handler = @Sendable (StatementEvent) -> Void

    private struct State {
        var handlers: [Int: Handler] = [:]
        var lastID = 0
    }

    private let state = RankedMutex(State(), .leaf)
    /// Kept beside the handlers: cheap to check when there are none.
    private let count = Atomic(0)

    var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }

    func add(_ handler: @escaping Handler) -> Int {
        state.withLock { state in
            state.lastID += 1
            state.handlers[state.lastID] = handler
            count.store(state.handlers.count, ordering: .relaxed)
            return state.lastID
        }
    }

    func remove(_ id: Int) {
        state.withLock { state in
            state.handlers[id] = nil
            count.store(state.handlers.count, ordering: .relaxed)
        }
    }

    func tell(_ event: StatementEvent) {
        for handler in state.withLock({ Array($0.handlers.values) }) { handler(event) }
    }
}
