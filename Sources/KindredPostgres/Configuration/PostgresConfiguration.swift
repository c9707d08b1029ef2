/// Where a database is, as whom to connect, and how connections are kept.
///
/// ```swift
/// var configuration = try PostgresConfiguration(uri: "postgres://app@db.example.org/shop")
/// configuration.pool.maximumConnections = 20
/// ```
public struct PostgresConfiguration: Sendable {
    /// The servers to try, in this order; the first that answers and fits is used.
    public var endpoints: [Endpoint]
    /// The role; nil is the operating system's user.
    public var user: String?
    /// The password, if one is needed.
    public var password: Password?
    /// Gives the password of each new connection, where it changes with time: tokens of a cloud, leases of a vault.
    ///
    /// ```swift
    /// configuration.passwordProvider = { .init(try await vault.databasePassword()) }
    /// ```
    ///
    /// It is called once for each attempt to connect, whoever makes it, also several times at once, and its answer is
    /// used for that attempt only: keeping a token as long as it is good is its own concern. Connections that are open go on
    /// with the password they were made with; `pool.maximumLifetime` says for how long. It has `connectTimeout`, of which
    /// the server gets the rest; then its task is cancelled, and the attempt fails whether or not it heeds that. It must
    /// not block its thread. What it throws becomes `PostgresError` `.passwordUnavailable`, and the pool tries again as
    /// it does for servers that do not answer. Not together with `password`.
    public var passwordProvider: PasswordProvider?
    /// The database; nil is the role's name.
    public var database: String?
    /// What the server calls the client, as in `pg_stat_activity`.
    public var applicationName = "kindred"
    /// How connections are encrypted and the server is verified.
    public var tls = TLS()
    /// Which servers fit, where there are several.
    public var targetSession = TargetSession.any
    /// The schemas in which names without a schema are looked for, in each session; nil leaves it to the server.
    ///
    /// ```swift
    /// configuration.searchPath = ["shop", "extensions"]
    /// ```
    ///
    /// PostgreSQL's own functions and operators come first, then these schemas in this order, and temporary objects last.
    /// Name only schemas in which nobody creates objects whom you do not trust: a function or operator there that fits its
    /// arguments better than PostgreSQL's own takes its place, also in the statements that Kindred makes. Without a path of
    /// its own a database that lets everybody create objects on the way is warned of when its catalog is read. The schemas of
    /// extensions have to be among them for their operators to be found.
    ///
    /// A pooler may drop such a request: a new connection that does not report the path is asked for it by a statement, and
    /// refused with `PostgresError` `.connectionFailed` if it has another one.
    public var searchPath: [String]?
    /// Settings for each session, such as `["lock_timeout": "2s"]`.
    ///
    /// A pooler may drop such a request: each new connection is asked for them, in one round trip, and refused with
    /// `PostgresError` `.connectionFailed` where one has another value.
    public var settings: [String: String] = [:]
    /// Further command-line options for each session, as libpq's `options`.
    public var options: String?
    /// Parameters that are passed on to libpq as they are: keep-alives and their like.
    var passedOn: [String: String] = [:]
    /// How long connecting may take, over all endpoints together.
    public var connectTimeout: Duration = .seconds(10)
    /// How long a statement may take before it is cancelled, the wait for a connection included; nil is without limit.
    public var statementTimeout: Duration? = .seconds(30)
    /// How long the caller of a statement that is stopped waits for the server to say so.
    ///
    /// Where a timeout has passed or the task was cancelled, the server is asked to stop, and mostly does in a millisecond;
    /// the connection is as good as before then. If it does not answer in this time the caller goes on all the same, and the
    /// connection is closed behind its back. Zero is never to wait. A server that is far away or very busy needs more, or
    /// each statement that is stopped costs a connection.
    public var cancellationGrace: Duration = .milliseconds(150)
    /// How many statements a connection keeps prepared; 0 behind poolers that lend connections by transaction.
    public var statementCacheCapacity = 256
    /// How much memory one result may take up, in bytes; a statement that gives more fails with `.resultTooLarge`.
    ///
    /// Also the limit of a single row, of what is streamed and copied too, and of whatever else a server sends: its
    /// statement is stopped, and if more than 16 MiB come after that, its connection is closed. Streams and COPY hold less
    /// than a megabyte at a time, unless a row has more, and have no other limit. A gibibyte by default.
    public var maximumResultSize = 1 << 30
    /// How much may be on its way to the server over one connection, in bytes, before further statements wait their turn.
    ///
    /// A single statement may be larger; it then goes alone. Four mebibytes by default.
    public var maximumBytesInFlight = 4 << 20
    /// How long the thread that waits for answers looks for the next one without falling asleep; zero, the default, is never.
    ///
    /// It is done only where the answers of one connection, and of no other, follow each other within twice that time, as those
    /// of a loop of look-ups on the same machine: to be woken takes longer there than the look-up. It takes a processor's time
    /// while the server works, and stops where another thread takes the processor for more than 100 microseconds. A good limit
    /// is that of Linux's `haltpoll`, 200 microseconds.
    public var busyPollingLimit: Duration = .zero
    /// How a line is found out that is dead without a word.
    public var keepAlive = KeepAlive()
    /// How connections are kept.
    public var pool = PoolOptions()
    /// Whether libpq may read its environment variables, because the configuration itself came from there.
    var usesEnvironment = false

