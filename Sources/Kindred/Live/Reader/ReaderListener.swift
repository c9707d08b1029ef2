import KindredPostgres
import Synchronization

/// Hears that something has changed, where notifications arrive.
final class ReaderListener: Sendable {
    private let source: any ChangeSource
    private let signal: ReaderSignal
    private let listens = Atomic(false)
    private let task = RankedMutex<Task<Void, Never>?>(nil, .leaf)

    init(_ source: any ChangeSource, _ signal: ReaderSignal) {
        self.source = source
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
            if let notifications = try? await source.notifications() {
                listens.store(true, ordering: .relaxed)
                // A lost connection is reopened, and reported, since notifications may be missing.
                for await _ in notifications { signal.notify() }
                listens.store(false, ordering: .relaxed)
            }
            // Polling goes on meanwhile.
            try? await Task.sleep(for: .seconds(60))
        }
    }
}
