/// Puts a session back after a program's own SQL, before another task uses it.
///
/// A statement's text does not show the effects of the functions that it calls. So every session that has run SQL of
/// the program is put back, in one write with the first request of its next user, under a Sync of its own. Prepared
/// statements stay.
///
/// It waits for the answers to earlier requests, so that no cancellation meant for one of them can hit it. The statements are
/// a transaction of their own: where one fails, the session is in a failed transaction, and the server refuses the requests
/// behind.
extension ConnectionState {
    /// The differences of the session from a new one.
    struct Traces {
        /// Whether SQL of the program has run since the session was last put back.
        var mayExist = false
        /// Whether an earlier user left them.
        var areOfOthers = false
        /// Whether prepared statements may be among them, or be missing.
        var includePrepared = false
    }

    /// The longest time that a session with traces may stay idle: they may be locks for which other sessions wait.
    private static let pause = Duration.milliseconds(50)

    static let statements = [
        // The isolation of the session's transactions may be among the changed settings.
        "BEGIN ISOLATION LEVEL READ COMMITTED NOT DEFERRABLE", "SET SESSION AUTHORIZATION DEFAULT",
        // Servers before 17.1, 16.5, 15.9 … set the role to none with it, and RESET ALL leaves it out: that of ALTER ROLE … SET
        // role, or of the configuration, would be gone.
        "RESET ROLE", "RESET ALL",
        "CLOSE ALL", "UNLISTEN *", "SELECT pg_catalog.pg_advisory_unlock_all()", "DISCARD SEQUENCES", "DISCARD TEMP",
    ]

    /// Notes that a statement of the program is sent.
    mutating func noteTraces(of text: StatementText) {
        guard text.mayChangeSession else { return }
        traces.mayExist = true
        if text.effect == .preparing { traces.includePrepared = true }
    }

    /// The session's user is done: the next request is another task's.
    mutating func endUse(_ effects: inout Effects) {
        guard handle != nil, traces.mayExist else { return }
        traces.areOfOthers = true
        effects.deadline = min(effects.deadline, resetIsDue)
    }

    /// When an idle session is put back by itself.
    var resetIsDue: MonotonicTime { traces.areOfOthers && isQuiet ? heardAt + Self.pause : .never }

    /// Puts an idle session back.
    mutating func resetIdleSession(_ now: MonotonicTime, _ effects: inout Effects) {
        guard let handle, resetIsDue <= now else { return }
        sendReset(handle, &effects)
        flush(&effects)
    }

    /// Writes the statements into the pipeline; ends the connection if that fails.
    mutating func sendReset(_ handle: ConnectionHandle, _ effects: inout Effects) {
        let includesPrepared = traces.includePrepared
        traces = Traces()
        if includesPrepared { cache.removeAll() }
        let reset = PendingRequest(Request(statements: []))
        reset.isReset = true
        var isSent = true
        func send(_ text: String, _ values: [String] = []) {
            guard isSent else { return }
            isSent = values.isEmpty ? handle.send(text, Bindings()) : handle.send(text, texts: values)
        }
        for text in Self.statements { send(text) }
        for setting in startupSettings {
            let question = Connector.Question.setting(setting.name, to: setting.value)
            send(question.text, question.values)
        }
        if includesPrepared { send("DEALLOCATE ALL") }
        send("COMMIT")
        guard isSent, handle.sendSync() else { return end(handle.lost, &effects) }
        inFlight.append(reset)
        effects.hasReset = true
    }

    /// Ends a connection whose session could not be put back.
    ///
    /// - Parameter error: the server's refusal.
    mutating func resetFailed(_ error: PostgresError, isBegun: Bool, _ effects: inout Effects) {
        let reason = PostgresError(
            .connectionLost, "The session could not be put back for its next user; the connection was closed",
            // A cancellation of the statements behind is confirmed only where they were refused.
            sqlState: isBegun ? error.sqlState : nil, server: isBegun ? error.server : nil)
        end(reason, isUntouched: isBegun, &effects)
    }
}
