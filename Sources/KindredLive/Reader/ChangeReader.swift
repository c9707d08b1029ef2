import Kindred
import KindredPostgres
import KindredSchema
import Synchronization

/// Reads the database's changes for everything in the process that follows them; one for a database.
///
/// It reads while it has subscribers, in a task of its own. Lost connections, and a server that restarts, are waited for.
final class ChangeReader: Sendable {
    struct Entry: Sendable {
        let id: UInt64
        let subscriber: any ChangeSubscriber
        /// Whether a task waits for its first step.
        var isAtItsFirstStep = true
    }

    private struct State {
        var entries: [Entry] = []
        /// The tasks that wait until all committed changes have been told, and the steps that they have waited for.
        var catchUps: [UInt64: Int] = [:]
        /// The answers to waiting tasks.
        var outcomes: [UInt64: Result<Void, any Error>] = [:]
        var lastID: UInt64 = 0
        var isRunning = false
        var cursor: ChangeCursor?

        mutating func newID() -> UInt64 {
            lastID += 1
            return lastID
        }
    }

    let database: Database
    let source: any ChangeSource
    let signal = ReaderSignal()
    /// The places of questions that are asked alone: a fourth of the pool's connections; the others are left to the program.
    let slowPlaces: AsyncGate
    let interpreter: RecordInterpreter
    /// A wish is the number of a waiting task.
    private let state = WaitQueue<State, UInt64, Result<Void, any Error>>(State(), order: .any) { state, id in
        state.outcomes.removeValue(forKey: id)
    }

    init(_ database: Database, source: any ChangeSource) {
        self.database = database
        self.source = source
        slowPlaces = AsyncGate(places: max(1, database.client.configuration.pool.maximumConnections / 4))
        interpreter = RecordInterpreter(database, source)
    }

    // MARK: Subscribers

    /// Adds a subscriber; returns after its first step was committed.
    ///
    /// - Throws: `KindredError` `.trackingNotInstalled`, `.trackingVersion`, `.trackingOnStandby`, `.accessDenied` before it
    ///   begins; an error of its first `evaluate`; `CancellationError`, and `WaitTimeout` at the deadline, after which it is
    ///   not subscribed.
    func add(_ subscriber: any ChangeSubscriber, by deadline: MonotonicTime = .never) async throws {
        if state.change({ !$0.isRunning }) {
            // Detached: the caller may be in a transaction.
            _ = try await Task.detached { [source] in try await source.begin() }.value
        }
        try await wait(by: deadline) { state, id in state.entries.append(Entry(id: id, subscriber: subscriber)) }
    }

    /// Removes a subscriber; the reader holds it no longer.
    func remove(_ subscriber: any ChangeSubscriber) {
        state.change { state in
            for entry in state.entries where entry.subscriber === subscriber && entry.isAtItsFirstStep {
                state.outcomes[entry.id] = .failure(CancellationError())
            }
            state.entries.removeAll { $0.subscriber === subscriber }
        }
        signal.ask()
    }

    /// Whether a subscriber has had its first step, and is told all changes from then on.
    func tells(_ subscriber: any ChangeSubscriber) -> Bool {
        state.change { $0.entries.contains { $0.subscriber === subscriber && !$0.isAtItsFirstStep } }
    }

    /// Returns when all changes that were committed before the call have reached every subscriber.
    func catchUp() async throws {
        if state.change({ !$0.isRunning }) { return }
        try await wait { state, id in state.catchUps[id] = 0 }
        for subscriber in state.change({ $0.entries.map(\.subscriber) }) { try await subscriber.catchUp() }
    }

    /// Makes a step soon, for a subscriber that wants one.
    func askForStep() { signal.wish() }

    /// The place up to which subscribers have been told; nil while nothing is read.
    var cursor: ChangeCursor? { state.change { $0.cursor } }

    /// Reads the changes that became visible since a cursor, in the task's transaction.
    ///
    /// - Parameter limit: the number of records above which only a piece is read, of whole transactions; nil for all
    ///   records.
    func read(from cursor: ChangeCursor, limit: Int? = nil) async throws -> ChangeReading {
        try await interpreter.read(from: cursor, limit: limit)
    }

    /// The model of the tables as they are, as far as they have been read.
    var model: SchemaRuntime { interpreter.model }

    /// Reads records by the present tables from now on.
    func adapt(to tables: PresentTables) { interpreter.adapt(to: tables) }

    /// Reads the records of a context's tenant, too, if it has a schema of its own.
    func follow(_ core: ContextCore) {
        guard let tenant = TenantNames(core.settings, in: database) else { return }
        interpreter.follow(tenant, database.knownModel(ofTenant: tenant.schema) ?? core.runtime)
    }

    /// Leaves out the records of tables that the model does not have.
    func leaveOut(_ tables: Set<UInt32>) { interpreter.leaveOut(tables) }

