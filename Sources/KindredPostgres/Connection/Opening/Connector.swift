import CLibPQ
import Logging
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Opens connections, each on a thread of its own: libpq blocks while it resolves names and hashes passwords.
enum Connector {
    /// A new connection without an owner.
    struct Opened: Sendable {
        // Exactly one owner takes it from the connecting thread, and guards it with a mutex.
        let handle: ConnectionHandle
        let notices: NoticeSink
        /// Settings made by statements.
        var startupSettings: [(name: String, value: String)] = []
        /// The server as a primary, of a client that writes to one of several servers; nil if it does not say.
        var primary: PrimaryRecord.Sighting?
    }

    /// The requirements of a client's server on startup, as far as they are known.
    final class StartupRequirements: Sendable {
        /// Whether the server refuses startup options, as PgBouncer does.
        fileprivate let refusesOptions = Atomic(false)
        private let foundPooler = Atomic(false)
        /// The primary, as far as it is known.
        let primary: PrimaryRecord

        init(primary: PrimaryRecord = PrimaryRecord()) { self.primary = primary }

        /// Whether a pooler was found.
        var hasPooler: Bool { foundPooler.load(ordering: .relaxed) }

        /// Notes that a pooler was found.
        func notePooler() { foundPooler.store(true, ordering: .relaxed) }
    }

