import DequeModule
import Synchronization

/// A transaction, or a savepoint in one, bound to the task that runs its closure and to that task's children.
///
/// BEGIN and SAVEPOINT travel with the first statement, so a scope in which nothing is done costs nothing.
/// Statements of a scope wait while a sibling task has a savepoint open in it, so that they never end up inside.
public final class PostgresTransaction: Sendable, RequestScope {
    @TaskLocal static var current: PostgresTransaction?

    let client: PostgresClient
    let connection: PooledConnection
    /// The scope around this one, of the same client or of another.
    let outer: PostgresTransaction?
    /// 0 for the transaction itself.
    let depth: Int
    /// BEGIN or SAVEPOINT.
    private let opening: Statement
    private let state = Mutex(TransactionState())

    init(
        client: PostgresClient,
        connection: PooledConnection,
        outer: PostgresTransaction?,
        depth: Int,
        opening: String
    ) {
        self.client = client
        self.connection = connection
        self.outer = outer
        self.depth = depth
        self.opening = Statement(text: StatementText(opening), resultFormat: .binary)
    }

    /// Runs a statement inside.
    ///
    /// Throws `PostgresError` `.transactionEnded` once the scope is over.
    ///
    /// - Parameters:
    ///   - sql: one statement.
    ///   - timeout: after which the statement is cancelled, counted from the call; nil is the configuration's.
    ///   - fileID: the file of the call, for errors and observers.
    ///   - line: the line of the call.
    @discardableResult
    public func query(_ sql: SQL, timeout: Duration? = nil, fileID: String = #fileID, line: Int = #line) async throws
        -> QueryResult
    {
        return try await client.called(at: fileID, line) {
            // A task that is not inside, or no longer, uses this scope all the same.
            try await Self.$current.withValue(innermost) { try await client.query(sql, timeout: timeout) }
        }
    }

    /// The savepoint inside of this scope that the task is in, or this scope itself.
    var innermost: PostgresTransaction {
        guard let current = client.currentTransaction else { return self }
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
        do {
            return try await connection.run(
                statements, traits: traits, by: deadline, scope: self)
        } catch {
            throw failed(error, statements.first?.text.text)
        }
    }

    /// Notes that a request has failed; returns what its caller gets.
    func failed(_ error: any Error, _ statement: String?) -> any Error {
        let error = state.withLock { $0.failed(error, statement) }
        if let broken = error as? PostgresError, broken.code == .transactionBroken {
            // It was that of the scopes around this one too.
            var scope = outer
            while let found = scope {
                if found.connection === connection { found.state.withLock { _ = $0.failed(broken, nil) } }
                scope = found.outer
            }
        }
        return error
    }

    /// Refuses statements that begin or end transactions and savepoints: rows would be stored or undone, and neither the
    /// scope nor objects in memory would know.
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

    /// Sends a request with whatever opens the scope before it; or keeps it while a savepoint is open inside.
    func send(_ request: Request, by deadline: MonotonicTime) {
        let alarm: Alarm? = perform { state, effects in
            switch state.admission {
            case .wait:
                let alarm = Alarm(at: deadline) { [weak self, id = request.id] in
                    self?.refuseWaiting(id, request.stopped(.timedOut, nil))
                }
                state.waiting.append(.request(request, deadline, alarm))
                return alarm
            case .refuse: effects.refused.append(.request(request, deadline, nil))
            case .send: submit(request, deadline, &state, &effects)
            }
            return nil
        }
        alarm?.set()
    }

    /// What follows from a change of the state, once the mutex is free.
    ///
    /// Nobody is resumed and no connection is used under a mutex that handlers of cancellations take.
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
        for opening in effects.openings { client.observe([opening], rows: [0], kind: .transactionControl) }
        if effects.isSending { connection.sendEnqueued() }
        for waiting in effects.refused { waiting.refuse(effects.refusal) }
        for turn in effects.turns { turn.resume() }
        return result
    }

    /// Gives a request its place under the scope's mutex, so that nothing comes between the opening and the statement.
    private func submit(
        _ request: Request, _ deadline: MonotonicTime, _ state: inout TransactionState, _ effects: inout Effects
    ) {
        let openings = takeOpening(&state)
        connection.enqueue(openings.isEmpty ? request : Request(request, after: openings, of: self), by: deadline)
        effects.openings += openings
        effects.isSending = true
    }

    /// The statements that open this scope and those around it, as far as they have not been sent.
    private func takeOpening(_ state: inout TransactionState) -> [Statement] {
        guard state.opening == .unsent else { return [] }
        state.opening = .sent
        var statements: [Statement] = []
        // From the inside to the outside: nobody locks in the other direction.
        if depth > 0, let outer { statements = outer.state.withLock { outer.takeOpening(&$0) } }
        statements.append(opening)
        return statements
    }

    /// The request that opens this scope was answered, or was not sent: `count` of its `total` openings took effect.
    ///
    /// The last is this scope's, those before it are of the scopes around it.
    func openingEnded(_ count: Int, of total: Int) {
        if total > 1 { outer?.openingEnded(min(count, total - 1), of: total - 1) }
        perform { state, effects in
            state.opening = count == total ? .done : .unsent
            sendWaiting(&state, &effects)
        }
    }

    /// Lets those go on who wait, in their order, up to the next who holds up the others.
    private func sendWaiting(_ state: inout TransactionState, _ effects: inout Effects) {
        if state.brokenBy != nil { effects.refused += state.takeWaiting() }
        while !state.isHeldUp, let next = state.waiting.popFirst() {
            switch next {
            case .request(let request, let deadline, let alarm):
                alarm?.callOff()
                submit(request, deadline, &state, &effects)
            case .savepoint(_, let turn):
                state.hasSavepoint = true
                effects.turns.append(turn)
            }
        }
    }

    /// Takes a request out that waits for its turn; false if it does not wait.
    func cancel(_ id: Request.ID) -> Bool { refuseWaiting(id, CancellationError()) }

    @discardableResult
    private func refuseWaiting(_ id: Request.ID, _ error: any Error) -> Bool {
        guard let waiting = state.withLock({ $0.removeWaiting(id) }) else { return false }
        waiting.refuse(error)
        return true
    }

    // MARK: Begin and end

    /// Waits until no other savepoint is open in this scope, and keeps others out until `endSavepoint`.
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
                // The handler may have looked just before the turn was asked for.
                if Task.isCancelled { _ = cancel(id) }
            }
        } onCancel: {
            _ = cancel(id)
        }
    }

    /// Lets those go on who wait for the end of a savepoint, in their order, up to the next savepoint.
    func endSavepoint() {
        perform { state, effects in
            state.hasSavepoint = false
            sendWaiting(&state, &effects)
        }
    }

    /// How a scope has ended for its closure.
    struct Ending {
        /// Whether anything was sent.
        let isOpened: Bool
        let firstError: PostgresError?
        /// Why there is nothing to commit or to roll back any more.
        let brokenBy: PostgresError?
    }

    /// Refuses everything from now on.
    func end() -> Ending {
        perform { state, effects in
            state.isOver = true
            effects.refused += state.takeWaiting()
            return Ending(
                isOpened: state.opening != .unsent, firstError: state.firstError, brokenBy: state.brokenBy)
        }
    }
}