    /// A configuration for the given servers.
    public init(endpoints: [Endpoint], user: String? = nil, password: Password? = nil, database: String? = nil) {
        self.endpoints = endpoints
        self.user = user
        self.password = password
        self.database = database
    }
}

extension PostgresConfiguration {
    /// A place where a server listens.
    public enum Endpoint: Sendable, Hashable {
        /// A host by name or address; `address` skips the look-up of the name, which then only serves to verify.
        case tcp(host: String, port: UInt16 = 5432, address: String? = nil)
        /// A unix socket in a folder.
        case socket(folder: String, port: UInt16 = 5432)

        var port: UInt16 {
            switch self {
            case .tcp(_, let port, _), .socket(_, let port): port
            }
        }

        /// Whether nothing that is sent there leaves the machine.
        public var isLocal: Bool {
            switch self {
            case .socket: true
            case .tcp(let host, _, let address):
                (address ?? host) == "localhost" || (address ?? host) == "::1" || (address ?? host).isLoopbackIPv4
            }
        }
    }

    /// Gives a password that is good now.
    public typealias PasswordProvider = @Sendable () async throws -> Password

    /// A password that prints as stars.
    public struct Password: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible,
        CustomDebugStringConvertible, CustomReflectable
    {
        let text: String

        /// A password.
        public init(_ text: String) { self.text = text }
        /// A password.
        public init(stringLiteral text: String) { self.text = text }
        /// Stars.
        public var description: String { "***" }
        /// Stars.
        public var debugDescription: String { "***" }
        /// Shows nothing.
        public var customMirror: Mirror { Mirror(self, children: []) }
    }

    /// Encryption and verification.
    public struct TLS: Sendable, Hashable {
        /// As libpq's `sslmode`.
        public enum Mode: String, Sendable, Hashable, CaseIterable {
            /// Never encrypted.
            case disable
            /// Encrypted if the server insists.
            case allow
            /// Encrypted if the server can.
            case prefer
            /// Always encrypted; the server is not verified.
            case require
            /// Encrypted, and the server's certificate is signed by a trusted authority.
            case verifyCA = "verify-ca"
            /// Encrypted, and the certificate is the host's own.
            case verifyFull = "verify-full"

            var isAlwaysEncrypted: Bool { self == .require || self == .verifyCA || self == .verifyFull }
        }

        /// nil: `prefer` on sockets and the loopback interface, `verify-full` to everywhere else.
        public var mode: Mode?
        /// The file of trusted authorities; nil is the system's.
        public var rootCertificate: String?
        /// The client's certificate file; one that cannot be read is `PostgresError` `.invalidConfiguration`.
        public var certificate: String?
        /// The client's private key file, which nobody else may read: else it is `PostgresError` `.invalidConfiguration`.
        public var key: String?
        /// The file of revoked certificates, in PEM form; needs `rootCertificate` where libpq has a store of its own.
        ///
        /// A file that cannot be read, or is none, is `PostgresError` `.invalidConfiguration`; libpq itself would connect
        /// without it.
        public var revocationList: String?

        /// The defaults.
        public init() {}
    }

    /// Which servers fit, as libpq's `target_session_attrs`.
    public enum TargetSession: String, Sendable, Hashable, CaseIterable {
        /// Every server.
        case any
        /// One that takes writes; a connection whose server ceases to is replaced after the first write that it refuses.
        case readWrite = "read-write"
        /// One that takes none.
        case readOnly = "read-only"
        /// No standby; a connection whose server has become one is replaced after the first write that it refuses.
        case primary
        /// A standby.
        case standby
        /// A standby if there is one.
        case preferStandby = "prefer-standby"
    }

    /// How connections are kept.
    public struct PoolOptions: Sendable, Hashable {
        /// At most this many connections.
        public var maximumConnections = 10
        /// At least this many are kept open.
        public var minimumConnections = 0
        /// At most this many requests share a connection.
        public var pipelineDepth = 16
        /// How long to wait for a connection.
        public var acquireTimeout: Duration = .seconds(5)
        /// A connection that was idle for so long is closed.
        public var idleTimeout: Duration = .seconds(300)
        /// A connection is closed after so long, give or take a tenth.
        public var maximumLifetime: Duration = .seconds(1800)
        /// A connection that was idle for so long is tested before it is used; zero is always.
        public var idleTestThreshold: Duration = .seconds(30)
        /// A lease or transaction that takes longer is logged and counted once; nil is never.
        public var leaseWarning: Duration? = .seconds(30)
        /// At most this many connections are being opened at once.
        public var connectConcurrency = 4
        /// At most this many tasks wait; the next is refused.
        public var maximumWaiters = 10_000

