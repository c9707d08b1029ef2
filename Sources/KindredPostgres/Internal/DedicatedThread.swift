import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Threads of the library's own, for calls that block and so must not run on Swift's pool.
enum DedicatedThread {
    /// A call that hangs, in a name server or in a server's password puzzle, keeps its thread; so many may.
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
    /// Throws `PostgresError` `.connectionFailed` if the system has no thread left, or too many of these still run.
    static func start(_ body: @escaping @Sendable () -> Void) throws(PostgresError) {
        guard count.add(1, ordering: .relaxed).newValue <= maximumCount else {
            count.subtract(1, ordering: .relaxed)
            throw PostgresError(
                .connectionFailed, "\(maximumCount) connection attempts hang; no further one is started")
        }
        let status = launch(Unmanaged.passRetained(Box(body)).toOpaque())
        guard status == 0 else {
            count.subtract(1, ordering: .relaxed)
            throw PostgresError(.connectionFailed, "The system could not start a thread (error \(status))")
        }
    }

    /// Starts a detached thread that takes the box over; frees it if there is none.
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
