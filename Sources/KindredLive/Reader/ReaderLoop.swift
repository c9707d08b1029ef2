import Kindred
import KindredPostgres
import KindredSchema
import Synchronization

/// The task of a change reader: step by step, until no subscriber is left.
struct ReaderLoop {
    private let reader: ChangeReader
    private let database: Database
    private let source: any ChangeSource
    private let listener: ReaderListener
    private var pace = ReaderPace()
    private var cursor: ChangeCursor?
    /// Why the last cursor was of no use: followers are told that everything may have changed.
    private var loss: Tracking.Gap?
    /// The subscribers whose evaluation failed on the server.
    private var retries = StepRetries<UInt64>()
    /// Tables that nothing follows and that were changed themselves, until the model was read again.
    private var changedTables: Set<UInt32> = []
    /// Whether tables may have changed that no record tells of, until the model was read again.
    private var isModelInDoubt = false
    /// The model that was told last, and the earliest time to read it again.
    private var told: SchemaRuntime
    private var modelReading = MonotonicTime.now
    /// The transactions of the next step that have changed tables, and for which the model was read.
    private var adapted: Set<Int64> = []
    /// Entities that were found to be changed and have no record that says so.
    private var unrecorded: Set<QualifiedName> = []
    /// Says that notifications are wanted, and until when.
    private var sleep: (token: Int64, end: MonotonicTime)?
    /// When a server that takes no writes is told again that notifications are wanted.
    private var mayBeToldAt = MonotonicTime.now
    /// Whether a notification led to the last step, which found nothing.
    private var wasWoken = false
    /// The notifications in a row that led to steps without a change.
    private var wakesInVain = 0
    private var attendance: MonotonicTime
    private var check = MonotonicTime.now + .seconds(10)

    static func run(for reader: ChangeReader) async {
        var loop = ReaderLoop(reader)
        await loop.run()
        loop.listener.end()
        await loop.wake()
        reader.database.live.trackingMetrics.withLock { ($0.subscribers, $0.isListening) = (0, false) }
    }

    private init(_ reader: ChangeReader) {
        self.reader = reader
        database = reader.database
        source = reader.source
        told = reader.model
        attendance = .now + reader.source.attendance
        listener = ReaderListener(reader.signal, warn: { [database] in database.warnOfPolling($0) }) { [source] in
            try await source.notifications()
        }
    }

    private mutating func run() async {
        while let round = reader.nextRound() {
            let start = MonotonicTime.now
            do {
                // On one connection: a session that is there after the flush proves that no crash came before it.
                let hasChanges = try await database.client.withConnection { _ in try await step(round) }
                await lookAfter()
                try await rest(hasChanges, since: start)
            } catch {
                guard await recover(from: error) else {
                    return reader.failAll(await Tracking.explained(error, database.client))
                }
            }
        }
    }

    // MARK: A step

    private struct Step {
        var reading: ChangeReading
        var evaluated: [ChangeReader.Entry] = []
    }

    /// Returns whether something has changed.
    private mutating func step(_ round: ChangeReader.Round) async throws -> Bool {
        let start: ChangeCursor
        if let cursor { start = cursor } else { start = try await source.begin() }
        cursor = start
        for entry in round.entries { entry.subscriber.prepare() }
        var failed: ChangeReader.Entry?
        let step: Step
        do {
            step = try await database.client.withTransaction(isolation: .repeatableRead, readOnly: true) { _ in
                var step = Step(reading: try await reader.read(from: start))
                if step.reading.refusal != nil { return step }
                guard step.reading.definingTransactions.isSubset(of: adapted) else {
                    throw TablesHaveChanged(
                        tables: step.reading.changedTables, transactions: step.reading.definingTransactions)
                }
                if let loss { step.reading.lose(loss, reader.interpreter.names) }
                for name in unrecorded { step.reading.batch.changes[name] = TableChanges(gap: .schemaChanged) }
                let (at, batch) = (step.reading.cursor, step.reading.batch)
                let entries = round.entries.filter {
                    $0.isAtItsFirstStep || !batch.isEmpty || $0.subscriber.wantsStep
                }
                if entries.contains(where: \.subscriber.asks) { try await reader.limitQuestions() }
                for entry in entries {
                    failed = entry
                    try await evaluate(entry, batch, at: at)
                    failed = nil
                    step.evaluated.append(entry)
                }
                return step
            }
        } catch is ModelIsOutdated {
            try await adapt(to: [], in: round, failed)
            return true
        } catch let changed as TablesHaveChanged {
            try await adapt(to: changed.tables, in: round)
            adapted = changed.transactions
            // Triggers may have been disabled or dropped.
            check = .now
            return true
        } catch let unknown as UnknownTables {
            try await adapt(to: unknown.tables, in: round)
            reader.leaveOut(unknown.tables)
            return true
        } catch {
            guard let failed, !error.isPassing || error.isOfStatement, !retries.mayRepeat(failed.id, after: error)
            else { throw error }
            retries.end(failed.id)
            reader.fail(failed, error)
            return true
        }
        for entry in step.evaluated { retries.end(entry.id) }
        if let refusal = step.reading.refusal {
            (cursor, loss) = (nil, refusal)
            return true
        }
        if step.reading.isUnsafe || round.entries.contains(where: \.isAtItsFirstStep) { try await source.flush() }
        for entry in step.evaluated { entry.subscriber.commit(at: step.reading.cursor) }
        if loss != nil { isModelInDoubt = true }
        if adapted.isEmpty { changedTables.formUnion(step.reading.changedTables) }
        (cursor, loss, adapted, unrecorded) = (step.reading.cursor, nil, [], [])
        count(step, round)
        reader.finish(round, at: step.reading.cursor)
        // Records count even if no subscriber is told of them: they may come as fast as other records.
        return step.reading.records > 0 || !step.reading.batch.isEmpty
    }