        /// The defaults.
        public init() {}
    }
}

extension PostgresConfiguration {
    /// The TLS mode in force.
    var effectiveTLSMode: TLS.Mode {
        tls.mode ?? (endpoints.allSatisfy(\.isLocal) ? .prefer : .verifyFull)
    }

    /// Checks what the types do not.
    ///
    /// Throws `PostgresError` `.invalidConfiguration`.
    package func validate() throws {
        func invalid(_ reason: String) -> PostgresError { PostgresError(.invalidConfiguration, reason) }
        if endpoints.isEmpty { throw invalid("No server is given") }
        for endpoint in endpoints {
            if endpoint.port == 0 { throw invalid("A port is not a number from 1 to 65535") }
            switch endpoint {
            case .socket(let folder, _):
                if folder.utf8.count > 90 {
                    throw invalid(
                        "The socket's folder has \(folder.utf8.count) bytes; its path may have at most 107 in all")
                }
                guard folder.isPlain, folder.hasPrefix("/") || folder.hasPrefix("@") else {
                    throw invalid("A socket's folder is no absolute path, or holds a comma or a control character")
                }
            case .tcp(let host, _, let address):
                for name in [host, address ?? host] {
                    guard name.isPlain, !name.isEmpty, !name.utf8.contains(UInt8(ascii: " ")), !name.hasPrefix("/")
                    else {
                        throw invalid("A host's name is empty, or holds a comma, a space or a control character")
                    }
                }
            }
        }
        let own =
            [
                user, password?.text, database, applicationName, options, tls.rootCertificate, tls.certificate, tls.key,
                tls.revocationList,
            ].compactMap { $0 } + (searchPath ?? [])
        let texts = own + settings.keys + settings.values + passedOn.values
        if texts.contains(where: { $0.utf8.contains(0) }) { throw invalid("A parameter holds a NUL character") }
        if searchPath != nil, settings.keys.contains(where: { $0.lowercased() == "search_path" }) {
            throw invalid("There is a searchPath, and a search_path among the settings: leave one of them out")
        }
        for schema in searchPath ?? [] {
            guard let name = try? SQLIdentifier.quote(schema), !name.hasPrefix("\"pg_") else {
                throw invalid(
                    """
                    A schema of the searchPath is empty, longer than 63 bytes, or one of PostgreSQL's own, which are always \
                    searched
                    """)
            }
        }
        if let name = [user, database].compactMap({ $0 }).first(where: { $0.utf8.count > SQLIdentifier.maximumBytes }) {
            throw invalid("A role or database name has \(name.utf8.count) bytes; PostgreSQL cuts names at 63")
        }
        if password != nil, passwordProvider != nil {
            throw invalid("There is a password, and somebody who gives passwords: leave one of them out")
        }
        if pool.maximumConnections < 1 { throw invalid("The pool needs at least one connection") }
        if pool.minimumConnections < 0 || pool.minimumConnections > pool.maximumConnections {
            throw invalid("The pool's minimum lies outside of 0 to \(pool.maximumConnections)")
        }
        if keepAlive.count < 1 || pool.pipelineDepth < 1 || pool.connectConcurrency < 1 || pool.maximumWaiters < 0
            || statementCacheCapacity < 0 || maximumResultSize < 1 || maximumBytesInFlight < 1
        {
            throw invalid("A number of the configuration is too small")
        }
        let durations = [
            connectTimeout, statementTimeout ?? .seconds(1), pool.acquireTimeout, pool.idleTimeout,
            pool.maximumLifetime, keepAlive.idle ?? .seconds(1), keepAlive.interval,
            keepAlive.userTimeout ?? .seconds(1), pool.leaseWarning ?? .seconds(1),
        ]
        if durations.contains(where: { $0 <= .zero })
            || min(pool.idleTestThreshold, busyPollingLimit, cancellationGrace) < .zero
        {
            throw invalid("A time limit of the configuration is too small")
        }
    }
}

extension PostgresConfiguration: CustomStringConvertible {
    /// The address in a URI's form, without the password: for people, as nothing in it is percent-encoded.
    public var description: String {
        let hosts = endpoints.map { endpoint in
            switch endpoint {
            case .tcp(let host, let port, _): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
            case .socket(let folder, let port): "\(folder):\(port)"
            }
        }
        return "postgresql://\(user.map { "\($0)@" } ?? "")\(hosts.joined(separator: ","))/\(database ?? "")"
    }
}

extension String {
    fileprivate var isLoopbackIPv4: Bool {
        let parts = split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127"
            && parts.allSatisfy { PostgresConfiguration.number(String($0)).flatMap(UInt8.init(exactly:)) != nil }
    }

    /// Whether libpq takes the text as one name: its lists are divided by commas.
    fileprivate var isPlain: Bool {
        utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: ",") }
    }
}
