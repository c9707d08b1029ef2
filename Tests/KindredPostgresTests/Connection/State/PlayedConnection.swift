import DequeModule

@testable import KindredPostgres

/// A connection whose session is played: it does what the `ConnectionState` decides, as the `ConnectionDriver` does, and
/// notes that.
struct PlayedConnection {
    /// A part of the output.
    enum Sent: Equatable {
        case request(Request.ID), script(Request.ID), reset, deallocation
    }

    /// The outcome that a request's parties were told.
    struct End {
        let id: Request.ID
        let parties: Completion.Parties
        let error: (any Error)?

        var postgresError: PostgresError? { error as? PostgresError }
    }

    static let start = MonotonicTime(nanoseconds: 1_000_000_000)

    var state: ConnectionState
    var now = Self.start
    var isInTransaction = false
    var sent: [Sent] = []
    var ends: [End] = []
    /// Whether a cancel request is to be sent.
    var wantsCancel = false
    var isRetired = false
    var endReason: PostgresError?
    /// When the state is asked again.
    var deadline = MonotonicTime.never

    init(maximumBytesInFlight: Int = 4 << 20, cacheCapacity: Int = 256) {
        var configuration = PostgresConfiguration(endpoints: [])
        configuration.maximumBytesInFlight = maximumBytesInFlight
        configuration.statementCacheCapacity = cacheCapacity
        state = ConnectionState(configuration, at: Self.start)
    }

    var inFlight: [Request.ID] { state.inFlight.map(\.request.id) }
    var held: [Request.ID] { state.held.map(\.request.id) }

    // MARK: Requests

    mutating func submit(_ request: Request, by deadline: MonotonicTime = .never) {
        act { connection, effects in connection.submit(PendingRequest(request, deadline: deadline), &effects) }
    }

    private mutating func submit(_ pending: PendingRequest, _ effects: inout ConnectionState.Effects) {
        guard state.admits(pending, &effects) else { return }
        if state.refuses(pending, isInTransaction: isInTransaction, &effects) { return }
        let request = pending.request
        if state.traces.areOfOthers {
            _ = state.beginReset()
            sent.append(.reset)
            state.noteReset(&effects)
            if state.holdsScript(pending) { return }
        }
        if request.script != nil {
            sent.append(.script(request.id))
            return state.noteScript(pending)
        }
        if request.traits.isAutocommit {
            sent += state.takeEvicted(before: request).map { _ in .deallocation }
        }
        for (position, statement) in request.statements.enumerated() {
            let sending = state.sending(statement, at: position, of: pending)
            if let entry = sending.entry, sending.prepares { pending.steps.append(.prepare(entry)) }
            pending.steps.append(.execute(sending.entry, position: position))
        }
        sent.append(.request(request.id))
        state.noteSent(pending, &effects)
    }

    private mutating func sendHeld(_ effects: inout ConnectionState.Effects) {
        for pending in state.takeHeld() { submit(pending, &effects) }
    }

    mutating func endUse() {
        act { connection, effects in connection.state.endUse(&effects) }
    }

    // MARK: Answers

    /// Answers the first request in flight, with an error or as a success.
    mutating func answer(_ error: PostgresError? = nil) {
        act { connection, effects in connection.answer(error, &effects) }
    }

    private mutating func answer(_ error: PostgresError?, _ effects: inout ConnectionState.Effects) {
        guard let first = state.inFlight.first else { return }
        state.heardAt = now
        first.copyPhase = nil
        if let error {
            // Past the preparation.
            first.step = first.steps.firstIndex { if case .execute = $0 { true } else { false } } ?? first.step
            _ = state.fail(first, with: error)
        }
        if let (reason, isUntouched) = state.endAfterAnswer(isInTransaction: isInTransaction) {
            return state.end(reason, isUntouched: isUntouched, &effects)
        }
        if let again = state.finishFirst(isInTransaction: isInTransaction, &effects) { submit(again, &effects) }
        if state.sendsHeld(&effects) { sendHeld(&effects) }
    }

    /// Begins the COPY that is first; returns the state's decision.
    mutating func beginCopy(_ direction: CopyOperation.Direction?) -> ConnectionState.CopyBeginning {
        act { connection, effects in
            let beginning = connection.state.beginCopy(direction, &effects)
            if beginning == .stops { connection.stopCopy() }
            return beginning
        }
    }