    /// Waits for an outcome of the loop, which is started if it is not running.
    private func wait(by deadline: MonotonicTime = .never, _ enter: (inout State, UInt64) -> Void) async throws {
        let (id, startsLoop) = state.change { state in
            let id = state.newID()
            enter(&state, id)
            defer { state.isRunning = true }
            return (id, !state.isRunning)
        }
        // Detached: the loop has no part in the caller's transaction or limits.
        if startsLoop { Task.detached { await ReaderLoop.run(for: self) } }
        signal.ask()
        do {
            try await state.wait(for: id, by: deadline).get()
        } catch {
            state.change { state in
                state.entries.removeAll { $0.id == id }
                (state.catchUps[id], state.outcomes[id]) = (nil, nil)
            }
            signal.ask()
            throw error
        }
    }

    // MARK: The loop's view

    /// The subscribers of the next step, and the tasks that wait for changes committed before it.
    struct Round: Sendable {
        let entries: [Entry]
        fileprivate let catchUps: Set<UInt64>
    }

    /// nil if no subscriber is left, which ends the loop.
    func nextRound() -> Round? {
        state.change { state in
            if state.entries.isEmpty {
                for id in state.catchUps.keys { state.outcomes[id] = .success(()) }
                (state.catchUps, state.isRunning, state.cursor) = ([:], false, nil)
                return nil
            }
            return Round(entries: state.entries, catchUps: Set(state.catchUps.keys))
        }
    }

    /// Ends a step: its subscribers have been told all up to a cursor.
    func finish(_ round: Round, at cursor: ChangeCursor) {
        let isLeft = !round.catchUps.isEmpty && round.entries.contains { $0.subscriber.wantsStep }
        let told = Set(round.entries.map(\.id))
        state.change { state in
            state.cursor = cursor
            for place in state.entries.indices where state.entries[place].isAtItsFirstStep {
                let id = state.entries[place].id
                guard told.contains(id) else { continue }
                state.entries[place].isAtItsFirstStep = false
                state.outcomes[id] = .success(())
            }
            for (id, steps) in state.catchUps where round.catchUps.contains(id) {
                // Subscribers that ask again do so for ever where a program never pauses.
                let isOver = !isLeft || steps >= 10
                state.catchUps[id] = isOver ? nil : steps + 1
                if isOver { state.outcomes[id] = .success(()) }
            }
        }
    }

    /// Whether the next step should not wait for changes.
    var isAsked: Bool {
        let (entries, isWaitedFor) = state.change { state in
            (state.entries, !state.catchUps.isEmpty || state.entries.contains(where: \.isAtItsFirstStep))
        }
        return isWaitedFor || entries.contains { $0.subscriber.wantsStep }
    }

    /// Takes out a subscriber whose evaluation failed; the task that waits for its first step gets the error instead.
    func fail(_ entry: Entry, _ error: any Error) {
        let isTold = state.change { state -> Bool in
            guard let place = state.entries.firstIndex(where: { $0.id == entry.id }) else { return true }
            let left = state.entries.remove(at: place)
            if left.isAtItsFirstStep { state.outcomes[left.id] = .failure(error) }
            return left.isAtItsFirstStep
        }
        if !isTold { entry.subscriber.fail(error) }
    }

    /// Ends everything: the database cannot be read.
    func failAll(_ error: any Error) {
        let left = state.change { state in
            let waiting = state.entries.filter(\.isAtItsFirstStep).map(\.id) + state.catchUps.keys
            for id in waiting { state.outcomes[id] = .failure(error) }
            let left = state.entries.filter { !$0.isAtItsFirstStep }
            (state.entries, state.catchUps, state.isRunning, state.cursor) = ([], [:], false, nil)
            return left
        }
        for entry in left { entry.subscriber.fail(error) }
    }

    /// Ends the waiting for changes committed before: they cannot be read now.
    func failCatchUps(_ error: any Error) {
        state.change { state in
            for id in state.catchUps.keys { state.outcomes[id] = .failure(error) }
            state.catchUps = [:]
        }
    }

    /// All that follows changes.
    var subscribers: [any ChangeSubscriber] { state.change { $0.entries.map(\.subscriber) } }

    /// Tells which entities of the model are new, changed or gone.
    func tellSchemaChanges(_ names: Set<QualifiedName>) {
        guard !names.isEmpty else { return }
        for subscriber in subscribers { subscriber.schemaChanged(names) }
    }
}

extension Database {
    /// The reader of the database's changes; made when it is first needed.
    var changeReader: ChangeReader {
        if let known = live.changeReaderReference.withLock({ $0.object as? ChangeReader }) { return known }
        // Made outside of the lock; if another task was quicker, its reader stays.
        let made = ChangeReader(self, source: OutboxSource(self))
        return live.changeReaderReference.withLock { $0.first(or: made) }
    }
}
