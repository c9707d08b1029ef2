import HarmlessText

/// The place of the database, the role to connect as, and the limits of connections.
///
/// ```swift
/// var configuration = try PostgresConfiguration(uri: "postgres://app@db.example.org/shop")
/// configuration.pool.maximumConnections = 20
/// ```
public struct PostgresConfiguration: Sendable {
    /// The servers to try, in order; the first that answers and fits is used.
    public var endpoints: [Endpoint]
    /// The role; nil is the operating system's user.
    public var user: String?
    /// The password, if one is needed.
    public var password: Password?
    /// Gives the password of each new connection, for passwords that change: cloud tokens, vault leases.
    ///
    /// ```swift
    /// configuration.passwordProvider = { .init(try await vault.databasePassword()) }
    /// ```
    ///
    /// Called once for each attempt to connect, possibly several times at once; its answer is used for that attempt
    /// only, so it should cache its own token. Open connections stay; `pool.maximumLifetime` bounds their age. The time
    /// it takes counts towards `connectTimeout`; then its task is cancelled and the attempt fails. It must not block
    /// its thread. An error that it throws becomes `PostgresError` `.passwordUnavailable`, and the pool retries as it
    /// does for an unreachable server. Cannot be set together with `password`.
    public var passwordProvider: PasswordProvider?
    /// The database; nil is the role's name.
    public var database: String?
    /// The name shown in `pg_stat_activity`.
    public var applicationName = "kindred"
    /// How connections are encrypted and the server is verified.
    public var tls = TLS()
    /// The kind of server to use, if there are several.
    public var targetSession = TargetSession.any
    /// The search path of each session; nil leaves it to the server.
    ///
    /// ```swift
    /// configuration.searchPath = ["shop", "extensions"]
    /// ```
    ///
    /// PostgreSQL's own functions and operators come first, then these schemas in order, then temporary objects. Name
    /// only schemas in which no untrusted role can create objects: a function or operator there with a closer match of
    /// argument types replaces PostgreSQL's own, also in Kindred's statements. Without a path a warning is logged when
    /// the catalog is read, if every role may create objects in a schema on the database's path. Include the schemas of
    /// extensions, or their operators are not found.
    ///
    /// A pooler may drop the setting: a new connection that does not report its path is queried for it, and one with
    /// another path is refused with `PostgresError` `.connectionFailed`.
    public var searchPath: [String]?
    /// Settings for each session, such as `["lock_timeout": "2s"]`.
    ///
    /// A pooler may drop them: each new connection is checked, in one round trip, and refused with `PostgresError`
    /// `.connectionFailed` if a value differs.
    public var settings: [String: String] = [:]
    /// Further command-line options for each session, as libpq's `options`.
    public var options: String?
    /// The search path of the program's own text, where sessions begin with PostgreSQL's own schemas alone; nil where they begin
    /// with that path.
    package internal(set) var ownPath: String?
    /// Parameters passed to libpq unread, such as keep-alives.
    var passedOn: [String: String] = [:]
    /// The longest time that connecting may take, over all endpoints; of several servers that may be written to, each has a share.
    public var connectTimeout: Duration = .seconds(10)
    /// How long a client that writes to one of several servers waits at its start for servers that are silent; `connectTimeout` at most.
    ///
    /// It asks all servers at once, and goes on as soon as each has answered or failed. Of the servers that have
    /// answered until then it takes the server on the highest timeline. A server that is silent for longer may be the
    /// primary: until it is heard, a former primary would be written to. So raise it where such writes are worse than a
    /// longer start.
    public var primarySearchTimeout: Duration = .milliseconds(250)
    /// Whether the outcome of every call that commits can be found out later, if the answer to its COMMIT is lost.
    ///
    /// Then each such `PostgresError` `.commitUnknown` has a `transactionID` for `PostgresClient.resolveCommit`: of transactions, of
    /// saves and of all other writes. A write outside of a transaction runs in one of its own, which costs a round trip more; so does
    /// SQL of the program that may write, and a SELECT of its own may. Statements that PostgreSQL does not run in a transaction, such
    /// as VACUUM and CALL of a procedure that commits, are as without this.
    public var tracksCommits = false
    /// The longest time of a statement, including the wait for a connection, before it is cancelled; nil is no limit.
    public var statementTimeout: Duration? = .seconds(30)
    /// The time for which the caller of a cancelled statement waits for the server's confirmation.
    ///
    /// After a timeout or the task's cancellation the server is asked to stop, which it mostly does within a
    /// millisecond; the connection stays usable. Past this time the caller continues and the connection is closed: of a statement
    /// that may write the outcome is unknown then, as `PostgresError.mayHaveTakenEffect` says. Zero never waits. Raise it for a distant or busy server: each statement that it stops too late costs a connection.
    public var cancellationGrace: Duration = .milliseconds(150)
    /// The number of prepared statements that a connection keeps; 256, and 0 behind a transaction pooler, unless set.
    ///
    /// Set it where such a pooler tracks prepared statements, below its own limit: PgBouncer's `max_prepared_statements`.
    public var statementCacheCapacity = 256 {
        didSet { hasOwnCacheCapacity = true }
    }
    /// Whether the capacity was set.
    private(set) var hasOwnCacheCapacity = false
    /// Whether a pooler stands before the server, and for how long it lends a session; found out by default.
    public var pooler = Pooler.automatic
    /// The time in which replicas show a write, where the engine does not tell positions of its log; nil, the default,
    /// asks for positions.
    ///
    /// It is the delay that such an engine promises: it counts as the lag of each replica, and for so long after a
    /// write the context, and a context that is made with its ``DatabasePosition``, reads the primary. The clocks of
    /// the program's machines have to agree by far less. Reads of two replicas may go back in time by so much.
    public var replicaDelay: Duration?
    /// The server's share of the reads of replicas, in relation to other replicas that answer as soon; 1 unless set, at most 1,000.
    ///
    /// A replica of weight 3 gets three reads for each one of a replica of weight 1, and as many more may be in flight there.
    public var replicaWeight = 1
    /// The largest result in memory, in bytes; a larger result fails with `.resultTooLarge`.
    ///
    /// Also the limit of a single row, including streamed and copied rows, and of any other message of the server: the
    /// statement is cancelled, and if 16 MiB more arrive the connection is closed. Streams and COPY hold less than a
    /// megabyte at a time, unless a row is larger, and have no other limit. A gibibyte by default.
    public var maximumResultSize = 1 << 30
    /// The number of bytes of requests that may be in flight on one connection; further statements wait.
    ///
    /// A larger statement is sent alone. Four mebibytes by default.
    public var maximumBytesInFlight = 4 << 20
    /// How a dead connection is detected.
    public var keepAlive = KeepAlive()
    /// How connections are kept.
    public var pool = PoolOptions()
    /// Whether libpq may read its environment variables: the configuration itself came from there.
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
    /// The address of a server.
    public enum Endpoint: Sendable, Hashable {
        /// A host by name or address; `address` skips the name's look-up, and the name then only serves to verify.
        case tcp(host: String, port: UInt16 = 5432, address: String? = nil)
        /// The folder of a unix socket.
        case socket(folder: String, port: UInt16 = 5432)

