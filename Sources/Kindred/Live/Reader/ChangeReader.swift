import KindredPostgres
import KindredSchema
import Synchronization

/// Reads the database's changes for everything in the process that follows them; one for a database.
///
/// It reads while it has subscribers, in a task of its own. Lost connections, and a server that restarts, are waited for.
final class ChangeReader: Sendable {
    /// A subscriber, and the task that waits for its first step.
    struct Entry: Sendable {
        let id: UInt64
        let subscriber: any ChangeSubscriber
        var isNew = true
        var waiter: CheckedContinuation<Void, any Error>?
    }

    /// A task that waits until all that was committed has been told.
    private struct CatchUp {
        let id: UInt64
        let continuation: CheckedContinuation<Void, any Error>
        /// The steps that it has waited for.
        var steps = 0
    }

    private struct State {
        var entries: [Entry] = []
        var catchUps: [CatchUp] = []
        var lastID: UInt64 = 0
        var isRunning = false
        var cursor: ChangeCursor?
    }

    let database: Database
    let source: any ChangeSource
    let signal = ReaderSignal()
    private let state = RankedMutex(State(), .leaf)
    /// The columns of keys in records, as last asked.
    private let keys = RankedMutex<[UInt32: [String]]>([:], .leaf)

    init(_ database: Database, source: any ChangeSource) {
        self.database = database
        self.source = source
    }

    // MARK: Subscribers

    /// Adds a subscriber; returns after its first step was committed.
    ///
    /// - Throws: `KindredError` `.trackingNotInstalled`, `.trackingVersion`, `.trackingOnStandby`, `.accessDenied` before it
    ///   begins; an error of its first `evaluate`; `CancellationError`, after which it is not subscribed.
    func add(_ subscriber: any ChangeSubscriber) async throws {
        if state.withLock({ !$0.isRunning }) {
            // Detached: the caller may be in a transaction.
            _ = try await Task.detached { [source] in try await source.begin() }.value
        }
        try await waiting { id, continuation, state in
            state.entries.append(Entry(id: id, subscriber: subscriber, waiter: continuation))
        }
    }

    /// Removes a subscriber; the reader holds it no longer.
    func remove(_ subscriber: any ChangeSubscriber) {
        let waiters = state.withLock { state in
            let leaving = state.entries.filter { $0.subscriber === subscriber }
            state.entries.removeAll { $0.subscriber === subscriber }
            return leaving.compactMap(\.waiter)
        }
        for waiter in waiters { waiter.resume(throwing: CancellationError()) }
        signal.ask()
    }

    /// Returns when all that was committed before the call has reached every subscriber.
    func catchUp() async throws {
        if state.withLock({ !$0.isRunning }) { return }
        try await waiting { id, continuation, state in
            state.catchUps.append(CatchUp(id: id, continuation: continuation))
        }
    }

    /// Makes a step soon, for a subscriber that wants one.
    func askForStep() { signal.ask() }

    /// The place up to which subscribers have been told; nil while nothing is read.
    var cursor: ChangeCursor? { state.withLock { $0.cursor } }

