extension EmbeddedPostgres {
    /// The options of an embedded server; the defaults suit tests.
    public struct Options: Sendable {
        /// Server settings that add to the defaults or replace them: `["max_connections": "20"]`.
        ///
        /// Written to `postgresql.conf`; values need no quotes. With `listen_addresses` the server listens on TCP, too, where a role
        /// needs a password (`ALTER ROLE … PASSWORD`): other users of the machine may reach it there.
        public var settings: [String: String] = [:]

        /// The folder in which the server's own folder is made.
        ///
        /// By default the folder that the environment variable `KINDRED_POSTGRES_FOLDER` names, else the folder for
        /// temporary files, or `/tmp` where that path would be too long for a socket (107 bytes in all) or closed to the
        /// server's user. A folder in memory, such as `/dev/shm`, makes databases in a tenth of the time; tests with
        /// hundreds of fixtures need some gigabytes.
        public var parentFolder: String?

        /// The folder of the programs `initdb` and `postgres`.
        ///
        /// By default ``PostgresInstallation/find(binFolder:)`` searches for them.
        public var binFolder: String?

        /// The system user that runs the server if the process runs as root; nil takes `postgres`, else the unprivileged user.
        ///
        /// Ignored if it does not.
        public var user: String?

        /// A running server that the new one copies, to follow it as a replica that answers queries; nil makes an empty cluster.
        ///
        /// Needs the program `pg_basebackup` beside the others, and the primary's version.
        public var following: EmbeddedPostgres?

        /// The name and the password of the superuser; nil lets every local client be the superuser.
        ///
        /// With them, a local client needs the password to be the superuser, and none to be another role that may log in.
        package var superuser: Superuser?

        /// How long to wait for the server to be ready.
        public var startTimeout: Duration = .seconds(60)

        /// Creates the default options.
        public init() {}
    }
}

extension EmbeddedPostgres {
    /// A superuser that nothing in a database can name or be.
    package struct Superuser: Sendable {
        let name: String
        let password: String

        /// Takes a name and a password that were never used.
        package static func random() -> Superuser {
            func digits() -> String { String(UInt64.random(in: 0...UInt64.max), radix: 36) }
            return Superuser(name: "kindred_super_" + digits(), password: digits() + digits())
        }
    }
}

extension EmbeddedPostgres.Options {
    /// Nothing is made durable; no TCP; a stable time zone; few background writes.
    ///
    /// Dynamic shared memory is in the cluster's files, because system segments would outlive a killed server,
    /// and containers have little of it.
    private static let defaultSettings = [
        "autovacuum": "off",
        "dynamic_shared_memory_type": "mmap",
        "fsync": "off",
        "full_page_writes": "off",
        "listen_addresses": "",
        "log_timezone": "UTC",
        "max_connections": "200",
        "port": String(EmbeddedPostgres.port),
        "synchronous_commit": "off",
        "timezone": "UTC",
        "unix_socket_permissions": "0700",
    ]

    /// The settings as lines of a configuration file.
    func settingsFile() throws -> String {
        var lines: [String] = []
        for (name, value) in Self.defaultSettings.merging(settings, uniquingKeysWith: { $1 }).sorted(by: {
            $0.key < $1.key
        }) {
            guard !name.isEmpty, name.utf8.allSatisfy(isSettingNameByte),
                !value.utf8.contains(where: { $0 < 0x20 })
            else {
                throw EmbeddedPostgresError(
                    .invalidOption,
                    "“\(name)” is not a setting: a name has letters, digits, _ and dots; a value is one line.")
            }
            var quoted = ""
            // Scalars, because a combining mark after a quote would hide it.
            for scalar in value.unicodeScalars {
                quoted += scalar == "'" ? "''" : scalar == "\\" ? "\\\\" : String(scalar)
            }
            lines.append("\(name) = '\(quoted)'\n")
        }
        return lines.joined()
    }
}

private func isSettingNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."):
        true
    default:
        false
    }
}
