/// Puts a session back after a program's own SQL, before another task uses it.
///
/// A statement's text does not show the effects of the functions that it calls. So every session that has run SQL of
/// the program is put back, in one write with the first request of its next user, under a Sync of its own. Prepared
/// statements stay.
///
/// It waits for the answers to earlier requests, so that no cancellation meant for one of them can hit it. The statements are
/// a transaction of their own: where one fails, the session is in a failed transaction, and the server refuses the requests
/// behind.
///
/// Behind a pooler of transactions the next request reaches another session. There the statements follow a
/// transaction's end under its Sync, and SQL of the program outside of transactions is given one
/// (`Request.Traits.isWhole`): until that Sync is answered the session is the connection's own. Traces that are left
/// behind a statement that has to go alone, or behind a COMMIT that failed, are put back as elsewhere, in whichever
/// session that reaches.
extension ConnectionState {
    /// The differences of the session from a new one.
    struct Traces {
        /// Whether SQL of the program has run since the session was last put back.
        var mayExist = false
        /// Whether an earlier user left them.
        var areOfOthers = false
        /// Whether prepared statements may be among them, or be missing.
        var includePrepared = false
        /// Whether the program may have made its transactions read-only.
        var mayBeReadOnly = false
    }

    /// The longest time that a session with traces may stay idle: they may be locks for which other sessions wait.
    private static let pause = Duration.milliseconds(50)

    /// Begins the transaction that puts a session back; the isolation of its transactions may be among the changed settings.
    static let resetBeginning = "BEGIN ISOLATION LEVEL READ COMMITTED NOT DEFERRABLE"

    /// The statements that put a session back, before its own settings.
    static let resetStatements = [
        "SET SESSION AUTHORIZATION DEFAULT",
        // Servers before 17.1, 16.5, 15.9 … set the role to none with it, and RESET ALL leaves the role out: without
        // RESET ROLE the role of ALTER ROLE … SET role, or of the configuration, would be gone.
        "RESET ROLE", "RESET ALL",
        "CLOSE ALL", "UNLISTEN *", "SELECT pg_catalog.pg_advisory_unlock_all()", "DISCARD SEQUENCES", "DISCARD TEMP",
    ]

    /// Notes that a statement of the program is sent.
    mutating func noteTraces(of text: StatementText) {
        guard text.mayChangeSession else { return }
        traces.mayExist = true
        if text.mayDeallocate { noteLostPrepared() }
        if text.effect == .lasting, text.mentionsReadOnly { traces.mayBeReadOnly = true }
    }

    /// Forgets the prepared statements that SQL of the program may have deallocated: in its transaction an unknown one would be an
    /// error that ends the transaction.
    mutating func noteLostPrepared() {
        traces.includePrepared = true
        cache.removeAll()
    }

    /// The session's user is done: the next request is another task's.
    mutating func endUse(_ effects: inout Effects) {
        guard endReason == nil, traces.mayExist else { return }
        traces.areOfOthers = true
        effects.deadline = min(effects.deadline, resetIsDue)
    }

    /// When an idle session is put back by itself.
    var resetIsDue: MonotonicTime { traces.areOfOthers && isQuiet ? heardAt + Self.pause : .never }

    /// Whether the session is put back under the Sync of a request, behind its statements.
    func putsBack(behind request: Request) -> Bool {
        sharesSession && traces.mayExist && request.endsTransaction
    }

    /// Begins to put the session back; nothing may be in flight but the request that it follows.
    ///
    /// - Returns: whether all prepared statements are deallocated too.
    mutating func beginReset() -> Bool {
        defer { traces = Traces() }
        if traces.includePrepared { cache.removeAll() }
        return traces.includePrepared
    }

    /// Notes that the statements were sent.
    mutating func noteReset(_ effects: inout Effects) {
        let reset = PendingRequest(Request(statements: []))
        reset.isReset = true
        inFlight.append(reset)
        effects.hasReset = true
    }

    /// Notes that a statement that puts the session back was refused or skipped; returns whether the step is one.
    mutating func noteLeftTraces(_ pending: PendingRequest) -> Bool {
        guard case .reset? = pending.currentStep else { return false }
        traces.mayExist = true
        return true
    }

    /// The reason to end a connection whose session could not be put back.
    ///
    /// - Parameter error: the server's refusal.
    static func resetFailed(_ error: PostgresError, isBegun: Bool) -> PostgresError {
        PostgresError(
            .connectionLost, "The session could not be put back for its next user; the connection was closed",
            // A cancellation of the statements behind is confirmed only where they were refused.
            sqlState: isBegun ? error.sqlState : nil, server: isBegun ? error.server : nil)
    }
}
