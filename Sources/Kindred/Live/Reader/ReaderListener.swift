import KindredPostgres
import Synchronization

/// Hears notifications, where they arrive, and signals them.
final class ReaderListener: Sendable {
    private let notifications: @Sendable () async throws -> Notifications
    private let signal: ReaderSignal
    private let listens = Atomic(false)
    private let task = RankedMutex<Task<Void, Never>?>(nil, .leaf)

    init(_ signal: ReaderSignal, _ notifications: @escaping @Sendable () async throws -> Notifications) {
        self.notifications = notifications
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
        while !Task.isCancelled {
            if let notifications = try? await notifications() {
                listens.store(true, ordering: .relaxed)
                // What happened before is found by looking once more.
                signal.notify()
                // A lost connection is reopened, and reported, since notifications may be missing.
                for await _ in notifications { signal.notify() }
                listens.store(false, ordering: .relaxed)
            }
            // Polling goes on meanwhile.
            try? await Task.sleep(for: .seconds(60))
        }
    }
}