    /// Opens a connection within `connectTimeout`, over all endpoints.
    ///
    /// At the deadline the task fails at once; the thread ends the attempt later.
    static func open(
        _ configuration: PostgresConfiguration, _ requirements: StartupRequirements, logger: Logger?,
        notices: StreamObservers<ServerMessage>? = nil,
        onNotification: (@Sendable (PostgresNotification) -> Void)? = nil
    ) async throws -> Opened {
        // First, so that an invalid configuration does not call the password provider.
        let parameters = try configuration.libpqParameters(
            libpqVersion: LibPQ.version, environment: ProcessInfo.processInfo.environment)
        let address = configuration.description
        let deadline = MonotonicTime.now + configuration.connectTimeout
        let sink: @Sendable () -> NoticeSink = {
            NoticeSink(logger: logger, observers: notices, onNotification: onNotification)
        }
        let attempt = ConnectionAttempt(deadline: deadline, address: address)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                attempt.begin(continuation)
                do {
                    try Poller.shared.addTimed(attempt)
                    Poller.shared.wake(by: deadline)
                    guard let provider = configuration.passwordProvider else {
                        return try start(
                            attempt, for: configuration, requirements: requirements, parameters: parameters,
                            logger: logger, notices: sink)
                    }
                    attempt.ask(provider) { password throws(PostgresError) in
                        try start(
                            attempt, for: configuration, requirements: requirements,
                            parameters: parameters + [("password", password.text)], logger: logger, notices: sink)
                    }
                } catch {
                    attempt.fail(error)
                }
            }
        } onCancel: {
            attempt.fail(CancellationError())
        }
    }

    private static func start(
        _ attempt: ConnectionAttempt, for configuration: PostgresConfiguration, requirements: StartupRequirements,
        parameters: [(keyword: String, value: String)], logger: Logger?, notices: @escaping @Sendable () -> NoticeSink
    ) throws(PostgresError) {
        if configuration.choosesPrimary, !requirements.primary.wasFound {
            return try searchPrimary(
                of: configuration, requirements, parameters: parameters, within: attempt, logger: logger,
                notices: notices)
        }
        try DedicatedThread.start {
            attempt.finish(
                Result { () throws(PostgresError) in
                    guard configuration.choosesPrimary else {
                        let turn = ConnectionTurn(
                            attempt: attempt, address: attempt.address, deadline: attempt.deadline)
                        return try open(
                            configuration, requirements, parameters: parameters, turn: turn, notices: notices())
                    }
                    return try openPrimary(
                        of: configuration, requirements, parameters: parameters, within: attempt, notices: notices())
                })
        }
    }

    /// Opens a connection to a server, or to one of a list.
    static func open(
        _ configuration: PostgresConfiguration, _ requirements: StartupRequirements,
        parameters: [(keyword: String, value: String)], turn: ConnectionTurn, notices: NoticeSink
    ) throws(PostgresError) -> Opened {
        var wish = SessionWish(configuration)
        let hasOwnOptions = configuration.options != nil
        var opened: Opened
        do throws(PostgresError) {
            wish.hasNoOptions = requirements.refusesOptions.load(ordering: .relaxed) && !hasOwnOptions
            opened = try connect(
                wish.hasNoOptions ? withoutOptions(parameters) : parameters, within: turn, notices: notices)
        } catch {
            guard !wish.hasNoOptions, !hasOwnOptions, error.message.contains("unsupported startup parameter")
            else { throw error }
            wish.hasNoOptions = true
            opened = try connect(withoutOptions(parameters), within: turn, notices: notices)
            requirements.refusesOptions.store(true, ordering: .relaxed)
        }
        opened.startupSettings = wish.startupSettings
        do throws(PostgresError) {
            try prepare(&opened, for: wish, within: turn)
            // PgBouncer's console takes no parameters, and gives no process.
            if configuration.pooler == .automatic, configuration.database != "pgbouncer", !requirements.hasPooler,
                try meetsPooler(opened.handle, refusesOptions: wish.hasNoOptions, within: turn)
            {
                try requireTransactions(opened.handle, within: turn)
                requirements.notePooler()
            }
        } catch {
            opened.handle.finish()
            throw error
        }
        return opened
    }

    /// Whether a pooler answers; sends a question only to a server that looks like a pooler.
    private static func meetsPooler(
        _ handle: ConnectionHandle, refusesOptions: Bool, within turn: ConnectionTurn
    ) throws(PostgresError) -> Bool {
        let processID = handle.processID
        guard PoolerProbe.suspects(processID: processID, refusesOptions: refusesOptions) else { return false }
        let answers = try ask([PoolerProbe.question], over: handle, within: turn)
        return PoolerProbe.isPooler(processID: processID, answer: answers.first)
    }

    /// Throws for a pooler that lends its sessions by statement: it ends a connection that begins a transaction.
    private static func requireTransactions(
        _ handle: ConnectionHandle, within turn: ConnectionTurn
    ) throws(PostgresError) {
        do throws(PostgresError) {
            _ = try ask(PoolerProbe.transaction, over: handle, within: turn)
        } catch {
            throw handle.isAlive ? error : PoolerProbe.refusal(ofTransaction: error, by: turn.address)
        }
    }

    private static func withoutOptions(
        _ parameters: [(keyword: String, value: String)]
    ) -> [(keyword: String, value: String)] {
        parameters.filter { $0.keyword != "options" }
    }

    /// Runs on the attempt's own thread.
    private static func connect(
        _ parameters: [(keyword: String, value: String)], within turn: ConnectionTurn, notices: NoticeSink
    ) throws(PostgresError) -> Opened {
        let address = turn.address
        guard let handle = ConnectionHandle.start(parameters) else {
            throw PostgresError(.connectionFailed, "Out of memory for another connection")
        }
        // libpq tells the SQLSTATE of a refused connection only in verbose messages.
        handle.setVerboseErrors(true)
        handle.setNoticeSink(notices)
        var status = handle.status == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING
        while status == PGRES_POLLING_READING || status == PGRES_POLLING_WRITING {
            let now = MonotonicTime.now
            guard now < turn.deadline, !turn.isOver else {
                handle.finish()
                throw turn.timedOut
            }
            let events = Int32(status == PGRES_POLLING_READING ? POLLIN : POLLOUT)
            // Wakes at times to see whether the attempt is over.
            if SystemCalls.wait(
                for: events, handle.socket, milliseconds: turn.deadline.milliseconds(after: now, atMost: 100))
                == true
            {
                status = handle.connectFurther()
            }
        }
        guard status == PGRES_POLLING_OK else {
            let failure = failure(handle.message, address)
            // Checked while libpq still holds its descriptors.
            let isOutOfFiles = failure.sqlState == nil && FileDescriptors.areExhausted
            handle.finish()
            throw isOutOfFiles
                ? FileDescriptors.error("\(address) cannot be reached", underlying: failure.underlying) : failure
        }
        return Opened(handle: handle, notices: notices)
    }

    /// Prepares an open session for use, or throws why it is unusable.
    private static func prepare(
        _ opened: inout Opened, for wish: SessionWish, within turn: ConnectionTurn
    ) throws(PostgresError) {
        let handle = opened.handle
        handle.setVerboseErrors(false)
        guard handle.stopBlocking(), handle.enterPipelineMode() else {
            throw PostgresError(.connectionFailed, "\(turn.address) cannot be used in pipeline mode")
        }
        let (violation, primary) = try inspect(handle, for: wish, within: turn)
        if let violation {
            throw PostgresError(.connectionFailed, "\(turn.address) cannot be used: \(violation)")
        }
        opened.primary = primary
    }

    /// Parses libpq's report of a failed attempt: a paragraph for each address, with the server's SQLSTATE.
    static func failure(_ report: String, _ address: String) -> PostgresError {
        var state: SQLState?
        var reasons: [String] = []
        // The last address's failure: its paragraph begins with the mark below.
        var (reason, isRefusal) = ("libpq gave no reason", false)
        for line in report.split(separator: "\n") {
            // libpq indents its suggestions with a tab.
            let isSupposed = line.hasPrefix("\t")
            guard var text = LibPQ.lines(of: String(line)).first, !text.hasPrefix("LOCATION:") else { continue }
            // "connection to server … failed: FATAL:  28P01: password authentication failed for user …"
            let mark = text.firstRange(of: "FATAL:  ")
            if let mark {
                let rest = text[mark.upperBound...]
                let code = rest.prefix(5)
                if code.utf8.count == 5, code.allSatisfy({ $0.isASCII && ($0.isNumber || $0.isUppercase) }),
                    rest.dropFirst(5).hasPrefix(": ")
                {
                    state = SQLState(rawValue: String(code))
                    text = String(text[..<mark.upperBound]) + String(rest.dropFirst(7))
                }
            }
            reasons.append(text)
            // The lines below a refusal are the rest of its message, detail and hint.
            if mark != nil || text.hasPrefix("connection to server") || !isSupposed && !isRefusal {
                (reason, isRefusal) = (text, mark != nil)
            }
        }
        // A server that gives a reason was reached.
        let what = state == nil && !isRefusal ? "cannot be reached" : "refused the connection"
        return PostgresError(
            .connectionFailed, "\(address) \(what): \(reason)", sqlState: state, underlying: reasons)
    }
}