    /// Waits for the loop, which is started if it is not running.
    private func waiting(
        _ enter: (UInt64, CheckedContinuation<Void, any Error>, inout State) -> Void
    ) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isFirst = state.withLock { state in
                    enter(id, continuation, &state)
                    defer { state.isRunning = true }
                    return !state.isRunning
                }
                // Detached: the loop has no part in the caller's transaction or limits.
                if isFirst { Task.detached { await ReaderLoop.run(for: self) } }
                if Task.isCancelled { leave(id) }
                signal.ask()
            }
        } onCancel: {
            leave(id)
        }
    }

    private func leave(_ id: UInt64) {
        let waiter = state.withLock { state in
            if let place = state.catchUps.firstIndex(where: { $0.id == id }) {
                return Optional(state.catchUps.remove(at: place).continuation)
            }
            guard let place = state.entries.firstIndex(where: { $0.id == id && $0.waiter != nil }) else { return nil }
            return state.entries.remove(at: place).waiter
        }
        waiter?.resume(throwing: CancellationError())
    }

    // MARK: The loop's view

    /// The subscribers of the next step, and the last catch-up that it is for.
    struct Round: Sendable {
        let entries: [Entry]
        fileprivate let lastID: UInt64
    }

    /// nil if nobody is left, which ends the loop.
    func nextRound() -> Round? {
        let (round, waiters) = state.withLock { state -> (Round?, [CheckedContinuation<Void, any Error>]) in
            if !state.entries.isEmpty { return (Round(entries: state.entries, lastID: state.lastID), []) }
            let waiters = state.catchUps.map(\.continuation)
            (state.catchUps, state.isRunning, state.cursor) = ([], false, nil)
            return (nil, waiters)
        }
        for waiter in waiters { waiter.resume() }
        return round
    }

    /// Ends a step: its subscribers have been told all up to a cursor.
    func finish(_ round: Round, at cursor: ChangeCursor) {
        let isLeft = round.entries.contains { $0.subscriber.wantsStep }
        let waiters = state.withLock { state in
            state.cursor = cursor
            var waiters: [CheckedContinuation<Void, any Error>] = []
            let told = Set(round.entries.map(\.id))
            for place in state.entries.indices where told.contains(state.entries[place].id) {
                state.entries[place].isNew = false
                if let waiter = state.entries[place].waiter { waiters.append(waiter) }
                state.entries[place].waiter = nil
            }
            // Subscribers that ask again do so for ever where a program never pauses.
            for place in state.catchUps.indices where state.catchUps[place].id <= round.lastID {
                state.catchUps[place].steps += 1
            }
            state.catchUps.removeAll { catchUp in
                guard catchUp.steps > 0, !isLeft || catchUp.steps >= 10 else { return false }
                waiters.append(catchUp.continuation)
                return true
            }
            return waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Whether the next step should not wait for changes.
    var isAsked: Bool {
        let (entries, isWaitedFor) = state.withLock { state in
            (state.entries, !state.catchUps.isEmpty || state.entries.contains(where: \.isNew))
        }
        return isWaitedFor || entries.contains { $0.subscriber.wantsStep }
    }

    /// Takes out a subscriber whose evaluation failed.
    func fail(_ entry: Entry, _ error: any Error) {
        let left = state.withLock { state -> Entry? in
            guard let place = state.entries.firstIndex(where: { $0.id == entry.id }) else { return nil }
            return state.entries.remove(at: place)
        }
        left?.end(error)
    }

    /// Ends everything: the database cannot be read.
    func failAll(_ error: any Error) {
        let (entries, catchUps) = state.withLock { state in
            let all = (state.entries, state.catchUps)
            (state.entries, state.catchUps, state.isRunning, state.cursor) = ([], [], false, nil)
            return all
        }
        for entry in entries { entry.end(error) }
        for catchUp in catchUps { catchUp.continuation.resume(throwing: error) }
    }

    /// Tells which entities the model has anew, differently or no more.
    func tellSchemaChanges(_ names: Set<QualifiedName>) {
        guard !names.isEmpty else { return }
        for case let feed as SchemaChangeFeed in state.withLock({ $0.entries.map(\.subscriber) }) { feed.tell(names) }
    }

    // MARK: Reading

    /// Reads what became visible since a cursor, in the task's transaction.
    ///
    /// - Parameter isWhole: whether to read all pieces; else the first.
    func read(from start: ChangeCursor, isWhole: Bool) async throws -> ChangeReading {
        let runtime = database.runtime
        var reading = ChangeReading(cursor: start)
        var net = NetChanges()
        repeat {
            let piece = try await source.read(from: reading.cursor)
            reading.refusal = piece.refusal
            if piece.refusal != nil { return reading }
            reading.cursor = piece.cursor
            reading.isLast = piece.isLast
            reading.isUnsafe = reading.isUnsafe || piece.isUnsafe
            reading.records += piece.records.count
            reading.age = max(reading.age, piece.age)
            if !piece.records.isEmpty {
                net.add(piece.records, ChangeLayout(runtime, keys: try await keys(for: piece.records)))
            }
        } while isWhole && !reading.isLast
        var present: [QualifiedName: Set<ObjectKey>] = [:]
        for (name, keys) in net.uncertainKeys() {
            if let entity = runtime[name] { present[name] = try await stored(keys, of: entity) }
        }
        reading.changes = net.changes(present: present)
        reading.changedTables = net.changedTables
        return reading
    }

    /// The columns of keys in records; asked again where a table is new or has changed.
    private func keys(for records: [ChangeRecord]) async throws -> [UInt32: [String]] {
        let known = keys.withLock { $0 }
        guard records.contains(where: { known[$0.relation] == nil || $0.gap(hasKey: true) == .schemaChanged }) else {
            return known
        }
        var new = try await source.keys()
        // Not asked again for a table that is tracked no more.
        for record in records where new[record.relation] == nil { new[record.relation] = [] }
        let asked = new
        keys.withLock { $0 = asked }
        return new
    }

    /// Which keys have rows: one statement for each 10,000.
    private func stored(_ keys: [ObjectKey], of entity: EntityRuntime) async throws -> Set<ObjectKey> {
        let batch = try keys.slices().map {
            try DeletionStatements.rows(entity, $0, columns: entity.key, isLocked: false)
        }
        return try await database.client.send(batch, entity).reduce(into: []) { found, result in
            found.formUnion(try result.indices.compactMap { try ObjectKey(result, $0, Array(entity.key.indices)) })
        }
    }
}

/// What a reading has found.
struct ChangeReading: Sendable {
    var cursor: ChangeCursor
    var isLast = true
    var isUnsafe = false
    var refusal: ChangeGap?
    var changes: [QualifiedName: TableChanges] = [:]
    /// The tables that were changed themselves.
    var changedTables: Set<UInt32> = []
    var records = 0
    var age: Duration = .zero
}

extension ChangeReader.Entry {
    /// The subscriber failed; the task that waits for its first step gets the error instead.
    fileprivate func end(_ error: any Error) {
        if let waiter { waiter.resume(throwing: error) } else { subscriber.fail(error) }
    }
}

extension Database {
    /// The reader of the database's changes; made when it is first needed.
    var changeReader: ChangeReader {
        // Made outside of the lock; another task's may be the one that stays.
        let made = ChangeReader(self, source: OutboxSource(client))
        return changeReaderReference.withLock { reference in
            if let known = reference.object as? ChangeReader { return known }
            reference.object = made
            return made
        }
    }
}
