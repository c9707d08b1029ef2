#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension PostgresConfiguration {
    /// Parameters that Kindred passes to libpq unread, such as keep-alives.
    private static let passedOnKeywords: Set<String> = [
        "keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count", "tcp_user_timeout",
        "channel_binding", "ssl_min_protocol_version", "ssl_max_protocol_version", "sslsni", "require_auth",
    ]

    /// A configuration from libpq's keywords, such as `["host": "localhost", "dbname": "shop"]`.
    ///
    /// Four keywords are Kindred's own: `pooler`, which is `none`, `session` or `transaction`, `statementCacheCapacity`,
    /// `primarySearchTimeout` in milliseconds, and `replicaWeight`.
    /// Takes nothing from the environment. Throws `PostgresError` `.invalidConfiguration` for an unknown keyword or a value out of
    /// range.
    public init(keywords: [String: String]) throws {
        self.init(endpoints: [])
        var rest = keywords
        endpoints = try Self.endpoints(
            hosts: rest.removeValue(forKey: "host"),
            addresses: rest.removeValue(forKey: "hostaddr"),
            ports: rest.removeValue(forKey: "port")
        )
        for (keyword, value) in rest.sorted(by: { $0.key < $1.key }) { try set(keyword, value) }
        try validate()
    }

    /// A configuration from the environment: `DATABASE_URL`, else the variables `PGHOST`, `PGPORT`, `PGUSER`,
    /// `PGPASSWORD`, `PGDATABASE` and libpq's variables for TLS; where they are not set, libpq's defaults apply.
    ///
    /// One default differs: without `PGSSLMODE` a server on another machine is verified. Service files are not read:
    /// throws `PostgresError` `.invalidConfiguration` where `PGSERVICE` is set.
    public static func fromEnvironment(
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> PostgresConfiguration {
        if let uri = environment["DATABASE_URL"], !uri.isEmpty { return try PostgresConfiguration(uri: uri) }
        // libpq would take the role and the database from the service, but not the server, which is always given.
        guard environment["PGSERVICE", default: ""].isEmpty else {
            throw PostgresError(
                .invalidConfiguration,
                "PGSERVICE is set, but service files are not read; set DATABASE_URL or PGHOST and its like instead"
            )
        }
        let variables = [
            "PGHOST": "host", "PGHOSTADDR": "hostaddr", "PGPORT": "port", "PGUSER": "user", "PGPASSWORD": "password",
            "PGDATABASE": "dbname", "PGSSLMODE": "sslmode", "PGSSLROOTCERT": "sslrootcert", "PGSSLCERT": "sslcert",
            "PGSSLKEY": "sslkey", "PGSSLCRL": "sslcrl", "PGAPPNAME": "application_name", "PGOPTIONS": "options",
            "PGCONNECT_TIMEOUT": "connect_timeout", "PGTARGETSESSIONATTRS": "target_session_attrs",
            "PGCHANNELBINDING": "channel_binding",
        ]
        var keywords: [String: String] = [:]
        for (variable, keyword) in variables {
            if let value = environment[variable], !value.isEmpty { keywords[keyword] = value }
        }
        var configuration = try PostgresConfiguration(keywords: keywords)
        configuration.usesEnvironment = true
        return configuration
    }

    private static let knownKeywords = passedOnKeywords.union([
        "host", "hostaddr", "port", "user", "password", "dbname", "application_name", "options", "sslmode",
        "sslrootcert", "sslcert", "sslkey", "sslcrl", "connect_timeout", "target_session_attrs", "client_encoding",
        "statementCacheCapacity", "pooler", "primarySearchTimeout", "replicaWeight",
    ])

    /// A number of digits only; `Int.init` would accept a sign.
    static func number(_ text: String) -> Int? {
        text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int(text) : nil
    }

    static func endpoints(hosts: String?, addresses: String?, ports: String?) throws -> [Endpoint] {
        func list(_ text: String?) -> [String] {
            text.map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) } ?? []
        }
        let hosts = list(hosts)
        let addresses = list(addresses)
        let ports = list(ports)
        let count = max(hosts.count, addresses.count, 1)
        guard hosts.isEmpty || addresses.isEmpty || hosts.count == addresses.count else {
            throw PostgresError(
                .invalidConfiguration, "There are \(hosts.count) hosts but \(addresses.count) addresses")
        }
        guard ports.count <= 1 || ports.count == count else {
            throw PostgresError(.invalidConfiguration, "There are \(count) hosts but \(ports.count) ports")
        }
        return try (0..<count).map { index in
            let portText = ports.isEmpty ? "" : ports.count == 1 ? ports[0] : ports[index]
            // The error never repeats the port's text: it may be part of a password that was not percent-encoded.
            guard let port = portText.isEmpty ? 5432 : number(portText).flatMap(UInt16.init(exactly:)), port > 0 else {
                throw PostgresError(.invalidConfiguration, "A port is not a number from 1 to 65535")
            }
            let host = hosts.isEmpty ? "" : hosts[index]
            let address = addresses.isEmpty || addresses[index].isEmpty ? nil : addresses[index]
            if address == nil && (host.isEmpty || host.hasPrefix("/") || host.hasPrefix("@")) {
                return .socket(folder: host.isEmpty ? defaultSocketFolder : host, port: port)
            }
            return .tcp(host: host.isEmpty ? address ?? "" : host, port: port, address: address)
        }
    }

    /// The socket folder of Debian's packages and of PostgreSQL's own.
    private static var defaultSocketFolder: String {
        FileManager.default.fileExists(atPath: "/var/run/postgresql") ? "/var/run/postgresql" : "/tmp"
    }

    /// Takes one keyword other than host, address and port.
    mutating func set(_ keyword: String, _ value: String) throws {
        func invalid(_ expected: String) -> PostgresError {
            PostgresError(.invalidConfiguration, "The value of \(keyword) is not \(expected)")
        }
        guard !value.utf8.contains(0) else { throw invalid("free of NUL characters") }
        switch keyword {
        case "user": user = value.isEmpty ? nil : value
        case "password": password = value.isEmpty ? nil : Password(value)
        case "dbname": database = value.isEmpty ? nil : value
        case "application_name": applicationName = value
        case "options": options = value
        case "sslmode":
            guard let mode = TLS.Mode(rawValue: value) else {
                throw invalid("one of \(TLS.Mode.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            tls.mode = mode
        case "sslrootcert": tls.rootCertificate = value
        case "sslcert": tls.certificate = value
        case "sslkey": tls.key = value
        case "sslcrl": tls.revocationList = value
        case "connect_timeout":
            guard let seconds = Self.number(value), (1...86_400).contains(seconds) else {
                throw invalid("a number of seconds")
            }
            connectTimeout = .seconds(seconds)
        case "primarySearchTimeout":
            guard let milliseconds = Self.number(value), (1...86_400_000).contains(milliseconds) else {
                throw invalid("a number of milliseconds")
            }
            primarySearchTimeout = .milliseconds(milliseconds)
        case "replicaWeight":
            guard let weight = Self.number(value), (1...1_000).contains(weight) else {
                throw invalid("a number from 1 to 1000")
            }
            replicaWeight = weight
        case "statementCacheCapacity":
            guard let capacity = Self.number(value), capacity <= 1 << 20 else {
                throw invalid("a number of statements, at most 1048576")
            }
            statementCacheCapacity = capacity
        case "pooler":
            guard let pooler = Pooler(rawValue: value) else {
                throw invalid("one of \(Pooler.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            self.pooler = pooler
        case "target_session_attrs":
            guard let target = TargetSession(rawValue: value) else {
                throw invalid("one of \(TargetSession.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            targetSession = target
        case "client_encoding":
            guard value.uppercased() == "UTF8" || value.uppercased() == "UTF-8" else {
                throw invalid("UTF8, the only encoding that Kindred uses")
            }
        case let keyword where Self.passedOnKeywords.contains(keyword):
            guard passedOn.updateValue(value, forKey: keyword) == nil else { throw invalid("given once") }
        default:
            throw PostgresError(
                .invalidConfiguration,
                "A connection parameter is not among \(Self.knownKeywords.sorted().joined(separator: ", "))"
            )
        }
    }
}
