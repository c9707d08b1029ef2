#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// What the process may open: sockets, files, and what waits for them.
enum FileDescriptors {
    /// Whether the process, or the whole system, has none left at this moment.
    ///
    /// libpq tells of it in words only, which name look-ups swallow.
    static var areExhausted: Bool {
        let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard file < 0 else {
            close(file)
            return false
        }
        return errno == EMFILE || errno == ENFILE
    }

    /// The error of somebody who needed one.
    static func error(_ purpose: String, underlying: [String] = []) -> PostgresError {
        PostgresError(
            .tooManyOpenFiles,
            """
            \(purpose): the process has no file descriptor left; raise its limit (ulimit -n, LimitNOFILE), or lower \
            pool.maximumConnections
            """, underlying: underlying)
    }
}
