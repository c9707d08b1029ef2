import CLibPQ
import Synchronization

/// One attempt to connect: whoever comes first, the thread, the deadline or a cancellation, ends it.
final class ConnectionAttempt: PolledSource {
    typealias Opened = Connector.Opened

    private struct State {
        var waiting: CheckedContinuation<Opened, any Error>?
        /// Asks for the password, where that is somebody else's to know.
        var asking: Task<Void, Never>?
        var isAsking = false
        var isOver = false
    }

    let deadline: MonotonicTime
    let address: String
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

    /// A provider that neither answers nor heeds its cancellation keeps its task; so many may.
    private static let maximumAsking = 1_000
    private static let askingCount = Atomic(0)

    /// Asks for the password, in a task of its own, which may be slow or never end; then goes on with `next`.
    func ask(
        _ provider: @escaping PostgresConfiguration.PasswordProvider,
        then next: @escaping @Sendable (PostgresConfiguration.Password) throws(PostgresError) -> Void
    ) {
        guard Self.askingCount.add(1, ordering: .relaxed).newValue <= Self.maximumAsking else {
            Self.askingCount.subtract(1, ordering: .relaxed)
            return fail(
                PostgresError(
                    .passwordUnavailable,
                    "\(Self.maximumAsking) calls of password providers hang; no further one is made"))
        }
        state.withLock { $0.isAsking = true }
        let asking = Task.detached { [self] in
            defer { Self.askingCount.subtract(1, ordering: .relaxed) }
            do {
                let password = try await Self.password(of: provider)
                let isWanted = state.withLock { state in
                    state.isAsking = false
                    return !state.isOver
                }
                if isWanted { try next(password) }
            } catch {
                fail(error)
            }
        }
        let isOver = state.withLock { state in
            state.asking = state.isOver ? nil : asking
            return state.isOver
        }
        if isOver { asking.cancel() }
    }

    private static func password(
        of provider: PostgresConfiguration.PasswordProvider
    ) async throws(PostgresError) -> PostgresConfiguration.Password {
        let password: PostgresConfiguration.Password
        do {
            password = try await provider()
        } catch {
            throw PostgresError(
                .passwordUnavailable,
                "The password provider failed with \(type(of: error)); the server was not asked for a connection",
                underlying: ["\(error)"])
        }
        // libpq would take a variable's password for an empty one, and cut one at a NUL.
        guard !password.text.isEmpty, !password.text.utf8.contains(0) else {
            throw PostgresError(
                .passwordUnavailable, "The password provider gave a password that is empty or holds a NUL character")
        }
        return password
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

    /// Whether nobody waits for the connection any more.
    var isOver: Bool { state.withLock { $0.isOver } }

    private func take() -> CheckedContinuation<Opened, any Error>? {
        Poller.shared.removeTimed(self)
        let (waiting, asking) = state.withLock { state in
            defer { state = State(isAsking: state.isAsking, isOver: true) }
            return (state.waiting, state.asking)
        }
        // This may be a handler of a cancellation, which must not run another's.
        if let asking { Poller.shared.later { asking.cancel() } }
        return waiting
    }

    /// The error of an attempt for which the time is up.
    var timedOut: PostgresError {
        state.withLock { $0.isAsking }
            ? PostgresError(.passwordUnavailable, "The password provider gave nothing within the connect timeout")
            : PostgresError(.connectionFailed, "\(address) did not answer within the connect timeout")
    }

    func socketIsReady() {}

    func deadlinePassed(_ now: MonotonicTime) -> MonotonicTime {
        guard now >= deadline else { return deadline }
        fail(timedOut)
        return .never
    }
}
