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

/// Opens connections, each on a thread of its own: looking up names and computing passwords block inside libpq.
enum Connector {
    /// A connection that nobody has taken over yet.
    struct Opened: Sendable {
        // The pointer goes from the connecting thread to one owner, who guards it with a mutex.
        nonisolated(unsafe) let handle: OpaquePointer
        let notices: NoticeSink
        /// What was set by a statement.
        var pins: [(name: String, value: String)] = []
    }

    /// How connections of a client begin, as far as was found out.
    final class Manner: Sendable {
        /// Whether options are refused, as PgBouncer does.
        fileprivate let refusesOptions = Atomic(false)
    }

    /// Opens a connection within the time that the configuration allows, over all its endpoints together.
    ///
    /// When the time is up the task goes on with an error, and the thread ends the attempt by itself.
    static func open(
        _ configuration: PostgresConfiguration, _ manner: Manner, logger: Logger?,
        notices: StreamObservers<ServerMessage>? = nil,
        onNotification: (@Sendable (PostgresNotification) -> Void)? = nil
    ) async throws -> Opened {
        // Also where the password comes later: nobody is asked for one that could not be used.
        let parameters = try configuration.libpqParameters(
            libpqVersion: LibPQ.version, environment: ProcessInfo.processInfo.environment)
        let address = configuration.description
        let deadline = MonotonicTime.now + configuration.connectTimeout
        let sink = NoticeSink(logger: logger, observers: notices, onNotification: onNotification)
        let attempt = ConnectionAttempt(deadline: deadline, address: address)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                attempt.begin(continuation)
                do {
                    try Poller.shared.addTimed(attempt)
                    Poller.shared.wake(by: deadline)
                    guard let provider = configuration.passwordProvider else {
                        return try start(attempt, configuration, manner, parameters, sink)
                    }
                    attempt.ask(provider) { password throws(PostgresError) in
                        try start(
                            attempt, configuration, manner, parameters + [("password", password.text)], sink)
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
        _ attempt: ConnectionAttempt, _ configuration: PostgresConfiguration, _ manner: Manner,
        _ parameters: [(keyword: String, value: String)], _ notices: NoticeSink
    ) throws(PostgresError) {
        let plainWish = SessionWish(configuration)
        let hasOwnOptions = configuration.options != nil
        try DedicatedThread.start {
            attempt.finish(
                Result { () throws(PostgresError) in
                    var wish = plainWish
                    var opened: Opened
                    do throws(PostgresError) {
                        wish.hasNoOptions = manner.refusesOptions.load(ordering: .relaxed) && !hasOwnOptions
                        opened = try connect(
                            wish.hasNoOptions ? withoutOptions(parameters) : parameters, attempt, notices)
                    } catch {
                        guard !wish.hasNoOptions, !hasOwnOptions,
                            error.message.contains("unsupported startup parameter")
                        else { throw error }
                        wish.hasNoOptions = true
                        opened = try connect(withoutOptions(parameters), attempt, notices)
                        manner.refusesOptions.store(true, ordering: .relaxed)
                    }
                    opened.pins = wish.pins
                    do throws(PostgresError) {
                        try prepare(opened, wish, attempt)
                    } catch {
                        PQfinish(opened.handle)
                        throw error
                    }
                    return opened
                })
        }
    }

    private static func withoutOptions(
        _ parameters: [(keyword: String, value: String)]
    ) -> [(keyword: String, value: String)] {
        parameters.filter { $0.keyword != "options" }
    }

    /// Runs on the attempt's own thread.
    private static func connect(
        _ parameters: [(keyword: String, value: String)], _ attempt: ConnectionAttempt, _ notices: NoticeSink
    ) throws(PostgresError) -> Opened {
        let address = attempt.address
        let keywords = parameters.map { strdup($0.keyword) } + [nil]
        let values = parameters.map { strdup($0.value) } + [nil]
        defer { for text in keywords + values { Self.wipe(text) } }
        guard let handle = PQconnectStartParams(keywords.map { UnsafePointer($0) }, values.map { UnsafePointer($0) }, 0)
        else { throw PostgresError(.connectionFailed, "There is no memory for another connection") }
        // The long form of messages is the only place where libpq tells the SQLSTATE of a refused connection.
        PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
        notices.install(on: handle)
        var status = PQstatus(handle) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING
        while status == PGRES_POLLING_READING || status == PGRES_POLLING_WRITING {
            let now = MonotonicTime.now
            guard now < attempt.deadline, !attempt.isOver else {
                PQfinish(handle)
                throw attempt.timedOut
            }
            let events = Int16(status == PGRES_POLLING_READING ? POLLIN : POLLOUT)
            var polled = pollfd(fd: PQsocket(handle), events: events, revents: 0)
            let milliseconds = (attempt.deadline.nanoseconds - now.nanoseconds) / 1_000_000 + 1
            // Looks now and then whether anybody still wants the connection.
            poll(&polled, 1, Int32(clamping: min(milliseconds, 100)))
            if polled.revents != 0 { status = PQconnectPoll(handle) }
        }
        guard status == PGRES_POLLING_OK else {
            let failure = failure(LibPQ.message(of: handle), address)
            // Looked at while libpq still holds what it has opened.
            let isOutOfFiles = failure.sqlState == nil && FileDescriptors.areExhausted
            PQfinish(handle)
            throw isOutOfFiles
                ? FileDescriptors.error("\(address) cannot be reached", underlying: failure.underlying) : failure
        }
        return Opened(handle: handle, notices: notices)
    }

    /// Makes a session that was opened ready for use, or says why it is of no use.
    private static func prepare(
        _ opened: Opened, _ wish: SessionWish, _ attempt: ConnectionAttempt
    ) throws(PostgresError) {
        let handle = opened.handle
        PQsetErrorVerbosity(handle, PQERRORS_DEFAULT)
        guard PQsetnonblocking(handle, 1) == 0, PQenterPipelineMode(handle) == 1 else {
            throw PostgresError(.connectionFailed, "\(attempt.address) cannot be used in pipeline mode")
        }
        if let objection = try objection(to: handle, wish, attempt) {
            throw PostgresError(.connectionFailed, "\(attempt.address) cannot be used: \(objection)")
        }
    }

    /// Frees a text that may be a password, after overwriting it; libpq has a copy of its own.
    private static func wipe(_ text: UnsafeMutablePointer<CChar>?) {
        guard let text else { return }
        #if canImport(Darwin)
            _ = memset_s(text, strlen(text), 0, strlen(text))
        #else
            explicit_bzero(text, strlen(text))
        #endif
        free(text)
    }

    /// Reads libpq's report of a failed attempt: a paragraph for each address tried, the server's code in it.
    static func failure(_ report: String, _ address: String) -> PostgresError {
        var state: SQLState?
        var reasons: [String] = []
        // What the last address failed with: its paragraph begins with that.
        var (reason, isRefusal) = ("libpq gave no reason", false)
        for line in report.split(separator: "\n") {
            // What libpq supposes or asks back stands behind a tab.
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
            // Below a refusal are more lines of its message, its detail and its hint.
            if mark != nil || text.hasPrefix("connection to server") || !isSupposed && !isRefusal {
                (reason, isRefusal) = (text, mark != nil)
            }
        }
        return PostgresError(
            .connectionFailed, "\(address) cannot be reached: \(reason)", sqlState: state, underlying: reasons)
    }
}
