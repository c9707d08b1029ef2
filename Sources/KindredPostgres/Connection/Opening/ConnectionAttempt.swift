import Synchronization

/// One attempt to connect, ended by the connecting thread, the deadline or a cancellation, whichever comes first.
final class ConnectionAttempt: PolledSource {
    typealias Opened = Connector.Opened

    private struct State {
        var waiting: CheckedContinuation<Opened, any Error>?
        /// The call of the password provider.
        var asking: Task<Void, Never>?
        var isAsking = false
        var isOver = false
    }

    let deadline: MonotonicTime
    let address: String
    private let state = RankedMutex(State(), .leaf)

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

    /// The limit on provider calls that hang: each keeps its task.
    private static let maximumAsking = 1_000
    private static let askingCount = Atomic(0)

    /// Calls the provider in a task of its own, as it may be slow or hang; then continues with `next`.
    func ask(
        _ provider: @escaping PostgresConfiguration.PasswordProvider,
        then next: @escaping @Sendable (PostgresConfiguration.Password) throws(PostgresError) -> Void
    ) {
        guard Self.askingCount.add(1, ordering: .relaxed).newValue <= Self.maximumAsking else {
            Self.askingCount.subtract(1, ordering: .relaxed)
            return fail(
                PostgresError(
                    .passwordUnavailable,
                    "\(Self.maximumAsking) calls of password providers are hanging; none is added"))
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
            // The error's own text may hold secrets: its type alone is told.
            throw PostgresError(
                .passwordUnavailable,
                "The password provider failed with \(type(of: error)); no connection was attempted")
        }
        // libpq would replace an empty password by the environment's, and truncate one at a NUL.
        guard !password.text.isEmpty, !password.text.utf8.contains(0) else {
            throw PostgresError(
                .passwordUnavailable, "The password provider returned a password that is empty or has a NUL character")
        }
        return password
    }

    func finish(_ result: Result<Opened, PostgresError>) {
        if let waiting = conclude() {
            waiting.resume(with: result.mapError { $0 as any Error })
        } else if case .success(let opened) = result {
            opened.handle.finish()
        }
    }

    func fail(_ error: any Error) {
        conclude()?.resume(throwing: error)
    }

    /// Whether the attempt has ended, so that its result is discarded.
    var isOver: Bool { state.withLock { $0.isOver } }

    private func conclude() -> CheckedContinuation<Opened, any Error>? {
        Poller.shared.removeTimed(self)
        let (waiting, asking) = state.withLock { state in
            defer { state = State(isAsking: state.isAsking, isOver: true) }
            return (state.waiting, state.asking)
        }
        // Deferred: this may run in a cancellation handler, which must not run another handler.
        if let asking { Poller.shared.later { asking.cancel() } }
        return waiting
    }

    /// The error for a missed deadline.
    var timedOut: PostgresError {
        state.withLock { $0.isAsking }
            ? PostgresError(.passwordUnavailable, "The password provider did not answer within the connect timeout")
            : PostgresError(.connectionFailed, "\(address) did not answer within the connect timeout")
    }

    func socketIsReady() {}

    func deadlinePassed(_ now: MonotonicTime) -> MonotonicTime {
        guard now >= deadline else { return deadline }
        fail(timedOut)
        return .never
    }
}

/// The time that a server has in an attempt to connect.
struct ConnectionTurn {
    let attempt: ConnectionAttempt
    /// The server, or the list of them, for errors.
    let address: String
    let deadline: MonotonicTime
    /// Whether another server has become known that is to be used instead.
    var isOvertaken: () -> Bool = { false }

    /// Whether the result is no longer of use.
    var isOver: Bool { attempt.isOver || isOvertaken() }

    /// The error for a missed deadline.
    var timedOut: PostgresError {
        deadline < attempt.deadline || isOvertaken()
            ? PostgresError(
                .connectionFailed,
                "\(address) did not answer within its share of the connect timeout, or before another server was known")
            : attempt.timedOut
    }
}