        var port: UInt16 {
            switch self {
            case .tcp(_, let port, _), .socket(_, let port): port
            }
        }

        /// Whether the connection stays on this machine.
        public var isLocal: Bool {
            switch self {
            case .socket: true
            case .tcp(let host, _, let address):
                (address ?? host) == "localhost" || (address ?? host) == "::1" || (address ?? host).isLoopbackIPv4
            }
        }
    }

    /// Returns a password that is valid now.
    public typealias PasswordProvider = @Sendable () async throws -> Password

    /// A password that prints as stars.
    public struct Password: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible,
        CustomDebugStringConvertible, CustomReflectable
    {
        let text: String

        /// Wraps a password.
        public init(_ text: String) { self.text = text }
        /// Wraps a password.
        public init(stringLiteral text: String) { self.text = text }
        /// Stars.
        public var description: String { "***" }
        /// Stars.
        public var debugDescription: String { "***" }
        /// Hides the text.
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
        /// The client's certificate file; a file that cannot be read is `PostgresError` `.invalidConfiguration`.
        public var certificate: String?
        /// The client's private key file; it is `PostgresError` `.invalidConfiguration` if other users may read it.
        public var key: String?
        /// The file of revoked certificates, in PEM form; needs `rootCertificate` where libpq has a store of its own.
        ///
        /// A file that cannot be read, or is not in PEM form, is `PostgresError` `.invalidConfiguration`; libpq itself
        /// would connect without it.
        public var revocationList: String?

        /// The defaults.
        public init() {}
    }

