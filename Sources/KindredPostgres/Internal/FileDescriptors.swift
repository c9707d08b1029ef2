#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The process's file descriptors.
enum FileDescriptors {
    /// Whether the process, or the system, is out of descriptors.
    ///
    /// libpq reports that only as text, and not from name look-ups.
    static var areExhausted: Bool {
        let file = SystemCalls.open("/dev/null")
        guard file < 0 else {
            close(file)
            return false
        }
        return errno == EMFILE || errno == ENFILE
    }

    /// The error of an operation that needs a descriptor.
    static func error(_ purpose: String, underlying: [String] = []) -> PostgresError {
        PostgresError(
            .tooManyOpenFiles,
            """
            \(purpose): the process has no file descriptor left; raise its limit (ulimit -n, LimitNOFILE), or lower \
            pool.maximumConnections
            """, underlying: underlying)
    }
}
