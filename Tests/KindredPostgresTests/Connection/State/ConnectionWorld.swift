import DequeModule
import TestSupport

@testable import KindredPostgres

/// A connection's surroundings, played by dice: callers that send and cancel, a server that executes, and the time.
///
/// Beside the `ConnectionState` it keeps a plain list of the requests and their outcomes, and notes each rule that is
/// broken.
struct ConnectionWorld {
    /// A request, and what the world knows about it.
    struct Known {
        let request: Request
        let mayWrite: Bool
        /// Whether its caller has cancelled it, or its time is over.
        var isStopped = false
        var hasAnswer = false
        var isGivenBack = false
        var isExecuted = false
        /// The number of times that a cancel request for another request has hit it.
        var hits = 0
        /// Whether its caller was told that it has no effect.
        var hasNoEffect = false
    }

    /// A cancel request on its way.
    enum Signal {
        case none, flying
        /// The server has taken it; it hits one of these, or none.
        case landed(Set<Request.ID>)
    }

    var connection: PlayedConnection
    var dice: SeededGenerator
    var known: [Request.ID: Known] = [:]
    var signal = Signal.none
    /// The first submission of each request sent, in order.
    var firstSent: [Request.ID] = []
    var seenSent = 0
    var seenEnds = 0
    /// Whether the session has another task's traces.
    var isForeign = false
    var repeated = 0
    var resets = 0
    var held = 0
    var unknown = 0
    var broken: [String] = []

    init(seed: UInt64) {
        dice = SeededGenerator(seed: seed)
        connection = PlayedConnection(
            maximumBytesInFlight: dice.pick([50, 200, 4 << 20]), cacheCapacity: dice.pick([0, 2, 256]))
    }

    private static let texts = [
        "SELECT 1", "SELECT 2", "SELECT 3", "INSERT INTO a DEFAULT VALUES", "DELETE FROM a",
    ].map { StatementText($0) }
    private static let ofProgram = ["SELECT f()", "PREPARE p AS SELECT 1"].map {
        StatementText($0, mayChangeSession: true)
    }

    mutating func step() throws {
        if connection.endReason == nil, connection.deadline <= connection.now { pass(.zero) }
        switch Int.random(in: 0..<100, using: &dice) {
        case 0..<35: try submit()
        case 35..<65: answer()
        case 65..<75: cancel()
        case 75..<92: sendCancel()
        case 92..<93: if dice.once(in: 3) { end() }
        default: pass(.milliseconds(dice.pick([1, 10, 60, 200])))
        }
        check()
    }

    // MARK: Callers

    mutating func submit() throws {
        var bindings = Bindings()
        if dice.once(in: 3) {
            try bindings.append(text: String(repeating: "x", count: Int.random(in: 0...120, using: &dice)))
        }
        let text = dice.pick(dice.once(in: 6) ? Self.ofProgram : Self.texts)
        let request =
            switch Int.random(in: 0..<20, using: &dice) {
            case 0: Request(statements: [], script: "SELECT 1", lease: PlayedShare(), onAnswer: { _ in })
            case 1:
                Request(
                    statements: [], script: "COPY", copy: CopyOperation(dice.once(in: 2) ? .input : .output),
                    lease: PlayedShare())
            default:
                Request(
                    statements: [Statement(text: text, bindings: bindings)], traits: Request.sharing,
                    lease: PlayedShare(), onAnswer: { _ in })
            }
        known[request.id] = Known(request: request, mayWrite: request.script != nil || text.mayWrite)
        let deadline = dice.once(in: 5) ? connection.now + .milliseconds(dice.pick([1, 20, 300])) : .never
        connection.submit(request, by: deadline)
    }

    mutating func cancel() {
        let open = known.values.filter { !$0.hasAnswer }.map(\.request.id).sorted()
        guard let id = open.randomElement(using: &dice) else { return }
        known[id]?.isStopped = true
        connection.stop(id)
    }

    mutating func sendCancel() {
        if connection.state.cancellation?.isSending == true {
            // Requests that are sent from here on are safe.
            if case .flying = signal { signal = .landed(Set(connection.inFlight)) }
            connection.endCancel()
        } else if connection.wantsCancel, connection.beginCancel() {
            if connection.state.inFlight.first?.isReset == true { broken.append("cancels a reset") }
            signal = .flying
        }
    }

    mutating func pass(_ duration: Duration) {
        let before = Set(connection.state.inFlight.filter { $0.stop == nil }.map(\.request.id))
        connection.pass(duration)
        if connection.endReason == nil, connection.deadline <= connection.now, !connection.wantsCancel {
            broken.append("the next deadline is not in the future")
        }
        for pending in connection.state.inFlight where pending.stop != nil && before.contains(pending.request.id) {
            known[pending.request.id]?.isStopped = true
        }
    }

    // MARK: Server

    /// Whether the signal hits the first request in flight.
    private mutating func isHit(_ first: PendingRequest) -> Bool {
        switch signal {
        case .none: return false
        case .flying: break
        case .landed(let ids):
            guard ids.contains(first.request.id) else {
                signal = .none
                return false
            }
        }
        guard dice.once(in: 2) else { return false }
        signal = .none
        return true
    }

