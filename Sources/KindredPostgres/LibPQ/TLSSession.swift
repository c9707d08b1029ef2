#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The TLS session of a connection, where libpq uses OpenSSL.
///
/// Safe while the connection is open: libpq keeps the session for as long.
@safe
struct TLSSession {
    private let pointer: OpaquePointer
    private let functions: TLSFunctions

    /// Takes the session of an open connection.
    @unsafe
    init(_ pointer: OpaquePointer, _ functions: TLSFunctions) {
        unsafe self.pointer = unsafe pointer
        self.functions = functions
    }

    /// The bytes that can be read at once: at most a record of 16 KiB.
    var waiting: Int {
        unsafe withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) { bytes in
            unsafe max(0, Int(functions.peek(pointer, bytes.baseAddress, Int32(bytes.count))))
        }
    }

    /// The bytes that are decrypted and not read.
    var pending: Int { unsafe Int(functions.pending(pointer)) }
}

/// OpenSSL's functions that show decrypted bytes.
@safe
struct TLSFunctions: Sendable {
    typealias Peek = @convention(c) (OpaquePointer, UnsafeMutableRawPointer?, Int32) -> Int32
    typealias Pending = @convention(c) (OpaquePointer) -> Int32

    let peek: Peek
    let pending: Pending

    /// The functions of the library that libpq has loaded.
    static let installed = unsafe TLSFunctions { name in unsafe dlsym(dlopen(nil, RTLD_NOW), name) }

    /// Resolves the functions; nil if one is missing.
    private init?(_ symbol: (String) -> UnsafeMutableRawPointer?) {
        guard let peek = unsafe symbol("SSL_peek"), let pending = unsafe symbol("SSL_pending") else { return nil }
        // Sound: the names are OpenSSL's, and the types are its header's.
        unsafe self.peek = unsafe unsafeBitCast(peek, to: Peek.self)
        unsafe self.pending = unsafe unsafeBitCast(pending, to: Pending.self)
    }
}
