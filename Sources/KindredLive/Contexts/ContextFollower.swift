import Kindred
import KindredPostgres
import KindredSchema
import Synchronization

/// Brings changes to the contexts of a database that follow them: one subscriber for all contexts with equal settings.
///
/// A context enters before its first query, and is not held.
final class ContextFollower: ContextFeed, ChangeSubscriber {
    private struct Entry {
        weak var core: ContextCore?
        /// A time of the context before the next step's snapshot; nil if it did not follow when the step began: rows that it
        /// has read and written since may be newer than the snapshot.
        var preparedAt: ContextTime?
    }

    private struct Stop {
        weak var core: ContextCore?
        let error: any Error
    }

    private struct State {
        var entries: [Entry] = []
        /// The tables whose changes are recorded, by OID, as far as known.
        var tables: Set<UInt32> = []
        /// The same of a tenant with a schema of its own, by their names in the model.
        var tenantTables: Set<QualifiedName> = []
        var views = FollowedViews()
        /// The contexts for which the server does not answer in the time of a common step: it is asked for each alone.
        var slow: Set<ObjectIdentifier> = []
        /// The contexts that changes no longer reach, with the reasons.
        var stopped: [Stop] = []
        /// The columns that the tables lack, by model; of models that are not the present one, or whose statements have failed.
        var fits: [ObjectIdentifier: ModelFit] = [:]
        /// The model whose statements did not fit the tables in the last step.
        var outdated: SchemaRuntime?
        /// The findings of the last evaluation.
        var plans: [ContextPlan] = []

        var cores: [ContextCore] { entries.compactMap(\.core) }
    }

    let settings: SessionSettings
    private let tenant: TenantNames?
    private let reader: ChangeReader
    private let state = RankedMutex(State(), .leaf)
    private let slowQuestions: SlowQuestions<ObjectIdentifier>
    /// Entering and leaving, one after the other.
    private let gate = AsyncGate()

    init(_ settings: SessionSettings, _ reader: ChangeReader) {
        (self.settings, self.reader, slowQuestions) = (settings, reader, reader.slowQuestions())
        tenant = TenantNames(settings, in: reader.database)
    }

    // MARK: Contexts

