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

/// The ordinary user as which a root process runs the server.
struct ServerUser: Sendable, Hashable {
    let name: String
    let userID: UInt32
    let groupID: UInt32

    /// The words of a command line that run a command as this user.
    ///
    /// A program changes the user, not the forked child: between fork and exec, glibc's change of groups can wait forever for
    /// a thread that was starting during the fork and does not exist in the child.
    var command: [String] {
        Self.isInstalled("setpriv")
            ? ["setpriv", "--reuid=\(userID)", "--regid=\(groupID)", "--clear-groups"]
            : Self.isInstalled("runuser") ? ["runuser", "-u", name, "--"] : ["sudo", "-n", "-u", name, "--"]
    }

    private static func isInstalled(_ program: String) -> Bool {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return path.split(separator: ":").contains { unsafe access("\($0)/\(program)", X_OK) == 0 }
    }

    /// Returns the user to change to, or nil if the process does not run as root.
    static func find(named name: String?) async throws -> ServerUser? {
        guard geteuid() == 0 else { return nil }
        let names = name.map { [$0] } ?? ["postgres", "nobody"]
        let user = await offCooperativePool { names.lazy.compactMap(lookUp).first { $0.userID != 0 } }
        guard let user else {
            throw EmbeddedPostgresError(
                .userNotFound,
                "PostgreSQL does not run as root, and there is no user \(names.joined(separator: " or ")) to run it as: "
                    + "add one, name another in the options, or start this process as an ordinary user.")
        }
        return user
    }

    private static func lookUp(_ name: String) -> ServerUser? {
        var entry = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        // Far more than a line of the user database needs; a longer one counts as not found.
        return unsafe withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 16) { buffer in
            let bytes = unsafe buffer.bindMemory(to: CChar.self)
            guard let start = bytes.baseAddress,
                unsafe getpwnam_r(name, &entry, start, bytes.count, &found) == 0, unsafe found != nil
            else {
                return nil
            }
            return unsafe ServerUser(name: name, userID: entry.pw_uid, groupID: entry.pw_gid)
        }
    }
}
