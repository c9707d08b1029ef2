#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Chooses a server's folder; the supervisor creates it, as the server's user.
enum ServerFolder {
    /// The longest path of a unix socket in bytes: 107 on Linux, 103 on macOS.
    static let longestSocketPath =
        MemoryLayout<sockaddr_un>.size - (MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2) - 1

    /// The environment variable that names the parent folder of servers whose options name none.
    private static let environmentVariable = "KINDRED_POSTGRES_FOLDER"

    /// Returns an unused path that is short enough for the socket's name.
    static func path(
        in named: String?, asOtherUser: Bool,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> String {
        let parent = named ?? environment[environmentVariable].flatMap { $0.isEmpty ? nil : $0 }
        let suffix = String(UInt64.random(in: 0...UInt64.max), radix: 36).suffix(8)
        let name = "/kindred-pg-\(ProcessInfo.processInfo.processIdentifier)-\(suffix)"
        func socketLength(_ parent: String) -> Int {
            "\(parent)\(name)/.s.PGSQL.\(EmbeddedPostgres.port)".utf8.count
        }
        if let parent {
            let trimmed = withoutTrailingSlashes(parent)
            guard trimmed.hasPrefix("/"), !trimmed.utf8.contains(where: { $0 < 0x20 }) else {
                throw EmbeddedPostgresError(
                    .folderFailed, "The folder for a server must be an absolute path, not “\(parent)”.")
            }
            guard socketLength(trimmed) <= longestSocketPath else {
                throw EmbeddedPostgresError(
                    .socketPathTooLong,
                    "\(parent) is too long for the path of a socket (\(longestSocketPath) bytes): choose a shorter one."
                )
            }
            return trimmed + name
        }
        // Root's own temporary folder is often inaccessible to the server's user.
        let temporary = withoutTrailingSlashes(FileManager.default.temporaryDirectory.path)
        let fits = !asOtherUser && temporary.hasPrefix("/") && socketLength(temporary) <= longestSocketPath
        return (fits ? temporary : "/tmp") + name
    }

    private static func withoutTrailingSlashes(_ path: String) -> String {
        var path = path[...]
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        return String(path)
    }
}
