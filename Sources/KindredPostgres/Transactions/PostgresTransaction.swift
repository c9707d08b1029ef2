import DequeModule
import Synchronization

/// The client that began a transaction.
protocol TransactionClient: AnyObject, Sendable {
    /// Runs a statement in a scope of the client.
    func query(
        _ sql: SQL, in scope: PostgresTransaction, timeout: Duration?, at place: SourcePlace
    ) async throws -> QueryResult

    /// Reports statements of transaction control to observers.
    func observeControl(_ statements: [Statement], rows: Int)
}

/// A transaction or savepoint, bound to the task that runs its closure and to that task's children.
///
/// BEGIN and SAVEPOINT are sent with the first statement, so a scope without statements costs nothing.
/// Statements of a scope wait while a sibling task has a savepoint open in it, so that they never run inside that.
public final class PostgresTransaction: Sendable, RequestScope, OpenedScope {
    @TaskLocal static var current: PostgresTransaction?

    let client: any TransactionClient
    let connection: PooledConnection
    /// The scope around it, of the same client or of another.
    let outer: PostgresTransaction?
    /// 0 for the transaction itself.
    let depth: Int
    /// BEGIN or SAVEPOINT.
    private let opening: Statement
    /// The number of the transaction, if it is tracked.
    let tracked: TrackedID?
    /// The positions that the transaction raises at its end.
    let positions: SharedPositions
    let state = RankedMutex(TransactionState(), .transactionScope)
    private let isWriting = Atomic(false)
    private let sent = Atomic(0)
    /// Whether a savepoint may run with other settings than the transaction around it.
    let mayHaveOwnSettings: Bool
    /// Whether the transaction runs with settings; of the outermost scope, and of savepoints that may have their own.
    let hasSettings = Atomic(false)

    /// The task's own transaction on a client.
    static func current(of client: any TransactionClient) -> PostgresTransaction? {
        var scope = current
        while let found = scope, found.client !== client { scope = found.outer }
        return scope
    }

    init(
        client: any TransactionClient,
        connection: PooledConnection,
        outer: PostgresTransaction?,
        depth: Int,
        opening: String,
        tracked: TrackedID?,
        positions: SharedPositions,
        mayHaveOwnSettings: Bool = false
    ) {
        self.mayHaveOwnSettings = mayHaveOwnSettings
        self.client = client
        self.connection = connection
        self.outer = outer
        self.depth = depth
        self.tracked = tracked
        self.positions = positions
        self.opening = Statement(text: StatementText(opening), resultFormat: .binary)
    }