    func follow(_ entities: [EntityRuntime], in core: ContextCore) async throws {
        reader.follow(core)
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

    /// Lets a context follow, with a time before any query that it will send.
    private func enter(_ core: ContextCore) {
        guard !state.withLock({ $0.entries.contains { $0.core === core } }) else { return }
        let isEmpty = !core.holdsObjects
        core.following?.withState { state in
            state.checked = ChangeFollowing.ChangeStamp()
            // Objects that it has made itself may have been changed since.
            if !isEmpty { state.reloads += 1 }
        }
        state.withLock { state in
            // After a failure another task may have been faster.
            if !state.entries.contains(where: { $0.core === core }) { state.entries.append(Entry(core: core)) }
        }
    }

    /// Throws unless the changes of the entities' tables are recorded, and of the tables behind views.
    private func requireRecorded(_ entities: [EntityRuntime]) async throws {
        for entity in entities { try entity.entity.requireRecordable() }
        let unknown = state.withLock { $0.views.unknown(among: entities) }
        if !unknown.isEmpty {
            let relations = try await relations(behind: Set(unknown.map(\.name)))
            try state.withLock { try $0.views.add(unknown, behind: relations) }
        }
        let entities = entities.filter(\.entity.hasRecords)
        if tenant != nil { return try await requireRecordedTenantTables(Set(entities.map(\.name))) }
        func missing() -> [EntityRuntime] {
            state.withLock { state in entities.filter { !state.tables.contains($0.entity.oid) } }
        }
        guard !missing().isEmpty else { return }
        // Detached: the caller may be in a transaction, or count its statements.
        let tables = try await Task.detached { [source = reader.source] in try await source.tables() }.value
        state.withLock { $0.tables = Set(tables.keys) }
        let names = missing().map(\.name)
        guard names.isEmpty else { throw KindredError(untracked: names) }
    }

    private func requireRecordedTenantTables(_ names: Set<QualifiedName>) async throws {
        let unknown = names.subtracting(state.withLock { $0.tenantTables })
        if unknown.isEmpty { return }
        _ = try await relations(behind: unknown).sources()
        state.withLock { $0.tenantTables.formUnion(unknown) }
    }

    /// The tables behind views; one statement.
    private func relations(behind views: Set<QualifiedName>) async throws -> LiveTables {
        // Detached as above.
        try await Task.detached { [database = reader.database, tenant] in
            try await database.requireHelperSchema()
            return try await LiveTables(behind: views, of: tenant, database.client)
        }.value
    }

    func contextEnded() {
        Task.detached { await self.leaveIfEmpty() }
    }

    private func leaveIfEmpty() async {
        await gate.withLock {
            let (ended, isLast) = state.withLock { state in
                state.entries.removeAll { $0.core == nil }
                let ended = state.slow.subtracting(state.cores.map { ObjectIdentifier($0) })
                state.slow.subtract(ended)
                return (ended, state.entries.isEmpty)
            }
            for context in ended { slowQuestions.end(context) }
            if isLast, reader.tells(self) { reader.remove(self) }
        }
    }

    func askForStep() { reader.askForStep() }

    // MARK: Steps

    func prepare() {
        // The contexts are returned, as none may be released under the lock.
        _ = state.withLock { state in
            state.entries.indices.compactMap { place -> ContextCore? in
                let core = state.entries[place].core
                if let core { state.entries[place].preparedAt = core.beginReading() }
                return core
            }
        }
    }

    func evaluate(_ batch: CommittedBatch?, at cursor: ChangeCursor) async throws {
        let views = state.withLock { $0.views }
        let batch = (batch?.named(for: tenant)).map(views.adding)
        let changes = batch?.changes ?? [:]
        let entries = state.withLock { state in
            state.entries.compactMap { entry in
                entry.core.map { core in
                    let isSlow = state.slow.contains(ObjectIdentifier(core))
                    return (core: core, askedAt: isSlow ? nil : entry.preparedAt, isSlow: isSlow)
                }
            }
        }
        var plans: [ContextPlan] = []
        for (core, askedAt, isSlow) in entries {
            if let askedAt {
                if let plan = ContextPlan(core, batch ?? CommittedBatch(), askedAt: askedAt) { plans.append(plan) }
            } else if let batch, !batch.isEmpty {
                core.readAgain(batch)
                if isSlow { askAlone(core) }
            }
        }
        forgetTables(changes)
        var asked: [ContextPlan] = []
        for (model, group) in Dictionary(grouping: plans, by: { ObjectIdentifier($0.core.runtime) }) {
            asked += try await ask(group, after: batch, fitting: state.withLock { $0.fits[model] })
        }
        let found = asked
        state.withLock { $0.plans = found }
    }

    /// The plans of contexts with one model, with the answers to their questions.
    ///
    /// Throws `ModelIsOutdated` where the tables have changed. Where the server refuses questions of some contexts, each of
    /// them is asked for alone: its failure concerns no other context.
    private func ask(
        _ plans: [ContextPlan], after batch: CommittedBatch?, fitting fit: ModelFit?
    ) async throws -> [ContextPlan] {
        let plans = plans.filter { plan in
            guard let error = fit?.refusal(of: plan.core) else { return true }
            stop(plan.core, error, isForGood: true)
            return false
        }
        guard let core = plans.first?.core else { return [] }
        switch try await reader.ask({ try await ContextStep(of: core, plans, fitting: fit).plans() }) {
        case .success(let plans): return plans
        case .failure(let error) where error.meansOutdatedModel && fit?.isExhausted != true:
            state.withLock { $0.outdated = core.runtime }
            throw ModelIsOutdated()
        case .failure where plans.count > 1:
            var asked: [ContextPlan] = []
            for plan in plans { asked += try await ask([plan], after: batch, fitting: fit) }
            return asked
        case .failure(let error):
            if error.isPassing {
                core.readAgain(batch)
                askAlone(core)
            } else {
                stop(core, error, isForGood: error.meansOutdatedModel)
            }
            return []
        }
    }

    // MARK: Slow contexts

    /// Asks for a context apart from the common step, which does not wait for it.
    private func askAlone(_ core: ContextCore) {
        state.withLock { _ = $0.slow.insert(ObjectIdentifier(core)) }
        slowQuestions.ask(ObjectIdentifier(core)) { [weak self, weak core] in
            if let self, let core { try await self.answerAlone(core) }
        } orFail: { [weak self, weak core] error in
            if let self, let core { self.stop(core, error, isForGood: error.meansOutdatedModel) }
        }
    }

    private func answerAlone(_ core: ContextCore) async throws {
        let fit = state.withLock { $0.fits[ObjectIdentifier(core.runtime)] }
        let askedAt = core.beginReading()
        do {
            let found = try await reader.askAlone("a context that tracks", with: settings) {
                guard let plan = ContextPlan(core, CommittedBatch(), askedAt: askedAt) else { return [ContextPlan]() }
                return try await ContextStep(of: core, [plan], fitting: fit).plans()
            }
            for plan in found.answer { try plan.commit() }
            if found.isQuick { state.withLock { _ = $0.slow.remove(ObjectIdentifier(core)) } }
        } catch  where error.meansOutdatedModel && fit?.isExhausted != true {
            // The next common step finds out how the model fits.
            endSlow(core)
            askForStep()
        }
    }

    /// Has a context asked for in common steps again.
    private func endSlow(_ core: ContextCore) {
        let wasSlow = state.withLock { $0.slow.remove(ObjectIdentifier(core)) != nil }
        if wasSlow { slowQuestions.end(ObjectIdentifier(core)) }
    }

    /// Returns when the contexts that are asked for alone have their answers.
    func catchUp() async throws { try await slowQuestions.catchUp() }

    // MARK: Models

    func adapt(to tables: PresentTables, hasFailed: Bool) async throws {
        try await adaptViews()
        // Held until the end, as none may be released under the lock.
        let cores = state.withLock { $0.cores }
        let models = Dictionary(cores.map { (ObjectIdentifier($0.runtime), $0.runtime) }) { first, _ in first }
        let types = reader.database.types
        state.withLock { state in
            let outdated = hasFailed ? state.outdated : nil
            state.outdated = nil
            state.fits = models.filter { $1 !== tables.model || $1 === outdated }.mapValues { model in
                ModelFit(
                    model, in: tables, after: state.fits[ObjectIdentifier(model)], hasFailed: model === outdated, types)
            }
        }
        withExtendedLifetime(cores) {}
    }

    /// Looks for the tables that are behind the views by now.
    private func adaptViews() async throws {
        let names = state.withLock { $0.views.names }
        if names.isEmpty { return }
        let relations = try await relations(behind: names)
        let lost = state.withLock { $0.views.update(by: relations) }
        for (view, error) in lost {
            for core in state.withLock({ $0.cores }) {
                let isConcerned = core.following?.followed.contains { $0.name == view } ?? false
                if isConcerned { stop(core, error, isForGood: false) }
            }
        }
    }

    func commit(at cursor: ChangeCursor) {
        let plans = state.withLock { state in
            defer { state.plans = [] }
            state.fits = state.fits.mapValues { $0.succeeded }
            return state.plans
        }
        for plan in plans {
            do { try plan.commit() } catch { stop(plan.core, error, isForGood: false) }
        }
    }

    /// Tables that were changed, or whose changes were missing, may no longer be recorded.
    private func forgetTables(_ changes: [QualifiedName: TableChanges]) {
        if changes.values.contains(where: { $0.gap == .schemaChanged || $0.gap == .unrecorded }) {
            state.withLock { ($0.tables, $0.tenantTables) = ([], []) }
        }
    }

    func fail(_ error: any Error) {
        for core in state.withLock({ $0.cores }) { stop(core, error, isForGood: false) }
        state.withLock { $0.plans = [] }
    }

    /// Ends the following of a context until its next load; everything loaded is stale.
    ///
    /// - Parameter isForGood: whether its loads fail, too.
    private func stop(_ core: ContextCore, _ error: any Error, isForGood: Bool) {
        state.withLock { state in
            state.entries.removeAll { $0.core === core }
            state.stopped.removeAll { $0.core == nil || $0.core === core }
            state.stopped.append(Stop(core: core, error: error))
        }
        endSlow(core)
        core.following?.end(isForGood ? error : nil)
        // The program knows that it has closed the database, and may still read loaded objects.
        if (error as? PostgresError)?.code == .closed { return }
        core.loseEverything()
        reader.database.mistakes.warn(
            "A context follows no changes\(isForGood ? "" : " until its next load"): \(error)")
    }

    /// Why changes no longer reach a context with loaded objects; nil if they reach all contexts.
    var failure: (any Error)? {
        let stopped = state.withLock { state in
            state.stopped.removeAll { $0.core == nil }
            return state.stopped
        }
        return stopped.first { stop in
            guard let core = stop.core, (stop.error as? PostgresError)?.code != .closed else { return false }
            return !isTold(core) && core.holdsObjects
        }?.error
    }

    var wantsStep: Bool {
        let cores = state.withLock { state in
            state.cores.filter { !state.slow.contains(ObjectIdentifier($0)) }
        }
        return cores.contains { $0.wantsStep }
    }
}

extension ContextCore {
    /// Whether something is to be asked for again, outside of transactions.
    fileprivate var wantsStep: Bool {
        guard let following, !isBesideTransaction else { return false }
        let stamp = changeStamp
        return following.withState { state in
            state.reloads > 0 || !state.doubtful.isEmpty || state.checked != stamp
        }
    }
}

extension Database {
    /// Brings changes to contexts with some settings; made when it is first needed.
    func contextFollower(for settings: SessionSettings) -> ContextFollower {
        if let known = live.contextFollowers.withLock({ $0[settings] as? ContextFollower }) { return known }
        // Made outside of the lock; if another task was quicker, its follower stays.
        let made = ContextFollower(settings, changeReader)
        return live.contextFollowers.withLock { $0.first(or: made, for: settings) }
    }
}

extension ContextCore {
    /// Has everything asked for again in a later step: rows that the context reads now may be older than the snapshot of a
    /// step that left it out.
    fileprivate func readAgain(_ batch: CommittedBatch?) {
        let time = tick()
        let names = Set((batch?.changes ?? [:]).keys).union((batch?.passed ?? [:]).keys)
        following?.withState { state in
            for name in names {
                if let entity = runtime[name] { state.leftOut[entity] = time }
            }
            state.reloads += 1
        }
    }
}