    mutating func answer() {
        guard let first = connection.state.inFlight.first else { return }
        let id = first.request.id
        if let copy = first.request.copy, first.copyPhase == nil, dice.once(in: 2) {
            if connection.beginCopy(copy.direction) == .fails { broken.append("refuses a COPY that was asked for") }
            return
        }
        if isHit(first) {
            if first.isReset { broken.append("a cancel request hits a reset") }
            if first.stop == nil { known[id]?.hits += 1 }
            let attempts = first.attempts
            connection.answer(.played57014)
            if connection.state.inFlight.contains(where: { $0.request.id == id && $0.attempts > attempts })
                || connection.state.held.contains(where: { $0.request.id == id })
            {
                repeated += 1
            }
            return
        }
        // The data ended with a failure.
        if first.isCopyUndone { return connection.answer(.played57014) }
        if !first.isReset, dice.once(in: 8) {
            return connection.answer(PostgresError(.server, "division by zero", sqlState: .divisionByZero))
        }
        if first.isReset { resets += 1 }
        known[id]?.isExecuted = true
        connection.answer()
    }

    /// The connection ends after the server has executed some of the requests, or none as it was idle.
    mutating func end() {
        let isIdle = dice.once(in: 3)
        if !isIdle {
            let count = Int.random(in: 0...connection.state.inFlight.count, using: &dice)
            for pending in connection.state.inFlight.prefix(count)
            where pending.copyPhase != .input && !pending.isCopyUndone {
                known[pending.request.id]?.isExecuted = true
            }
        }
        connection.end(
            PostgresError(
                .connectionLost, "The connection has ended", sqlState: isIdle ? .idleSessionTimeout : nil))
    }

    /// Lets everything come to its end.
    mutating func finish() {
        for _ in 0..<10_000 where !connection.state.isQuiet && broken.isEmpty {
            if connection.state.cancellation != nil || connection.wantsCancel { sendCancel() }
            if connection.state.inFlight.isEmpty { pass(.milliseconds(300)) }
            answer()
            check()
        }
        for known in known.values.sorted(by: { $0.request.id < $1.request.id }) {
            if !known.hasAnswer { broken.append("request \(known.request.id) has no answer") }
            if !known.isGivenBack { broken.append("the share of request \(known.request.id) is not given back") }
        }
    }

    // MARK: Rules

    mutating func check() {
        for sent in connection.sent[seenSent...] { noteSent(sent) }
        seenSent = connection.sent.count
        for end in connection.ends[seenEnds...] { noteEnd(end) }
        seenEnds = connection.ends.count
        let state = connection.state
        // A request that is larger than allowed is sent alone, perhaps behind a reset or a clean-up.
        if state.inFlight.count(where: { known[$0.request.id] != nil }) > 1,
            state.bytesInFlight > state.maximumBytesInFlight
        {
            broken.append("too many bytes in flight")
        }
        let size = state.inFlight.filter { $0.request.script == nil }.reduce(0) { $0 + $1.request.size }
        if state.bytesInFlight != size { broken.append("\(state.bytesInFlight) bytes in flight, not \(size)") }
        if state.inFlight.count > 1, state.inFlight.contains(where: { $0.request.script != nil }) {
            broken.append("a script is not alone")
        }
        if state.inFlight.dropFirst().contains(where: \.isReset) { broken.append("a reset behind other requests") }
        if !state.held.isEmpty, state.inFlight.isEmpty, state.cancellation?.isSending != true {
            broken.append("held without a reason")
        }
        held += state.held.count
        for known in known.values where known.hasNoEffect && known.isExecuted && known.mayWrite {
            broken.append("request \(known.request.id) was executed, and its caller told that it was not")
        }
    }

    private mutating func noteSent(_ sent: PlayedConnection.Sent) {
        switch sent {
        case .deallocation: break
        case .reset: isForeign = false
        case .request(let id), .script(let id):
            if isForeign { broken.append("request \(id) finds another task's traces") }
            guard let request = known[id]?.request else { return broken.append("an unknown request is sent") }
            if !firstSent.contains(id) {
                if let last = firstSent.last, last > id { broken.append("request \(id) was overtaken by \(last)") }
                firstSent.append(id)
            }
            // Each request is another task's.
            if request.script == nil { isForeign = request.statements.contains { $0.text.mayChangeSession } }
        }
    }

    private mutating func noteEnd(_ end: PlayedConnection.End) {
        // A reset has no caller.
        guard var request = known[end.id] else { return }
        defer { known[end.id] = request }
        if end.parties.contains(.pool) {
            if request.isGivenBack { broken.append("request \(end.id) is given back twice") }
            request.isGivenBack = true
        }
        guard end.parties.contains(.caller) else { return }
        if request.hasAnswer { broken.append("request \(end.id) is answered twice") }
        request.hasAnswer = true
        guard let error = end.error else {
            if !request.isExecuted { broken.append("request \(end.id) succeeds without the server") }
            return
        }
        request.hasNoEffect =
            error is ConnectionGone || error is CancellationError
            || end.postgresError.map { !$0.mayHaveTakenEffect && $0.code != .server } ?? false
        let isInDoubt =
            [.outcomeUnknown, .timeout].contains(end.postgresError?.code)
            && end.postgresError?.mayHaveTakenEffect == true
        if isInDoubt {
            unknown += 1
            // Of a script, a part may have been committed before it was stopped; of a COPY that was done, the data is missing.
            if request.request.script == nil, connection.endReason == nil, !connection.state.isGivenUp {
                broken.append("request \(end.id) may land later on a connection that is used on")
            }
        }
        let isCancelled = error is CancellationError || end.postgresError?.code == .timeout
        if isCancelled, !request.isStopped, end.postgresError == nil {
            broken.append("request \(end.id) was not cancelled")
        }
        let mayRepeat = request.request.traits.mayRepeat && request.hits < 4
        if end.postgresError?.sqlState == .queryCanceled, !request.isStopped, mayRepeat, connection.endReason == nil {
            broken.append("request \(end.id) was hit by a cancel request for another one")
        }
    }
}