    /// Lets a subscriber send its questions; a subscriber with settings does so in a savepoint, whose end takes the
    /// settings back.
    private func evaluate(_ entry: ChangeReader.Entry, _ batch: CommittedBatch, at cursor: ChangeCursor) async throws {
        let (subscriber, batch) = (entry.subscriber, entry.isAtItsFirstStep ? nil : batch)
        if subscriber.settings.isEmpty { return try await subscriber.evaluate(batch, at: cursor) }
        try await database.client.withOwnSettings { _ in try await subscriber.evaluate(batch, at: cursor) }
    }

    private func count(_ step: Step, _ round: ChangeReader.Round) {
        let reading = step.reading
        database.live.trackingMetrics.withLock { metrics in
            metrics.subscribers = round.entries.count
            metrics.isListening = listener.isListening
            metrics.readings += 1
            metrics.records += reading.records
            (metrics.backlog, metrics.oldestRecord) = (reading.records, reading.age)
            for gap in Set(reading.batch.changes.values.compactMap(\.gap)) {
                metrics.gaps[gap.rawValue, default: 0] += 1
            }
        }
        for (name, changes) in reading.batch.changes {
            guard let gap = changes.gap else { continue }
            database.mistakes.note(
                "changes are not named row by row", ["entity": "\(name)", "reason": gap.rawValue])
        }
    }

    // MARK: Between steps

    /// Keeps records coming, and looks for tables that have changed or are not recorded.
    private mutating func lookAfter() async {
        let now = MonotonicTime.now
        do {
            if now >= attendance {
                attendance = now + source.attendance
                try await source.attend()
            }
            if now >= check {
                check = now + .seconds(10)
                let found = try await source.check()
                // Where no event trigger tells of DDL, the catalog is read again.
                if !found.tellsDefinitions { isModelInDoubt = true }
                // As long as changes are missing it is told again and again.
                if found.tellsDefinitions, !found.isMissing { check = now + .seconds(60) }
            }
            if isModelInDoubt || !changedTables.isEmpty, now >= modelReading {
                // The next attempt after a failure waits.
                modelReading = now + .seconds(10)
                let tables = changedTables
                var isConcerned = isModelInDoubt
                if !isConcerned { isConcerned = try await concern(tables) }
                (changedTables, isModelInDoubt) = ([], false)
                do {
                    if isConcerned { try await lookAgain(at: tables) }
                } catch {
                    (changedTables, isModelInDoubt) = (tables, true)
                    throw error
                }
                if !isModelInDoubt { modelReading = now }
            }
        } catch {
            // A lost connection is noticed by the next step.
            database.mistakes.note("change tracking could not be looked after", ["error": "\(error)"])
        }
    }

    private mutating func rest(_ hasChanges: Bool, since start: MonotonicTime) async throws {
        // The step before may have found what a notification tells of.
        wakesInVain = hasChanges ? 0 : wasWoken ? wakesInVain + 1 : wakesInVain
        wasWoken = false
        if hasChanges || reader.isAsked {
            await wake()
            let pause = pace.afterChanges(MonotonicTime.now.since(start))
            if pause > .zero { await reader.signal.wait(pause, hearsAll: false) }
            return
        }
        if let sleep, sleep.end < .now { self.sleep = nil }
        if source.notifies { listener.start() }
        if sleep == nil, listener.isListening, mayBeToldAt <= .now {
            do {
                // One more reading before it sleeps.
                sleep = (try await source.sleep(for: .seconds(60)), .now + .seconds(45))
                return
            } catch  where error.isOfReadOnlyServer {
                // Polls meanwhile: nothing changes there, unless the address leads to another server.
                mayBeToldAt = .now + .seconds(5)
            }
        }
        let pause = pace.afterNothing(isAsleep: sleep != nil)
        wasWoken = await reader.signal.wait(pause, hearsAll: true)
        guard wasWoken else { return wakesInVain = 0 }
        database.live.trackingMetrics.withLock { $0.wakeUps += 1 }
        // Any role may notify: notifications without a change cause 25 steps a second at most.
        let rest = ReaderPace.shortestInVain - MonotonicTime.now.since(start)
        if wakesInVain > 1, rest > .zero { await reader.signal.wait(rest, hearsAll: false) }
    }

