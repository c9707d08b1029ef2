import Kindred
import KindredPostgres
import Synchronization

/// Hears notifications, where they arrive, and signals them.
final class ReaderListener: Sendable {
    private let notifications: @Sendable () async throws -> Notifications
    private let warn: @Sendable (any Error) -> Void
    private let pause: Duration
    private let signal: ReaderSignal
    private let listens = Atomic(false)
    private let task = RankedMutex<Task<Void, Never>?>(nil, .leaf)

    /// - Parameters:
    ///   - signal: is told of notifications.
    ///   - pause: the time between attempts to listen.
    ///   - warn: is called when listening fails, once until it succeeds.
    ///   - notifications: begins to listen.
    init(
        _ signal: ReaderSignal, retryingAfter pause: Duration = .seconds(60),
        warn: @escaping @Sendable (any Error) -> Void,
        _ notifications: @escaping @Sendable () async throws -> Notifications
    ) {
        self.notifications = notifications
        self.warn = warn
        self.pause = pause
        self.signal = signal
    }

    /// Whether notifications arrive: not behind a pooler of transactions.
    var isListening: Bool { listens.load(ordering: .relaxed) }

    /// Begins to listen, unless it does.
    func start() {
        task.withLock { task in
            guard task == nil else { return }
            task = Task.detached { await self.run() }
        }
    }

    func end() {
        task.withLock { $0 }?.cancel()
    }

    private func run() async {
        var hasWarned = false
        while !Task.isCancelled {
            do {
                let notifications = try await notifications()
                hasWarned = false
                listens.store(true, ordering: .relaxed)
                // Changes from before are found by looking once more.
                signal.ask()
                for await event in notifications {
                    switch event {
                    case .notification: signal.notify()
                    // A lost connection was reopened: notifications may be missing.
                    case .missed: signal.ask()
                    }
                }
                listens.store(false, ordering: .relaxed)
            } catch {
                if !hasWarned, !Task.isCancelled { warn(error) }
                hasWarned = true
            }
            // Polling goes on meanwhile.
            try? await Task.sleep(for: pause)
        }
    }
}