    /// Runs a statement inside.
    ///
    /// Throws `PostgresError` `.transactionEnded` after the scope's end.
    ///
    /// - Parameters:
    ///   - sql: one statement.
    ///   - timeout: after which the statement is cancelled, counted from the call; nil takes the configuration's.
    ///   - fileID: the file of the call, for errors and observers.
    ///   - line: the line of the call.
    @discardableResult
    public func query(_ sql: SQL, timeout: Duration? = nil, fileID: String = #fileID, line: Int = #line) async throws
        -> QueryResult
    {
        let place = SourcePlace(fileID: fileID, line: line)
        // A task outside of the closure uses this scope too.
        return try await client.query(sql, in: innermost, timeout: timeout, at: place)
    }

    /// Whether a statement that may write rows was sent in this scope, or in a savepoint inside it.
    ///
    /// SQL of the program's own may, because a function that it calls may write.
    package var mayHaveWritten: Bool { isWriting.load(ordering: .acquiring) }

    /// The number of statements that were sent in this scope, without transaction control and savepoints inside.
    package var statementCount: Int { sent.load(ordering: .relaxed) }

    /// Notes that a statement that may write rows is about to be sent.
    private func noteWriting() {
        var scope: PostgresTransaction? = self
        while let found = scope {
            if found.client === client { found.isWriting.store(true, ordering: .releasing) }
            scope = found.outer
        }
    }

    /// The task's savepoint within this scope, or this scope.
    var innermost: PostgresTransaction {
        guard let current = Self.current(of: client) else { return self }
        var scope: PostgresTransaction? = current
        while let found = scope, found !== self { scope = found.outer }
        return scope == nil ? self : current
    }

    /// Runs statements under one Sync in this scope.
    func run(
        _ statements: [Statement], _ traits: Request.Traits, by deadline: MonotonicTime
    ) async throws -> [QueryResult] {
        var traits = traits
        traits.mayRepeat = false
        traits.isInTransaction = true
        if !traits.isDescription { sent.wrappingAdd(statements.count, ordering: .relaxed) }
        let question = tracked?.question(after: statements, traits) ?? []
        do {
            var results = try await connection.run(
                question.isEmpty ? statements : statements + question, traits: traits, by: deadline, scope: self)
            if !question.isEmpty {
                client.observeControl(question, rows: 1)
                tracked?.learn(from: results.popLast())
            }
            return results
        } catch {
            throw failed(named(error), statements.first?.text.text)
        }
    }

    /// Names the feature that the server lacks, where it has refused a statement of the library's own.
    private func named(_ error: any Error) -> any Error {
        guard let error = error as? PostgresError, let statement = error.statement else { return error }
        if statement.hasPrefix("SAVEPOINT kindred_") { return error.lacking(.savepoints) }
        return statement == PostgresTransactionID.question.text.text ? error.lacking(.positions) : error
    }

    /// Notes that a request has failed; returns the caller's error.
    func failed(_ error: any Error, _ statement: String?) -> any Error {
        let error = state.withLock { $0.failed(error, statement) }
        if let broken = error as? PostgresError, broken.code == .transactionBroken {
            // Outer scopes on the same connection are broken, too.
            var scope = outer
            while let found = scope {
                if found.connection === connection { found.state.withLock { _ = $0.failed(broken, nil) } }
                scope = found.outer
            }
        }
        return error
    }

    /// Refuses statements that begin or end transactions or savepoints: rows would be committed or rolled back without the
    /// scope, and objects in memory, noticing.
    static func admit(_ statements: [Statement]) throws(PostgresError) {
        guard let control = statements.first(where: { $0.text.effect == .transactionControl }) else { return }
        throw PostgresError(
            .invalidParameter,
            """
            BEGIN, COMMIT, ROLLBACK, savepoints and their like cannot be sent inside a transaction: return from its closure to \
            commit, throw to roll back, and nest a transaction for a savepoint
            """,
            statement: control.text.text)
    }

    // MARK: Order of requests

    /// Sends a request, with the statements that open the scope before it; queues it while a savepoint is open inside.
    func send(_ request: Request, by deadline: MonotonicTime) {
        if !mayHaveWritten, request.mayWriteRows { noteWriting() }
        let alarm: Alarm? = perform { state, effects in
            switch state.admission {
            case .wait:
                let alarm = Alarm(at: deadline) { [weak self, id = request.id] in
                    self?.refuseWaiting(id, request.stoppedUnsent(.timedOut))
                }
                state.waiting.append(.request(request, deadline, alarm))
                return alarm
            case .refuse: effects.refused.append(.request(request, deadline, nil))
            case .send: submit(request, by: deadline, in: &state, &effects)
            }
            return nil
        }
        alarm?.set()
    }

    /// Performs a state change's effects after the mutex is released.
    ///
    /// Cancellation handlers take the mutex, so no task is resumed and no connection is used while it is held.
    private struct Effects {
        var openings: [Statement] = []
        var isSending = false
        var refused: [TransactionState.Waiting] = []
        var refusal = TransactionState.ended
        var turns: [CheckedContinuation<Void, any Error>] = []
    }

    private func perform<T: Sendable>(_ body: (inout TransactionState, inout Effects) -> T) -> T {
        var effects = Effects()
        let result = state.withLock { state in
            let result = body(&state, &effects)
            if !effects.refused.isEmpty, let broken = state.brokenBy { effects.refusal = broken }
            return result
        }
        for opening in effects.openings { client.observeControl([opening], rows: 0) }
        if effects.isSending { connection.sendEnqueued() }
        for waiting in effects.refused { waiting.refuse(effects.refusal) }
        for turn in effects.turns { turn.resume() }
        return result
    }

    /// Enqueues a request under the scope's mutex, so that no other statement gets between the opening and it.
    private func submit(
        _ request: Request, by deadline: MonotonicTime, in state: inout TransactionState, _ effects: inout Effects
    ) {
        var openings = takeOpening(&state)
        effects.openings += openings
        effects.isSending = true
        let settings = takeSettings(&state)
        if !settings.isEmpty {
            openings += settings
            if request.script != nil {
                // A script takes no parameters. It is refused where the transaction has not begun before it.
                let first = Request(
                    statements: [], traits: Request.Traits(isInTransaction: true),
                    onAnswer: { [weak self, text = request.script] answer in
                        // Nothing else tells the reason: the script only finds a failed transaction.
                        if case .failure(let error) = answer { _ = self?.failed(error, text) }
                    })
                connection.enqueue(Request(first, after: openings, of: self), by: deadline)
                openings = []
            }
        }
        connection.enqueue(openings.isEmpty ? request : Request(request, after: openings, of: self), by: deadline)
    }

    /// The unsent statements that open this scope and the outer scopes.
    private func takeOpening(_ state: inout TransactionState) -> [Statement] {
        guard state.opening == .unsent else { return [] }
        state.opening = .sent
        var statements: [Statement] = []
        // Lock order: from the inner scope to the outer one.
        if depth > 0, let outer { statements = outer.state.withLock { outer.takeOpening(&$0) } }
        statements.append(opening)
        return statements
    }

    /// The request that opens this scope was answered, or was not sent: `count` of its `total` openings took effect.
    ///
    /// The openings of outer scopes come first, then this scope's, then its settings.
    func openingEnded(_ count: Int, of total: Int) {
        let makesSettings = state.withLock { $0.making == .sent }
        let scopeCount = makesSettings ? total - settingStatementCount : total
        if scopeCount > 1 { outer?.openingEnded(min(count, scopeCount - 1), of: scopeCount - 1) }
        perform { state, effects in
            if scopeCount > 0 { state.opening = count >= scopeCount ? .done : .unsent }
            if makesSettings { state.making = count == total ? .done : .unsent }
            sendWaiting(&state, &effects)
        }
    }

    /// Resumes waiters in order, up to the next waiter for which later ones have to wait.
    private func sendWaiting(_ state: inout TransactionState, _ effects: inout Effects) {
        if state.brokenBy != nil { effects.refused += state.takeWaiting() }
        while !state.isHeldUp, let next = state.waiting.popFirst() {
            switch next {
            case .request(let request, let deadline, let alarm):
                alarm?.callOff()
                submit(request, by: deadline, in: &state, &effects)
            case .savepoint(_, let turn):
                state.hasSavepoint = true
                effects.turns.append(turn)
            }
        }
    }

    /// Removes a queued request; false if it is not in the queue.
    func cancel(_ id: Request.ID) -> Bool { refuseWaiting(id, CancellationError()) }

    @discardableResult
    private func refuseWaiting(_ id: Request.ID, _ error: any Error) -> Bool {
        guard let waiting = state.withLock({ $0.removeWaiting(id) }) else { return false }
        waiting.refuse(error)
        return true
    }

    // MARK: Begin and end

    /// Waits until no other savepoint is open in this scope, and holds the turn until `endSavepoint`.
    func beginSavepoint() async throws {
        let id = Request.nextID()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (turn: CheckedContinuation<Void, any Error>) in
                if Task.isCancelled { return turn.resume(throwing: CancellationError()) }
                perform { state, effects in
                    switch state.admitSavepoint(id, turn) {
                    case .wait: break
                    case .refuse: effects.refused.append(.savepoint(id, turn))
                    case .send: effects.turns.append(turn)
                    }
                }
                // The cancellation handler may have run just before this task was queued.
                if Task.isCancelled { _ = cancel(id) }
            }
        } onCancel: {
            _ = cancel(id)
        }
    }

    /// Resumes the waiters for a savepoint's end in order, up to the next savepoint.
    func endSavepoint() {
        perform { state, effects in
            state.hasSavepoint = false
            sendWaiting(&state, &effects)
        }
    }

    /// How a scope ended.
    struct Ending {
        /// Whether anything was sent.
        let isOpened: Bool
        let firstError: PostgresError?
        /// The reason why nothing is left to commit or roll back; nil if something is.
        let brokenBy: PostgresError?
    }

    /// Refuses all further requests.
    func end() -> Ending {
        perform { state, effects in
            state.isOver = true
            effects.refused += state.takeWaiting()
            return Ending(
                isOpened: state.opening != .unsent, firstError: state.firstError, brokenBy: state.brokenBy)
        }
    }
}