    /// Says that no notification is wanted.
    private mutating func wake() async {
        guard let token = sleep?.token else { return }
        sleep = nil
        // If it fails, writers notify for some seconds more.
        try? await source.wake(token)
    }

    /// Pauses before the step is run again; false if it never succeeds.
    private mutating func recover(from error: any Error) async -> Bool {
        database.live.trackingMetrics.withLock { $0.retries += 1 }
        // A server that crashed may have forgotten it.
        sleep = nil
        if error.meansNewSchema, !pace.keepsFailing {
            _ = try? await database.readModel()
            isModelInDoubt = true
        } else if !error.isPassing, !error.isOfReadOnlyServer {
            return false
        }
        if let error = error as? PostgresError {
            // A turn of the outboxes that was rolled back is mended by a rotation; to the regular one no step would come.
            if error.sqlState == .serializationFailure { try? await source.attend() }
            // The waiting tasks may hold the connections themselves.
            if error.code == .poolTimeout { reader.failCatchUps(error) }
        }
        database.mistakes.note("reading changes failed, and is tried again", ["error": "\(error)"])
        let keptFailing = pace.keepsFailing
        let pause = pace.afterFailure()
        if pace.keepsFailing, !keptFailing {
            database.mistakes.warn("Changes could not be read for some time; it is tried again and again: \(error)")
        }
        await reader.signal.wait(pause, hearsAll: false)
        return true
    }

    /// Reads the model again, and has all subscribers adapt to it, before a step tells them that tables have changed.
    ///
    /// - Parameters:
    ///   - tables: tables that are known to have changed; other tables are told if they differ.
    ///   - failed: the subscriber whose statements did not fit.
    private mutating func adapt(
        to tables: Set<UInt32>, in round: ChangeReader.Round, _ failed: ChangeReader.Entry? = nil
    ) async throws {
        guard let present = try await readTables(tables) else { return }
        for entry in round.entries {
            try await adapt(entry.subscriber, to: present, after: tables, hasFailed: entry.id == failed?.id)
        }
    }

    /// Has a subscriber go on by the present tables, of which a tenant with a schema of its own has others than the database itself.
    private func adapt(
        _ subscriber: any ChangeSubscriber, to present: PresentTables, after tables: Set<UInt32>, hasFailed: Bool
    ) async throws {
        var own = present
        if let tenant = TenantNames(subscriber.settings, in: database) {
            guard hasFailed || reader.interpreter.concern(tenant, tables) else { return }
            do {
                let model = try await database.model(ofTenant: tenant.schema)
                reader.interpreter.follow(tenant, model)
                own = PresentTables(model: model, refusal: nil)
            } catch let error as KindredError where error.code == .notFound {
                // The schema is gone, and the present tables are none of it.
            } catch let error as KindredError where [.classMismatch, .invalidRequest].contains(error.code) {
                database.mistakes.warn("The model of a tenant was not replaced after a change of the schema: \(error)")
                return
            }
        }
        try await subscriber.adapt(to: own, hasFailed: hasFailed)
    }

    /// Whether the model may have changed with some tables: it has one of them, or one of them concerns another table.
    ///
    /// With 1,000 tables the model takes 30 times as long to read as this answer.
    private func concern(_ tables: Set<UInt32>) async throws -> Bool {
        if reader.subscribers.contains(where: \.hearsOfUnrelatedTables) { return true }
        let known = reader.interpreter.knownTables
        if !known.isDisjoint(with: tables) { return true }
        let answer = try await database.client.execute(
            own: TrackingStatements.concern(Array(tables), known: Array(known)))
        return try answer.first?.decode(0, as: Bool.self) ?? true
    }

    /// Reads the model again where no record tells that tables which are followed have changed.
    private mutating func lookAgain(at tables: Set<UInt32>) async throws {
        let former = told
        guard let present = try await readTables(tables) else { return }
        let changed = former.entities.filter { entity in
            present.model[entity.name].map { !$0.entity.hasSameRows(as: entity.entity) } ?? true
        }
        if changed.isEmpty { return }
        for subscriber in reader.subscribers {
            try await adapt(subscriber, to: present, after: tables, hasFailed: false)
        }
        unrecorded.formUnion(changed.map(\.name))
        reader.askForStep()
    }

