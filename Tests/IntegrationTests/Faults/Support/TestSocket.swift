#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Blocking sockets for proxies and servers of tests, which run on threads of their own.
struct TestSocket: Sendable {
    struct Failure: Error {}

    let descriptor: Int32

    #if canImport(Glibc)
        private static let stream = Int32(SOCK_STREAM.rawValue)
    #else
        private static let stream = SOCK_STREAM
    #endif
    #if canImport(Darwin)
        private static let noSignal: Int32 = 0
    #else
        private static let noSignal = Int32(MSG_NOSIGNAL)
    #endif

    /// Listens on a port of the loopback interface, on any that is free without one.
    static func listening(on port: UInt16 = 0) throws -> (socket: TestSocket, port: UInt16) {
        let listener = TestSocket(descriptor: socket(AF_INET, stream, 0))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener.descriptor, $0, length) == 0 && listen(listener.descriptor, 64) == 0
                    && getsockname(listener.descriptor, $0, &length) == 0
            }
        }
        guard isListening else {
            listener.close()
            throw Failure()
        }
        return (listener, UInt16(bigEndian: address.sin_port))
    }

    /// Connects to a port of this machine.
    static func connected(port: UInt16) -> TestSocket? {
        let client = TestSocket(descriptor: socket(AF_INET, stream, 0))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(client.descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        if isConnected { return client }
        client.close()
        return nil
    }

    /// Connects to a unix socket.
    static func connected(path: String) -> TestSocket? {
        let client = TestSocket(descriptor: socket(AF_UNIX, stream, 0))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(client.descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        if isConnected { return client }
        client.close()
        return nil
    }

    /// Takes connections until `stopListening` is called.
    func acceptAll(_ body: (TestSocket) -> Void) {
        while true {
            let client = accept(descriptor, nil, nil)
            if client >= 0 {
                body(TestSocket(descriptor: client))
            } else if errno == EMFILE || errno == ENFILE {
                usleep(10_000)
            } else if errno != EINTR, errno != ECONNABORTED {
                break
            }
        }
        #if !canImport(Darwin)
            close()
        #endif
    }

    /// Ends `acceptAll`.
    ///
    /// On Linux that closes the socket, on its own thread: here its number might be another's when that thread looks.
    func stopListening() {
        #if canImport(Darwin)
            close()
        #else
            shutDown()
        #endif
    }

    /// Waits for bytes; empty at the end, nil if nothing came in time.
    func read(milliseconds: Int32, atMost count: Int = 65_536) -> [UInt8]? {
        var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&polled, 1, milliseconds) > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        let received = recv(descriptor, &bytes, count, 0)
        return Array(bytes.prefix(max(0, received)))
    }

    /// Writes everything; false if the other side is gone.
    @discardableResult
    func write(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Self.noSignal) }
            guard sent > 0 else { return false }
            rest = rest.dropFirst(sent)
        }
        return true
    }

    /// Lets the close be a reset.
    func resetOnClose() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    func shutDown() {
        _ = shutdown(descriptor, Int32(2))
    }

    func close() {
        #if canImport(Glibc)
            Glibc.close(descriptor)
        #elseif canImport(Musl)
            Musl.close(descriptor)
        #else
            Darwin.close(descriptor)
        #endif
    }
}