    /// Input ends; output is read to its end.
    private func stopCopy() {
        guard let first = state.inFlight.first, first.copyPhase == .input else { return }
        first.copyPhase = nil
        first.isCopyUndone = true
    }

    mutating func end(_ reason: PostgresError) {
        act { connection, effects in connection.state.end(reason, &effects) }
    }

    // MARK: Cancellation and time

    mutating func stop(_ id: Request.ID, _ reason: Request.Stop = .cancelled) {
        act { connection, effects in connection.stop(id, reason, &effects) }
    }

    private mutating func stop(_ id: Request.ID, _ reason: Request.Stop, _ effects: inout ConnectionState.Effects) {
        if state.stop(id, reason: reason, at: now, &effects) { stopCopy() }
    }

    /// Sends the cancel request that is wanted; returns whether one goes out.
    @discardableResult
    mutating func beginCancel() -> Bool {
        wantsCancel = false
        guard state.needsCancel else { return false }
        act { connection, effects in connection.state.beginCancel(at: connection.now, &effects) }
        return true
    }

    /// The server has taken the cancel request.
    mutating func endCancel() {
        act { connection, effects in
            guard connection.state.endCancel(at: connection.now, &effects) else { return }
            connection.sendHeld(&effects)
            effects.deadline = min(effects.deadline, connection.state.resetIsDue)
        }
    }

    /// Lets time pass, and has the state do everything that is due.
    mutating func pass(_ duration: Duration) {
        now = now + duration
        deadline = act { connection, effects in connection.deadlinePassed(&effects) }
    }

    private mutating func deadlinePassed(_ effects: inout ConnectionState.Effects) -> MonotonicTime {
        if state.endReason != nil { return .never }
        for id in state.late(at: now) { stop(id, .timedOut, &effects) }
        switch state.letGo(at: now, &effects) {
        case .nothing: break
        case .givesUp: sendHeld(&effects)
        case .ends(let reason): state.end(reason, &effects)
        }
        if state.endReason != nil { return .never }
        if let reason = state.overdueCancellation(at: now, &effects) {
            state.end(reason, &effects)
            return .never
        }
        if state.resetIsDue <= now {
            _ = state.beginReset()
            sent.append(.reset)
            state.noteReset(&effects)
        }
        return state.nextDeadline(after: now)
    }

    // MARK: Effects

    @discardableResult
    private mutating func act<T>(_ body: (inout Self, inout ConnectionState.Effects) -> T) -> T {
        var effects = ConnectionState.Effects()
        let result = body(&self, &effects)
        for completion in effects.completions {
            var failure: (any Error)?
            if case .failure(let error) = completion.result { failure = error }
            ends.append(End(id: completion.request.id, parties: completion.parties, error: failure))
        }
        if effects.sendsCancel { wantsCancel = true }
        if effects.isRetired { isRetired = true }
        if let reason = effects.endReason { endReason = reason }
        deadline = min(deadline, effects.deadline)
        return result
    }
}

/// A share that nothing waits for.
final class PlayedShare: ConnectionShare {
    func giveBack() {}
}

extension Request {
    /// Traits of a single statement that shares its connection.
    static let sharing = Traits(isAutocommit: true, mayLeave: true, mayRepeat: true)

    /// A request of a caller that waits for its answer.
    static func played(
        _ sql: String = "SELECT 1", traits: Traits = sharing, isOfProgram: Bool = false, isShared: Bool = true
    ) -> Request {
        Request(
            statements: [Statement(text: StatementText(sql, mayChangeSession: isOfProgram))], traits: traits,
            lease: isShared ? PlayedShare() : nil, onAnswer: { _ in })
    }

    /// A request with a parameter of so many bytes.
    static func played(bytes: Int) throws -> Request {
        var bindings = Bindings()
        try bindings.append(text: String(repeating: "x", count: bytes))
        return Request(
            statements: [Statement(text: StatementText("SELECT $1"), bindings: bindings)], traits: sharing,
            lease: PlayedShare(), onAnswer: { _ in })
    }

    static func played(script: String) -> Request {
        Request(statements: [], script: script, onAnswer: { _ in })
    }

    static func played(copy direction: CopyOperation.Direction) -> Request {
        Request(statements: [], script: "COPY person FROM STDIN", copy: CopyOperation(direction))
    }
}

extension PostgresError {
    /// The server's confirmation of a cancel request.
    static let played57014 = PostgresError(.server, "canceling statement", sqlState: .queryCanceled)
    static let playedLoss = PostgresError(.connectionLost, "The connection ended before the answer came")
}