    /// Reads the model again, and tells its changes; nil where annotations are wrong and the former model stays.
    private mutating func readTables(_ tables: Set<UInt32>) async throws -> PresentTables? {
        do {
            let (model, refusal) = try await database.readPresentModel(after: told)
            if let refusal {
                database.mistakes.warn("The model was not replaced after a change of the schema: \(refusal)")
            }
            let present = PresentTables(model: model, refusal: refusal)
            reader.adapt(to: present)
            reader.tellSchemaChanges(Self.changes(from: told.schema, to: model.schema, tables: tables))
            told = model
            return present
        } catch let error where error is SchemaError || (error as? KindredError)?.code == .classMismatch {
            // The old model stays, as for a call of the program, and is read again later.
            (changedTables, isModelInDoubt) = (changedTables.union(tables), true)
            modelReading = .now + .seconds(10)
            database.mistakes.warn("The model was not replaced after a change of the schema: \(error)")
            return nil
        }
    }

    private static func changes(
        from before: DatabaseSchema, to after: DatabaseSchema, tables: Set<UInt32>
    ) -> Set<QualifiedName> {
        var old = Dictionary(before.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var names: Set<QualifiedName> = []
        for entity in after.entities {
            let known = old.removeValue(forKey: entity.name)
            if known != entity || tables.contains(entity.oid) { names.insert(entity.name) }
        }
        return names.union(old.keys)
    }
}

/// Thrown in a step whose records tell that tables have changed which are known: the model is read first.
private struct TablesHaveChanged: Error {
    let tables: Set<UInt32>
    let transactions: Set<Int64>
}

extension Entity {
    /// Whether the rows of another model's entity of the same name are the same, and look the same.
    fileprivate func hasSameRows(as other: Entity) -> Bool {
        oid == other.oid && kind == other.kind && attributes == other.attributes && primaryKey == other.primaryKey
            && filter == other.filter && rowTables == other.rowTables && obstacles == other.obstacles
            && hasActivePolicies == other.hasActivePolicies
    }
}

extension ChangeReading {
    /// Says of all tables that rows have changed which are not named.
    fileprivate mutating func lose(_ gap: Tracking.Gap, _ tables: [QualifiedName]) {
        for name in tables { batch.changes[name] = TableChanges(gap: gap) }
    }
}

extension Error {
    /// The error of the connection or the server, if it is one or has one below it.
    private var ofServer: PostgresError? { self as? PostgresError ?? (self as? KindredError)?.underlying }

    /// Whether the same may succeed later: the connection was lost, the server restarts or is busy.
    var isPassing: Bool {
        if self is SnapshotIsOutdated { return true }
        // A reader that has read a primary waits until the standby has taken its place.
        if (self as? KindredError)?.code == .trackingOnStandby { return true }
        guard let error = ofServer else { return false }
        switch error.code {
        case .connectionLost, .connectionFailed, .timeout, .poolTimeout, .poolOverloaded, .tooManyOpenFiles,
            .commitUnknown, .transactionBroken, .passwordUnavailable, .twoPrimaries:
            return true
        default: break
        }
        guard let state = error.sqlState else { return false }
        // A pooler's other session does not know a prepared statement; the client prepares it anew, or prepares no
        // more. A step whose savepoint could not be ended in time is made again.
        return state == .lockNotAvailable || state == .inFailedTransaction || state == .idleInTransactionTimeout
            || state == .invalidStatementName
            || [.connectionException, .transactionRollback, .insufficientResources, .operatorIntervention]
                .contains(state.class)
    }

    /// Whether the server refused a statement or stopped it, and not the session.
    var isOfStatement: Bool {
        guard let error = ofServer else { return false }
        if error.code == .timeout { return true }
        guard error.code == .server, let state = error.sqlState, state != .invalidStatementName,
            state != .inFailedTransaction
        else { return false }
        return !state.rawValue.hasPrefix("57P") && !state.rawValue.hasPrefix("08")
    }

    /// Whether the server takes no writes, as before another server takes its place.
    var isOfReadOnlyServer: Bool { ofServer?.sqlState == .readOnlyTransaction }

    /// Whether a lock could not be had in time.
    var isOfLock: Bool { ofServer?.sqlState == .lockNotAvailable }

    /// Whether a table, column, type or function is gone.
    var meansNewSchema: Bool {
        if (self as? KindredError)?.code == .schemaChanged { return true }
        guard let state = ofServer?.sqlState else { return false }
        // The server answers with an internal error if an object was dropped while a statement used it.
        return [.undefinedColumn, .undefinedTable, .undefinedObject, .featureNotSupported, .internalError]
            .contains(state)
    }
}
