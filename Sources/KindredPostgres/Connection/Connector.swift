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
    }

    /// Opens a connection within the time that the configuration allows, over all its endpoints together.
    ///
    /// When the time is up the task goes on with an error, and the thread ends the attempt by itself.
    static func open(
        _ configuration: PostgresConfiguration, logger: Logger?,
        notices: StreamObservers<ServerMessage>? = nil,
        onNotification: (@Sendable (PostgresNotification) -> Void)? = nil
    ) async throws -> Opened {
        let parameters = try configuration.libpqParameters(
            libpqVersion: LibPQ.version, environment: ProcessInfo.processInfo.environment)
        let address = configuration.description
        let deadline = MonotonicTime.now + configuration.connectTimeout
        let sink = NoticeSink(logger: logger, observers: notices, onNotification: onNotification)
        let attempt = Attempt(deadline: deadline, address: address)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                attempt.begin(continuation)
                do {
                    try Poller.shared.addTimed(attempt)
                    Poller.shared.wake(by: deadline)
                    try DedicatedThread.start {
                        attempt.finish(
                            Result { () throws(PostgresError) in
                                try connect(parameters, deadline, address, sink)
                            })
                    }
                } catch {
                    attempt.fail(error)
                }
            }
        } onCancel: {
            attempt.fail(CancellationError())
        }
    }

    /// One attempt: whoever comes first, the thread, the deadline or a cancellation, ends it.
    private final class Attempt: PolledSource {
        private struct State {
            var waiting: CheckedContinuation<Opened, any Error>?
            var isOver = false
        }

        private let deadline: MonotonicTime
        private let address: String
        private let state = Mutex(State())

        init(deadline: MonotonicTime, address: String) {
            self.deadline = deadline
            self.address = address
        }

        func begin(_ waiting: CheckedContinuation<Opened, any Error>) {
            let isOver = state.withLock { state in
                if !state.isOver { state.waiting = waiting }
                return state.isOver
            }
            if isOver { waiting.resume(throwing: CancellationError()) }
        }

        func finish(_ result: Result<Opened, PostgresError>) {
            if let waiting = take() {
                waiting.resume(with: result.mapError { $0 as any Error })
            } else if case .success(let opened) = result {
                PQfinish(opened.handle)
            }
        }

        func fail(_ error: any Error) {
            take()?.resume(throwing: error)
        }

        private func take() -> CheckedContinuation<Opened, any Error>? {
            Poller.shared.removeTimed(self)
            return state.withLock { state in
                defer { state = State(waiting: nil, isOver: true) }
                return state.waiting
            }
        }

        func socketIsReady() {}

        func deadlinePassed(_ now: MonotonicTime) -> MonotonicTime {
            guard now >= deadline else { return deadline }
            fail(timedOut(address))
            return .never
        }
    }

    /// Runs on the attempt's own thread.
    private static func connect(
        _ parameters: [(keyword: String, value: String)],
        _ deadline: MonotonicTime,
        _ address: String,
        _ notices: NoticeSink
    ) throws(PostgresError) -> Opened {
        let keywords = parameters.map { strdup($0.keyword) } + [nil]
        let values = parameters.map { strdup($0.value) } + [nil]
        defer { for text in keywords + values { free(text) } }
        guard let handle = PQconnectStartParams(keywords.map { UnsafePointer($0) }, values.map { UnsafePointer($0) }, 0)
        else { throw PostgresError(.connectionFailed, "There is no memory for another connection") }
        // The long form of messages is the only place where libpq tells the SQLSTATE of a refused connection.
        PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
        notices.install(on: handle)
        var status = PQstatus(handle) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING
        while status == PGRES_POLLING_READING || status == PGRES_POLLING_WRITING {
            let now = MonotonicTime.now
            guard now < deadline else {
                PQfinish(handle)
                throw timedOut(address)
            }
            let events = Int16(status == PGRES_POLLING_READING ? POLLIN : POLLOUT)
            var polled = pollfd(fd: PQsocket(handle), events: events, revents: 0)
            let milliseconds = (deadline.nanoseconds - now.nanoseconds) / 1_000_000 + 1
            poll(&polled, 1, Int32(clamping: min(milliseconds, 1_000)))
            if polled.revents != 0 { status = PQconnectPoll(handle) }
        }
        guard status == PGRES_POLLING_OK else {
            defer { PQfinish(handle) }
            throw failure(LibPQ.message(of: handle), address)
        }
        PQsetErrorVerbosity(handle, PQERRORS_DEFAULT)
        guard PQsetnonblocking(handle, 1) == 0, PQenterPipelineMode(handle) == 1 else {
            PQfinish(handle)
            throw PostgresError(.connectionFailed, "\(address) cannot be used in pipeline mode")
        }
        if let objection = objection(to: handle) {
            PQfinish(handle)
            throw PostgresError(.connectionFailed, "\(address) cannot be used: \(objection)")
        }
        return Opened(handle: handle, notices: notices)
    }

    private static func timedOut(_ address: String) -> PostgresError {
        PostgresError(.connectionFailed, "\(address) did not answer within the connect timeout")
    }

    /// Reads libpq's report of a failed attempt: a paragraph for each address tried, the server's code in it.
    private static func failure(_ report: String, _ address: String) -> PostgresError {
        var state: SQLState?
        let reasons = LibPQ.lines(of: report).compactMap { line -> String? in
            guard !line.hasPrefix("LOCATION:") else { return nil }
            // "connection to server … failed: FATAL:  28P01: password authentication failed for user …"
            guard let mark = line.firstRange(of: "FATAL:  ") else { return line }
            let rest = line[mark.upperBound...]
            let code = rest.prefix(5)
            guard code.utf8.count == 5, code.allSatisfy({ $0.isASCII && ($0.isNumber || $0.isUppercase) }),
                rest.dropFirst(5).hasPrefix(": ")
            else { return line }
            state = SQLState(rawValue: String(code))
            return String(line[..<mark.upperBound]) + String(rest.dropFirst(7))
        }
        let reason = reasons.last ?? "libpq gave no reason"
        return PostgresError(
            .connectionFailed, "\(address) cannot be reached: \(reason)", sqlState: state, underlying: reasons)
    }
}
