#if os(Linux)
    import CLibPQ
#endif
#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The system's calls that take pointers.
///
/// Safe: the pointers lead to variables of these functions, with their sizes, and the system does not keep them; a new
/// thread gets its own reference to its closure. A descriptor that is not open is an error, not a misuse of memory.
enum SystemCalls {
    /// The nanoseconds of a clock that never goes back.
    static var nanoseconds: UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// The milliseconds since 1970, by the clock that machines share.
    static var milliseconds: UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return UInt64(clamping: time.tv_sec) * 1_000 + UInt64(clamping: time.tv_nsec) / 1_000_000
    }

    /// The processor's time that the calling thread has used.
    static var threadTime: Duration {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    // MARK: Files

    /// Opens a file to read it; negative if that fails.
    static func open(_ path: String) -> Int32 { unsafe openFile(path, O_RDONLY | O_CLOEXEC) }

    static func canRead(_ path: String) -> Bool { unsafe access(path, R_OK) == 0 }

    /// The system's facts about a file; nil if there is none.
    static func status(of path: String) -> stat? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status : nil
    }

    // MARK: Sockets

    /// Waits until a socket is ready for one of the events, or broken; nil if the system cannot tell.
    @discardableResult
    static func wait(for events: Int32, _ socket: Int32, milliseconds: Int) -> Bool? {
        var polled = pollfd(fd: socket, events: Int16(clamping: events), revents: 0)
        let count = unsafe poll(&polled, 1, Int32(clamping: milliseconds))
        return count < 0 ? nil : polled.revents != 0
    }

    /// The bytes that wait to be read.
    static func waiting(_ socket: Int32) -> Int? {
        var count: Int32 = 0
        #if canImport(Darwin)
            var size = socklen_t(MemoryLayout<Int32>.size)
            return unsafe getsockopt(socket, SOL_SOCKET, SO_NREAD, &count, &size) == 0 ? Int(count) : nil
        #else
            return unsafe ioctl(socket, UInt(FIONREAD), &count) == 0 ? Int(count) : nil
        #endif
    }

    /// A socket's option that is a number.
    static func option(_ name: Int32, of socket: Int32) -> Int32? {
        var value: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        return unsafe getsockopt(socket, SOL_SOCKET, name, &value, &size) == 0 ? value : nil
    }

    static func setOption(_ name: Int32, to value: Int32, of socket: Int32) -> Bool {
        var value = value
        return unsafe setsockopt(socket, SOL_SOCKET, name, &value, socklen_t(MemoryLayout<Int32>.size)) == 0
    }

    #if os(Linux)
        /// `tcpi_bytes_received` of the kernel's `tcp_info`, whose layout is stable; the C library's struct is shorter.
        static func arrived(_ socket: Int32) -> Int? {
            unsafe withUnsafeTemporaryAllocation(byteCount: 256, alignment: 8) { info in
                var size = socklen_t(info.count)
                guard unsafe getsockopt(socket, Int32(IPPROTO_TCP), TCP_INFO, info.baseAddress, &size) == 0, size >= 136
                else { return nil }
                return unsafe Int(clamping: info.load(fromByteOffset: 128, as: UInt64.self))
            }
        }
    #endif

    /// Whether a text is an IPv6 address.
    static func isIPv6(_ text: String) -> Bool {
        var bytes = in6_addr()
        return unsafe inet_pton(AF_INET6, text, &bytes) == 1
    }

    #if os(Linux)
        /// Changes the events that an epoll waits for; false if it cannot.
        static func control(_ epoll: Int32, _ operation: Int32, socket: Int32, events: UInt32) -> Bool {
            var event = unsafe epoll_event(events: events, data: epoll_data_t(fd: socket))
            return unsafe epoll_ctl(epoll, operation, socket, &event) == 0
        }

        /// Waits for an epoll, and reports up to 64 sockets that are ready.
        static func wait(epoll: Int32, milliseconds: Int32, _ ready: (Int32) -> Void) {
            unsafe withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: 64) { events in
                let count = unsafe epoll_wait(epoll, events.baseAddress, 64, milliseconds)
                for index in 0..<max(0, Int(count)) { unsafe ready(events[index].data.fd) }
            }
        }

        /// Resets a descriptor that counts events.
        static func resetEvents(_ descriptor: Int32) {
            var value: eventfd_t = 0
            unsafe eventfd_read(descriptor, &value)
        }
    #else
        /// Waits for sockets, and sets their events.
        static func wait(for polled: inout [pollfd], milliseconds: Int32) {
            _ = unsafe poll(&polled, nfds_t(polled.count), milliseconds)
        }

        /// The ends of a new pipe; negative if there is none.
        static func openPipe() -> (read: Int32, write: Int32) {
            var ends: [Int32] = [-1, -1]
            unsafe pipe(&ends)
            return (ends[0], ends[1])
        }

        static func writeByte(to descriptor: Int32) {
            var byte: UInt8 = 1
            _ = unsafe write(descriptor, &byte, 1)
        }

        /// Reads and drops all waiting bytes.
        static func drain(_ descriptor: Int32) {
            var bytes = [UInt8](repeating: 0, count: 64)
            while unsafe read(descriptor, &bytes, bytes.count) > 0 {}
        }
    #endif

    // MARK: Threads

    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }

    /// Runs `body` on a new thread; returns the system's error, 0 if there is none.
    static func startThread(_ body: @escaping @Sendable () -> Void) -> Int32 {
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        defer { unsafe pthread_attr_destroy(&attributes) }
        #if canImport(Darwin)
            var thread: pthread_t?
        #else
            var thread = pthread_t()
        #endif
        // The thread takes the reference.
        let box = unsafe Unmanaged.passRetained(Body(body))
        let status = unsafe pthread_create(&thread, &attributes, runBody, box.toOpaque())
        if status != 0 { unsafe box.release() }
        return status
    }

    #if canImport(Darwin)
        private static let runBody: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = { box in
            unsafe Unmanaged<Body>.fromOpaque(box).takeRetainedValue().run()
            return nil
        }
    #else
        private static let runBody: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { box in
            if let box = unsafe box { unsafe Unmanaged<Body>.fromOpaque(box).takeRetainedValue().run() }
            return nil
        }
    #endif
}

/// Bits that each thread has for itself.
struct ThreadBits: Sendable {
    private let key: pthread_key_t

    /// nil if the process has no key left.
    init?() {
        var key = pthread_key_t()
        guard unsafe pthread_key_create(&key, nil) == 0 else { return nil }
        self.key = key
    }

    /// The bits of the calling thread, kept as a pointer that nothing follows; 0 at first.
    var bits: UInt {
        get { unsafe UInt(bitPattern: pthread_getspecific(key)) }
        nonmutating set { _ = unsafe pthread_setspecific(key, UnsafeRawPointer(bitPattern: newValue)) }
    }
}

private func openFile(_ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32 { unsafe open(path, flags) }
