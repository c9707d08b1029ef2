#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A port on the loopback interface where the system accepts connections and no server ever answers.
final class SilentServer: Sendable {
    struct Failure: Error {}

    let port: UInt16
    private let socket: Int32

    init() throws {
        #if canImport(Glibc)
            let kind = Int32(SOCK_STREAM.rawValue)
        #else
            let kind = SOCK_STREAM
        #endif
        socket = Self.open(kind)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { [socket] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, length) == 0 && listen(socket, 8) == 0 && getsockname(socket, $0, &length) == 0
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        if !isListening { throw Failure() }
    }

    private static func open(_ kind: Int32) -> Int32 {
        #if canImport(Glibc)
            Glibc.socket(AF_INET, kind, 0)
        #elseif canImport(Musl)
            Musl.socket(AF_INET, kind, 0)
        #else
            Darwin.socket(AF_INET, kind, 0)
        #endif
    }

    deinit {
        close(socket)
    }
}
