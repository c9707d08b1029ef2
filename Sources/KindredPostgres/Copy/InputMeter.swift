import CLibPQ

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Counts what libpq reads from a connection, in bytes of the protocol or of the socket.
///
/// libpq does not tell what it has read and not shown. The count is never more than what was read; on Linux it is exact,
/// unless bytes of the protocol are counted behind encryption.
struct InputMeter {
    private enum Source {
        /// What has arrived and is not waiting any more.
        case arrivals
        /// An offset into what waits, which the kernel moves back by what is read.
        case offset
        /// What waits before and after each reading.
        case waiting
        case encrypted(OpaquePointer, TLSFunctions)
    }

    private(set) var bytesRead = 0
    private let socket: Int32
    private let source: Source
    /// What `source` said last.
    private var last: Int

    /// Begins to count bytes of the protocol; nil if nothing can be known of the connection's encryption.
    init?(_ handle: OpaquePointer) {
        let socket = PQsocket(handle)
        if PQgssEncInUse(handle) == 1 { return nil }
        if PQsslInUse(handle) == 1 {
            guard let functions = TLSFunctions.installed, let tls = PQsslStruct(handle, "OpenSSL") else { return nil }
            self.init(socket, .encrypted(OpaquePointer(tls), functions))
        } else {
            self.init(socket: socket)
        }
    }

    /// Begins to count bytes of a socket, encrypted or not.
    init(socket: Int32) {
        if let arrived = Self.arrivals(socket) {
            self.init(socket, .arrivals, last: arrived)
        } else if Self.setOffset(socket) {
            self.init(socket, .offset, last: Self.start)
        } else {
            self.init(socket, .waiting)
        }
    }

    private init(_ socket: Int32, _ source: Source, last: Int = 0) {
        self.socket = socket
        self.source = source
        self.last = last
    }

    /// Just before libpq reads.
    mutating func willRead() {
        switch source {
        case .arrivals, .offset: break
        case .waiting: last = Self.waiting(socket) ?? 0
        case .encrypted(let tls, let functions): last = functions.waiting(tls)
        }
    }

    /// When libpq has read, or may have.
    mutating func didRead() {
        switch source {
        case .arrivals:
            guard let arrived = Self.arrivals(socket) else { return }
            bytesRead += max(0, arrived - last)
            last = arrived
        case .offset:
            guard let offset = Self.offset(socket) else { return }
            bytesRead += max(0, last - offset)
            last = offset
            // Long before it is used up.
            if offset < Self.start / 2, Self.setOffset(socket) { last = Self.start }
        case .waiting:
            bytesRead += max(0, last - (Self.waiting(socket) ?? last))
            last = 0
        case .encrypted(let tls, let functions):
            bytesRead += max(0, last - Int(functions.pending(tls)))
            last = 0
        }
    }

    /// A number that grows with each byte that is read from a socket, also while another thread reads; nil where the kernel
    /// does not count.
    ///
    /// - Parameter isFirst: whether counting may have to be begun.
    static func readSoFar(_ socket: Int32, isFirst: Bool) -> Int? {
        if let arrived = arrivalsAtLeast(socket) { return arrived }
        if let offset = offset(socket) { return -offset }
        return isFirst && setOffset(socket) ? -start : nil
    }

    // MARK: What the kernel tells

    private static let start = 1 << 30

    /// How much has been read from a TCP socket, if the kernel counts what arrives.
    private static func arrivals(_ socket: Int32) -> Int? {
        #if os(Linux)
            while true {
                guard let before = arrived(socket), let waiting = waiting(socket), let after = arrived(socket) else {
                    return nil
                }
                // Otherwise something came in between.
                if before == after { return after - waiting }
            }
        #else
            return nil
        #endif
    }

    /// The same while more arrives, at once: what arrives between the two questions is missing.
    private static func arrivalsAtLeast(_ socket: Int32) -> Int? {
        #if os(Linux)
            guard let arrived = arrived(socket), let waiting = waiting(socket) else { return nil }
            return arrived - waiting
        #else
            return nil
        #endif
    }

    private static func waiting(_ socket: Int32) -> Int? {
        var count: Int32 = 0
        #if canImport(Darwin)
            var size = socklen_t(MemoryLayout<Int32>.size)
            return getsockopt(socket, SOL_SOCKET, SO_NREAD, &count, &size) == 0 ? Int(count) : nil
        #else
            return ioctl(socket, UInt(FIONREAD), &count) == 0 ? Int(count) : nil
        #endif
    }

    #if os(Linux)
        /// `tcpi_bytes_received` of the kernel's `tcp_info`, whose members never move; the C library's has fewer.
        private static func arrived(_ socket: Int32) -> Int? {
            withUnsafeTemporaryAllocation(byteCount: 256, alignment: 8) { info in
                var size = socklen_t(info.count)
                guard getsockopt(socket, Int32(IPPROTO_TCP), TCP_INFO, info.baseAddress, &size) == 0, size >= 136 else {
                    return nil
                }
                return Int(clamping: info.load(fromByteOffset: 128, as: UInt64.self))
            }
        }

        private static func offset(_ socket: Int32) -> Int? {
            var offset: Int32 = 0
            var size = socklen_t(MemoryLayout<Int32>.size)
            return getsockopt(socket, SOL_SOCKET, SO_PEEK_OFF, &offset, &size) == 0 && offset >= 0 ? Int(offset) : nil
        }

        private static func setOffset(_ socket: Int32) -> Bool {
            var offset = Int32(start)
            return setsockopt(socket, SOL_SOCKET, SO_PEEK_OFF, &offset, socklen_t(MemoryLayout<Int32>.size)) == 0
        }
    #else
        private static func offset(_ socket: Int32) -> Int? { nil }
        private static func setOffset(_ socket: Int32) -> Bool { false }
    #endif
}

/// The functions of OpenSSL that show what is behind the encryption, where libpq uses OpenSSL.
struct TLSFunctions: Sendable {
    typealias Peek = @convention(c) (OpaquePointer, UnsafeMutableRawPointer?, Int32) -> Int32
    typealias Pending = @convention(c) (OpaquePointer) -> Int32

    let peek: Peek
    let pending: Pending

    /// Those of the library that libpq itself has loaded.
    static let installed = TLSFunctions { name in dlsym(dlopen(nil, RTLD_NOW), name) }

    /// Looks them up; nil if one is missing.
    init?(_ symbol: (String) -> UnsafeMutableRawPointer?) {
        guard let peek = symbol("SSL_peek"), let pending = symbol("SSL_pending") else { return nil }
        // The names are OpenSSL's own, and these the types that its header declares for them.
        self.peek = unsafeBitCast(peek, to: Peek.self)
        self.pending = unsafeBitCast(pending, to: Pending.self)
    }

    /// How much can be read at once: at most a record, which has at most 16 KiB.
    func waiting(_ tls: OpaquePointer) -> Int {
        withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) { bytes in
            max(0, Int(peek(tls, bytes.baseAddress, Int32(bytes.count))))
        }
    }
}
