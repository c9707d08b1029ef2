import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Threads for blocking calls, which must not run on Swift's thread pool.
enum DedicatedThread {
    /// The limit: a call that hangs, in a name server or while hashing a password, keeps its thread.
    private static let maximumCount = 128
    private static let count = Atomic<Int>(0)

    private final class Box: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) {
            self.body = body
        }
    }

    /// Runs `body` on a new thread.
    ///
    /// Throws `PostgresError` `.connectionFailed` if the system is out of threads, or too many of these run.
    static func start(_ body: @escaping @Sendable () -> Void) throws(PostgresError) {
        guard count.add(1, ordering: .relaxed).newValue <= maximumCount else {
            count.subtract(1, ordering: .relaxed)
            throw PostgresError(
                .connectionFailed, "\(maximumCount) connection attempts are hanging; none is added")
        }
        let status = launch(Unmanaged.passRetained(Box(body)).toOpaque())
        guard status == 0 else {
            count.subtract(1, ordering: .relaxed)
            throw PostgresError(.connectionFailed, "The system could not start a thread (error \(status))")
        }
    }

    /// Starts a detached thread that takes the box; frees the box on failure.
    private static func launch(_ box: UnsafeMutableRawPointer) -> Int32 {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        defer { pthread_attr_destroy(&attributes) }
        #if canImport(Darwin)
            var thread: pthread_t?
        #else
            var thread = pthread_t()
        #endif
        let status = pthread_create(&thread, &attributes, runBox, box)
        if status != 0 { Unmanaged<Box>.fromOpaque(box).release() }
        return status
    }

    private static func run(_ box: UnsafeMutableRawPointer) {
        Unmanaged<Box>.fromOpaque(box).takeRetainedValue().body()
        count.subtract(1, ordering: .relaxed)
    }

    #if canImport(Darwin)
        private static let runBox: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = { box in
            run(box)
            return nil
        }
    #else
        private static let runBox: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { box in
            if let box { run(box) }
            return nil
        }
    #endif
}
