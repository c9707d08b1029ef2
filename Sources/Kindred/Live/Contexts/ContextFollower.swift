import KindredPostgres
import KindredSchema
import Synchronization

/// Brings changes to the contexts of a database that follow them: one subscriber for all that have equal settings.
///
/// A context enters before its first query, and is not held.
final class ContextFollower: ContextFeed, ChangeSubscriber {
    private struct Entry {
        weak var core: ContextCore?
        /// Whether it was there when a step began: what it has read and written since may be newer than the step's snapshot.
        var isPrepared = false
    }

    private struct State {
        var entries: [Entry] = []
        /// The tables whose changes are recorded, by OID, as far as known.
        var tables: Set<UInt32> = []
        /// Whether each context is asked for alone in the next step, since the server has refused what all ask for.
        var isApart = false
        /// The findings of the last evaluation.
        var plans: [ContextPlan] = []

        var cores: [ContextCore] { entries.compactMap(\.core) }
    }

    let settings: SessionSettings
    private let reader: ChangeReader
    private let state = RankedMutex(State(), .leaf)
    /// Entering and leaving, one after the other.
    private let gate = AsyncGate()

    init(_ settings: SessionSettings, _ reader: ChangeReader) {
        (self.settings, self.reader) = (settings, reader)
    }

    // MARK: Contexts

    func follow(_ entities: [EntityRuntime], in core: ContextCore) async throws {
        // Before the gate: tasks that wait for another one's attempt wait no longer than that.
        let deadline = MonotonicTime.now + .seconds(60)
        try await gate.withLock {
            repeat {
                enter(core)
                try await subscribe(by: deadline)
                try await requireRecorded(entities)
                try core.following?.begin(entities)
                // A failure meanwhile has forgotten the context, perhaps before it began.
            } while !isTold(core)
        }
    }

    private func subscribe(by deadline: MonotonicTime) async throws {
        if reader.tells(self) { return }
        // The reader may wait for a connection that only the waiting tasks can give back.
        do {
            try await reader.add(self, by: deadline)
        } catch is WaitTimeout {
            throw KindredError(
                .contextBusy,
                "No connection was free to follow changes within 60 seconds: load before the transaction begins, or allow more connections"
            )
        }
    }

    /// Whether changes reach a context.
    private func isTold(_ core: ContextCore) -> Bool {
        reader.tells(self) && state.withLock { $0.entries.contains { $0.core === core } }
    }

    /// Takes a context among those that follow, with a time before any query that it will ask.
    private func enter(_ core: ContextCore) {
        guard !state.withLock({ $0.entries.contains { $0.core === core } }) else { return }
        let time = core.beginReading()
        let isEmpty = !core.runtime.entities.contains { entity in core.withMap { $0.holdsObjects(of: entity) } }
        core.following?.withState { state in
            state.preparedAt = time
            state.checked = ChangeFollowing.NoteStamp()
            // Objects that it has made itself may have been changed since.
            if !isEmpty { state.reloads += 1 }
        }
        state.withLock { state in
            // After a failure another task may have been faster.
            if !state.entries.contains(where: { $0.core === core }) { state.entries.append(Entry(core: core)) }
        }
    }

    /// Throws unless the changes of the entities' tables are recorded.
    private func requireRecorded(_ entities: [EntityRuntime]) async throws {
        func missing() -> [EntityRuntime] {
            state.withLock { state in entities.filter { !state.tables.contains($0.entity.oid) } }
        }
        guard !missing().isEmpty else { return }
        // Detached: the caller may be in a transaction, or count its statements.
        let tables = try await Task.detached { [source = reader.source] in try await source.keys() }.value
        state.withLock { $0.tables = Set(tables.keys) }
        let names = missing().map(\.name)
        guard names.isEmpty else { throw KindredError(untracked: names) }
    }

    func contextEnded() {
        Task.detached { await self.leaveIfEmpty() }
    }

    private func leaveIfEmpty() async {
        await gate.withLock {
            let isLast = state.withLock { state in
                state.entries.removeAll { $0.core == nil }
                return state.entries.isEmpty
            }
            if isLast, reader.tells(self) { reader.remove(self) }
        }
    }

    func askForStep() { reader.askForStep() }

    // MARK: Steps

    func prepare() {
        let cores = state.withLock { state in
            for place in state.entries.indices { state.entries[place].isPrepared = true }
            return state.cores
        }
        for core in cores {
            let time = core.beginReading()
            core.following?.withState { $0.preparedAt = time }
        }
    }