    /// The kind of server to use, as libpq's `target_session_attrs`.
    ///
    /// Of several endpoints, `readWrite` and `primary` take no server of an older timeline than the client has seen: a promoted
    /// replica has taken its place.
    public enum TargetSession: String, Sendable, Hashable, CaseIterable {
        /// Every server.
        case any
        /// Accepts writes; a connection whose server stops doing so is replaced after the first write that it refuses.
        case readWrite = "read-write"
        /// Read-only.
        case readOnly = "read-only"
        /// Not a standby; a connection whose server becomes one is replaced after the first write that it refuses.
        case primary
        /// A standby.
        case standby
        /// A standby if there is one.
        case preferStandby = "prefer-standby"
    }

    /// How connections are kept.
    public struct PoolOptions: Sendable, Hashable {
        /// The largest number of connections.
        public var maximumConnections = 10
        /// The largest number of connections that contexts of one tenant use at once; nil is no limit but the pool's.
        ///
        /// A transaction, a stream and a COPY count one, and so does each statement while it runs, even if it shares
        /// its connection. Further calls of the tenant wait in front of the pool, at most for `acquireTimeout`, and
        /// then fail with `PostgresError` `.poolTimeout`. Contexts that are made for a tenant by its column alone have
        /// such a limit.
        public var maximumConnectionsPerTenant: Int?
        /// The number of connections kept open.
        public var minimumConnections = 0
        /// The largest number of requests that share a connection.
        public var pipelineDepth = 16
        /// The longest time that a request waits for a connection.
        public var acquireTimeout: Duration = .seconds(5)
        /// A connection idle for this long is closed.
        public var idleTimeout: Duration = .seconds(300)
        /// The largest age of a connection, with 10 % jitter.
        public var maximumLifetime: Duration = .seconds(1800)
        /// A connection idle for this long is tested before use; zero always tests.
        public var idleTestThreshold: Duration = .seconds(30)
        /// A lease or transaction that takes longer is logged and counted once; nil never.
        public var leaseWarning: Duration? = .seconds(30)
        /// The largest number of connections being opened at once.
        public var connectConcurrency = 4
        /// The largest number of waiters; further requests are refused.
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

    /// Validates the configuration as a whole.
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
                        "The socket's folder has \(folder.utf8.count) bytes; a socket's path has at most 107")
                }
                guard folder.isPlain, folder.hasPrefix("/") || folder.hasPrefix("@") else {
                    throw invalid("A socket's folder is not an absolute path, or has a comma or control character")
                }
            case .tcp(let host, _, let address):
                for name in [host, address ?? host] {
                    guard name.isPlain, !name.isEmpty, !name.utf8.contains(UInt8(ascii: " ")), !name.hasPrefix("/")
                    else {
                        throw invalid("A host's name is empty, or has a comma, space or control character")
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
        if searchPath != nil, settings.keys.contains(where: { $0.foldedName == "search_path" }) {
            throw invalid("Set `searchPath` or `search_path` in the settings, not both")
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
            throw invalid("Set `password` or `passwordProvider`, not both")
        }
        if pool.maximumConnections < 1 { throw invalid("The pool needs at least one connection") }
        if pool.minimumConnections < 0 || pool.minimumConnections > pool.maximumConnections {
            throw invalid("The pool's minimum is not within 0 to \(pool.maximumConnections)")
        }
        if let limit = pool.maximumConnectionsPerTenant, limit < 1 {
            throw invalid("A tenant needs at least one connection")
        }
        guard (1...1_000).contains(replicaWeight) else {
            throw invalid("The weight of a replica is not within 1 to 1000")
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
            replicaDelay ?? .seconds(1), primarySearchTimeout,
        ]
        if durations.contains(where: { $0 <= .zero })
            || min(pool.idleTestThreshold, cancellationGrace) < .zero
        {
            throw invalid("A time limit of the configuration is too small")
        }
    }
}

extension PostgresConfiguration: CustomStringConvertible {
    /// The address in a URI's form without the password; for messages, as it is not percent-encoded.
    public var description: String {
        let hosts = endpoints.map { endpoint in
            switch endpoint {
            case .tcp(let host, let port, _): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
            case .socket(let folder, let port): "\(folder):\(port)"
            }
        }
        return "postgresql://\(user.map { "\($0)@" } ?? "")\(hosts.joined(separator: ","))/\(database ?? "")".harmless
    }
}

extension String {
    fileprivate var isLoopbackIPv4: Bool {
        let parts = split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127"
            && parts.allSatisfy { PostgresConfiguration.number(String($0)).flatMap(UInt8.init(exactly:)) != nil }
    }

    /// Whether libpq takes the text as one name; it splits lists at commas.
    fileprivate var isPlain: Bool {
        utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: ",") }
    }
}
