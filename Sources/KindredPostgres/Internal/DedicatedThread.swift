#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Threads of the library's own, for calls that block and so must not run on Swift's pool.
enum DedicatedThread {
    private final class Box: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) {
            self.body = body
        }
    }

    /// Runs `body` on a new thread.
    ///
    /// Throws `PostgresError` `.connectionFailed` if the system has no thread left.
    static func start(_ body: @escaping @Sendable () -> Void) throws {
        let status = launch(Unmanaged.passRetained(Box(body)).toOpaque())
        guard status == 0 else {
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

    #if canImport(Darwin)
        private static let runBox: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = { box in
            Unmanaged<Box>.fromOpaque(box).takeRetainedValue().body()
            return nil
        }
    #else
        private static let runBox: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { box in
            if let box { Unmanaged<Box>.fromOpaque(box).takeRetainedValue().body() }
            return nil
        }
    #endif
}

/// Nanoseconds of a clock that never goes back.
func monotonicNow() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

extension Duration {
    /// Nanoseconds, at most some 292 years.
    var nanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0 else { return 0 }
        return UInt64(min(seconds, 9_000_000_000)) * 1_000_000_000 + UInt64(max(0, attoseconds)) / 1_000_000_000
    }
}
