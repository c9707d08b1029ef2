import CLibPQ
import Synchronization

/// Asks the server to cancel what a connection is working on, from a thread of its own because the call blocks.
///
/// The thread keeps the canceller alive, so that its key is freed when nobody uses it any more.
final class Canceller: Sendable {
    // Never changed after the initializer; libpq allows its use beside the connection's own, by one thread at a time,
    // which the mutex sees to.
    private nonisolated(unsafe) let key: OpaquePointer?
    private let use = Mutex(())

    init(_ connection: OpaquePointer) {
        key = PQgetCancel(connection)
    }

    /// Sends the request and tells whether the server took it.
    func cancel(_ done: @escaping @Sendable (Bool) -> Void) {
        do {
            try DedicatedThread.start { [self] in
                done(
                    use.withLock { _ in
                        guard let key else { return true }
                        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text in
                            PQcancel(key, text.baseAddress, 256) == 1
                        }
                    }
                )
            }
        } catch {
            done(false)
        }
    }

    deinit {
        PQfreeCancel(key)
    }
}
