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

/// Opens connections, each on a thread of its own: looking up names and computing passwords block inside libpq.
enum Connector {
    /// A connection that nobody has taken over yet.
    struct Opened: @unchecked Sendable {
        // Sendable: the pointer is handed from the connecting thread to one owner, who guards it with a mutex.
        let handle: OpaquePointer
    }

    /// Opens a connection within the time that the configuration allows, over all its endpoints together.
    ///
    /// When the time is up the task goes on with an error, and the thread ends the attempt by itself.
    static func open(_ configuration: PostgresConfiguration, environment: [String: String]) async throws -> Opened {
        let parameters = try configuration.libpqParameters(libpqVersion: LibPQ.version, environment: environment)
        let address = configuration.description
        let deadline = monotonicNow() &+ configuration.connectTimeout.nanoseconds
        let attempt = Attempt(deadline: deadline, address: address)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                attempt.begin(continuation)
                do {
                    try Poller.shared.addTimed(attempt)
                    Poller.shared.wake(by: deadline)
                    try DedicatedThread.start {
                        let result = Result { () throws(PostgresError) in try connect(parameters, deadline, address) }
                        attempt.finish(result)
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
        private let deadline: UInt64
        private let address: String
        private let continuation = Mutex<(waiting: CheckedContinuation<Opened, any Error>?, isOver: Bool)>((nil, false))

        init(deadline: UInt64, address: String) {
            self.deadline = deadline
            self.address = address
        }

        func begin(_ waiting: CheckedContinuation<Opened, any Error>) {
            let isOver = continuation.withLock { state in
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
            continuation.withLock { state in
                defer { state = (nil, true) }
                return state.waiting
            }
        }

        func socketIsReady() {}

        func deadlinesPassed(now: UInt64) -> UInt64? {
            guard now >= deadline else { return deadline }
            fail(PostgresError(.connectionFailed, "\(address) did not answer within the connect timeout"))
            return nil
        }
    }

    /// Runs on the attempt's own thread.
    private static func connect(
        _ parameters: [(keyword: String, value: String)],
        _ deadline: UInt64,
        _ address: String
    ) throws(PostgresError) -> Opened {
        let keywords = parameters.map { strdup($0.keyword) } + [nil]
        let values = parameters.map { strdup($0.value) } + [nil]
        defer { for text in keywords + values { free(text) } }
        guard let handle = PQconnectStartParams(keywords.map { UnsafePointer($0) }, values.map { UnsafePointer($0) }, 0)
        else { throw PostgresError(.connectionFailed, "There is no memory for another connection") }
        // The long form of messages is the only place where libpq tells the SQLSTATE of a refused connection.
        PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
        PQsetNoticeReceiver(handle, { _, _ in }, nil)
        var status = PQstatus(handle) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING
        while status == PGRES_POLLING_READING || status == PGRES_POLLING_WRITING {
            let now = monotonicNow()
            guard now < deadline else {
                PQfinish(handle)
                throw PostgresError(.connectionFailed, "\(address) did not answer within the connect timeout")
            }
            let events = Int16(status == PGRES_POLLING_READING ? POLLIN : POLLOUT)
            var polled = pollfd(fd: PQsocket(handle), events: events, revents: 0)
            poll(&polled, 1, Int32(clamping: min((deadline - now) / 1_000_000 + 1, 1_000)))
            if polled.revents != 0 { status = PQconnectPoll(handle) }
        }
        guard status == PGRES_POLLING_OK else {
            defer { PQfinish(handle) }
            throw failure(LibPQ.connectionMessage(handle), address)
        }
        PQsetErrorVerbosity(handle, PQERRORS_DEFAULT)
        guard PQsetnonblocking(handle, 1) == 0, PQenterPipelineMode(handle) == 1 else {
            PQfinish(handle)
            throw PostgresError(.connectionFailed, "\(address) cannot be used in pipeline mode")
        }
        return Opened(handle: handle)
    }

    /// Reads libpq's report of a failed attempt: a paragraph for each address tried, the server's code in its last.
    private static func failure(_ report: String, _ address: String) -> PostgresError {
        let lines = report.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("LOCATION:") }
        var state: SQLState?
        for line in lines {
            // "FATAL:  28P01: password authentication failed for user …"
            for word in line.split(separator: " ") where word.count == 6 && word.hasSuffix(":") {
                let code = word.dropLast()
                guard code.allSatisfy({ $0.isASCII && ($0.isNumber || $0.isUppercase) }) else { continue }
                state = SQLState(rawValue: String(code))
            }
        }
        return PostgresError(
            .connectionFailed,
            "\(address) cannot be reached: \(lines.joined(separator: "; "))",
            sqlState: state,
            underlying: lines
        )
    }
}
