import CLibPQ

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Counts the bytes that libpq reads from a connection, as protocol bytes or socket bytes.
///
/// libpq does not tell how much it has read and not returned. The count never exceeds what was read; on Linux it is
/// exact, except for protocol bytes under TLS.
struct InputMeter {
    private enum Source {
        /// The bytes received minus the bytes waiting.
        case arrivals
        /// A peek offset, which the kernel moves back by the bytes read.
        case offset
        /// The bytes waiting before and after each read.
        case waiting
        case encrypted(OpaquePointer, TLSFunctions)
    }

    private(set) var bytesRead = 0
    private let socket: Int32
    private let source: Source
    /// The last value of `source`.
    private var last: Int

    /// Counts protocol bytes; nil if the TLS layer cannot be inspected.
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

    /// Counts socket bytes, encrypted or not.
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

    /// Called before libpq reads.
    mutating func willRead() {
        switch source {
        case .arrivals, .offset: break
        case .waiting: last = Self.waiting(socket) ?? 0
        case .encrypted(let tls, let functions): last = functions.waiting(tls)
        }
    }

    /// Called after libpq may have read.
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
            // Reset long before it overflows.
            if offset < Self.start / 2, Self.setOffset(socket) { last = Self.start }
        case .waiting:
            bytesRead += max(0, last - (Self.waiting(socket) ?? last))
            last = 0
        case .encrypted(let tls, let functions):
            bytesRead += max(0, last - Int(functions.pending(tls)))
            last = 0
        }
    }

    /// A number that grows with each byte read from a socket, also by another thread; nil where the kernel does not
    /// count.
    ///
    /// - Parameter isFirst: whether counting may have to begin.
    static func readSoFar(_ socket: Int32, isFirst: Bool) -> Int? {
        if let arrived = arrivalsAtLeast(socket) { return arrived }
        if let offset = offset(socket) { return -offset }
        return isFirst && setOffset(socket) ? -start : nil
    }

    // MARK: What the kernel tells

    private static let start = 1 << 30

    /// The bytes read from a TCP socket, if the kernel counts the received ones.
    private static func arrivals(_ socket: Int32) -> Int? {
        #if os(Linux)
            while true {
                guard let before = arrived(socket), let waiting = waiting(socket), let after = arrived(socket) else {
                    return nil
                }
                // Otherwise bytes arrived in between.
                if before == after { return after - waiting }
            }
        #else
            return nil
        #endif
    }

    /// A lower bound while more arrives: bytes that arrive between the two questions are missing.
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
        /// `tcpi_bytes_received` of the kernel's `tcp_info`, whose layout is stable; the C library's struct is shorter.
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

/// OpenSSL's functions that show decrypted bytes, where libpq uses OpenSSL.
struct TLSFunctions: Sendable {
    typealias Peek = @convention(c) (OpaquePointer, UnsafeMutableRawPointer?, Int32) -> Int32
    typealias Pending = @convention(c) (OpaquePointer) -> Int32

    let peek: Peek
    let pending: Pending

    /// The functions of the library that libpq has loaded.
    static let installed = TLSFunctions { name in dlsym(dlopen(nil, RTLD_NOW), name) }

    /// Resolves the functions; nil if one is missing.
    init?(_ symbol: (String) -> UnsafeMutableRawPointer?) {
        guard let peek = symbol("SSL_peek"), let pending = symbol("SSL_pending") else { return nil }
        // Sound: the names are OpenSSL's, the types those of its header.
        self.peek = unsafeBitCast(peek, to: Peek.self)
        self.pending = unsafeBitCast(pending, to: Pending.self)
    }

    /// The bytes that can be read at once: at most a record of 16 KiB.
    func waiting(_ tls: OpaquePointer) -> Int {
        withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) { bytes in
            max(0, Int(peek(tls, bytes.baseAddress, Int32(bytes.count))))
        }
    }
}