    func evaluate(_ batch: ChangeBatch?, at cursor: ChangeCursor) async throws {
        let (cores, late, isApart) = state.withLock { state in
            (
                state.entries.filter(\.isPrepared).compactMap(\.core),
                state.entries.filter { !$0.isPrepared }.compactMap(\.core), state.isApart
            )
        }
        let changes = batch?.changes ?? [:]
        if let batch, !batch.isEmpty { for core in late { core.readAgain(Set(changes.keys).union(batch.passed.keys)) } }
        forgetTables(changes)
        var plans: [ContextPlan] = []
        for (_, group) in Dictionary(grouping: cores, by: { ObjectIdentifier($0.runtime) }) {
            let mayBeOld =
                isOld(group[0].runtime)
                || changes.values.contains { $0.gap == .schemaChanged }
            do {
                if isApart {
                    for core in group { plans += try await plansApart(of: [core], batch) }
                } else if mayBeOld {
                    plans += try await plansApart(of: group, batch)
                } else {
                    plans += try await ContextStep(group, batch).plans()
                }
            } catch  where cores.count > 1 && !isApart && !error.isPassing && !error.meansNewSchema {
                // The server refuses what some of them ask for: the step is run again, with each of them alone.
                state.withLock { $0.isApart = true }
                throw StepIsVoid()
            }
        }
        let found = plans
        state.withLock { ($0.plans, $0.isApart) = (found, false) }
    }

    /// Whether a model is older than the database's, which has another one for contexts with a role.
    private func isOld(_ model: SchemaRuntime) -> Bool {
        let known = reader.database.runtime
        return model !== known && (try? known.model(for: "")) !== model
    }

    /// The plans of contexts whose failure concerns no others: their model may no longer fit, or the server may refuse what a
    /// single one asks for.
    private func plansApart(of cores: [ContextCore], _ batch: ChangeBatch?) async throws -> [ContextPlan] {
        do {
            return try await reader.database.client.withTransaction { _ in
                try await ContextStep(cores, batch).plans()
            }
        } catch  where error.meansNewSchema || cores.count == 1 && !error.isPassing {
            for core in cores { core.following?.end(error.meansNewSchema ? error : nil) }
            state.withLock { state in
                state.entries.removeAll { entry in cores.contains { $0 === entry.core } }
            }
            if !error.meansNewSchema {
                reader.database.mistakes.warn("A context follows no changes until its next load: \(error)")
            }
            return []
        }
    }

    func commit(at cursor: ChangeCursor) {
        let plans = state.withLock { state in
            defer { state.plans = [] }
            return state.plans
        }
        for plan in plans { plan.commit() }
    }

    /// Tables that were changed, or whose changes were missing, may not be recorded any more.
    private func forgetTables(_ changes: [QualifiedName: TableChanges]) {
        if changes.values.contains(where: { $0.gap == .schemaChanged || $0.gap == .unrecorded }) {
            state.withLock { $0.tables = [] }
        }
    }

    func fail(_ error: any Error) {
        let cores = state.withLock { state in
            defer { (state.entries, state.plans) = ([], []) }
            return state.cores
        }
        for core in cores { core.following?.end() }
        guard error.meansNewSchema, let core = cores.first else {
            reader.database.mistakes.warn("Contexts follow no changes until their next load: \(error)")
            return
        }
        // With a model that no longer fits, which is found out for each context then.
        Task.detached {
            for core in cores.dropFirst() { self.enter(core) }
            try? await self.follow([], in: core)
        }
    }

    var wantsStep: Bool { state.withLock { $0.cores }.contains { $0.wantsStep } }
}

extension ContextCore {
    /// Whether something is to be asked for again, outside of transactions.
    fileprivate var wantsStep: Bool {
        guard let following, !isBesideTransaction else { return false }
        let stamp = noteStamp
        return following.withState { state in
            state.reloads > 0 || state.checkAt > .never || !state.doubtful.isEmpty || state.checked != stamp
        }
    }
}

extension Database {
    /// Brings changes to contexts with some settings; made when it is first needed.
    func contextFollower(for settings: SessionSettings) -> ContextFollower {
        if let known = contextFollowers.withLock({ $0[settings] as? ContextFollower }) { return known }
        // Made outside of the lock; another task's may be the one that stays.
        let made = ContextFollower(settings, changeReader)
        return contextFollowers.withLock { $0.first(or: made, for: settings) }
    }
}

extension ContextCore {
    /// Has the rows of some entities asked for again in the next step: what the context reads now may be older than the snapshot
    /// of a step that left it out.
    fileprivate func readAgain(_ names: Set<QualifiedName>) {
        let time = tick()
        following?.withState { state in
            for name in names {
                if let entity = runtime[name] { state.leftOut[entity] = time }
            }
            state.reloads += 1
        }
    }
}
