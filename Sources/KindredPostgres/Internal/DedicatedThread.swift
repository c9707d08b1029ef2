import Synchronization

/// Threads for blocking calls, which must not run on Swift's thread pool.
enum DedicatedThread {
    /// The limit: a call that hangs, in a name server or while hashing a password, keeps its thread.
    private static let maximumCount = 128
    private static let count = Atomic<Int>(0)

    /// Runs `body` on a new thread.
    ///
    /// Throws `PostgresError` `.connectionFailed` if the system is out of threads, or too many of these run.
    static func start(_ body: @escaping @Sendable () -> Void) throws(PostgresError) {
        guard count.add(1, ordering: .relaxed).newValue <= maximumCount else {
            count.subtract(1, ordering: .relaxed)
            throw PostgresError(
                .connectionFailed, "\(maximumCount) connection attempts are hanging; none is added")
        }
        let status = SystemCalls.startThread {
            body()
            count.subtract(1, ordering: .relaxed)
        }
        guard status == 0 else {
            count.subtract(1, ordering: .relaxed)
            throw PostgresError(.connectionFailed, "The system could not start a thread (error \(status))")
        }
    }
}
