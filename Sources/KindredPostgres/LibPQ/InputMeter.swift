#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Counts the bytes that libpq reads from a connection, as protocol bytes or socket bytes.
///
/// libpq does not tell how much it has read and not returned. The count never exceeds the bytes read; on Linux it is
/// exact, except for protocol bytes under TLS.
struct InputMeter {
    private enum Source {
        /// The bytes received minus the bytes waiting.
        case arrivals
        /// A peek offset, which the kernel moves back by the bytes read.
        case offset
        /// The bytes waiting before and after each read.
        case waiting
        case encrypted(TLSSession)
    }

    private(set) var bytesRead = 0
    private let socket: Int32
    private let source: Source
    /// The last value of `source`.
    private var last: Int

    /// Counts protocol bytes; nil if the TLS layer cannot be inspected.
    init?(_ handle: ConnectionHandle) {
        if handle.isEncryptedByGSS { return nil }
        if handle.isEncrypted {
            guard let tls = handle.tls else { return nil }
            self.init(handle.socket, .encrypted(tls))
        } else {
            self.init(socket: handle.socket)
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
        case .waiting: last = SystemCalls.waiting(socket) ?? 0
        case .encrypted(let tls): last = tls.waiting
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
            bytesRead += max(0, last - (SystemCalls.waiting(socket) ?? last))
            last = 0
        case .encrypted(let tls):
            bytesRead += max(0, last - tls.pending)
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

    // MARK: The kernel's counters

    private static let start = 1 << 30

    /// The bytes read from a TCP socket, if the kernel counts received bytes.
    private static func arrivals(_ socket: Int32) -> Int? {
        #if os(Linux)
            while true {
                guard let before = SystemCalls.arrived(socket), let waiting = SystemCalls.waiting(socket),
                    let after = SystemCalls.arrived(socket)
                else {
                    return nil
                }
                // Unequal counts mean that bytes arrived in between.
                if before == after { return after - waiting }
            }
        #else
            return nil
        #endif
    }

    /// A lower bound while more arrives: bytes that arrive between the two questions are missing.
    private static func arrivalsAtLeast(_ socket: Int32) -> Int? {
        #if os(Linux)
            guard let arrived = SystemCalls.arrived(socket), let waiting = SystemCalls.waiting(socket) else {
                return nil
            }
            return arrived - waiting
        #else
            return nil
        #endif
    }

    #if os(Linux)
        private static func offset(_ socket: Int32) -> Int? {
            SystemCalls.option(SO_PEEK_OFF, of: socket).flatMap { $0 >= 0 ? Int($0) : nil }
        }

        private static func setOffset(_ socket: Int32) -> Bool {
            SystemCalls.setOption(SO_PEEK_OFF, to: Int32(start), of: socket)
        }
    #else
        private static func offset(_ socket: Int32) -> Int? { nil }
        private static func setOffset(_ socket: Int32) -> Bool { false }
    #endif
}
