#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension PostgresConfiguration {
    /// A configuration from a connection URI, in libpq's form:
    /// `postgresql://user:password@host:port,host:port/database?parameter=value`.
    ///
    /// A unix socket is given as the parameter `host=/folder` or as a percent-encoded host. Kindred adds two
    /// parameters, as in `pooler=transaction` and `statementCacheCapacity=100`. Takes nothing from the environment. Throws
    /// `PostgresError` `.invalidConfiguration` for an unknown or repeated parameter, a bad percent-encoding, a port out of range, and
    /// any value that libpq would reject later; the message never repeats the URI, which may hold a password.
    public init(uri: String) throws {
        func invalid(_ reason: String) -> PostgresError {
            PostgresError(.invalidConfiguration, "The connection URI is invalid: \(reason)")
        }
        guard uri.utf8.count <= 1 << 16 else { throw invalid("it is longer than 65,536 bytes") }
        guard !uri.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else {
            throw invalid("it holds a control character")
        }
        let schemes = ["postgresql://", "postgres://"]
        guard let scheme = schemes.first(where: uri.hasPrefix) else {
            throw invalid("it does not begin with postgres:// or postgresql://")
        }
        let rest = uri.dropFirst(scheme.count)
        guard !rest.utf8.contains(UInt8(ascii: "#")) else { throw invalid("# has to be written %23") }
        let halves = rest.split(at: "?", maxSplits: 1)
        let path = halves[0].split(at: "/", maxSplits: 1)
        let authority = path[0].split(at: "@")
        guard authority.count <= 2 else { throw invalid("it has several @; write %40 inside names and passwords") }
        var parameters: [String: String] = [:]
        func add(_ name: String, _ encoded: Substring) throws {
            guard let value = PercentCoding.decode(encoded) else {
                throw invalid("\(name) is not percent-encoded correctly")
            }
            guard parameters.updateValue(value, forKey: name) == nil else { throw invalid("\(name) is given twice") }
        }
        if authority.count == 2 {
            let credentials = authority[0].split(at: ":", maxSplits: 1)
            try add("user", credentials[0])
            if credentials.count == 2 {
                guard !credentials[1].utf8.contains(UInt8(ascii: ":")) else {
                    throw invalid(": in the password has to be written %3A")
                }
                try add("password", credentials[1])
            }
        }
        let hosts = try Self.hosts(authority[authority.count - 1], invalid)
        if !hosts.names.allSatisfy(\.isEmpty) { parameters["host"] = hosts.names.joined(separator: ",") }
        if !hosts.ports.allSatisfy(\.isEmpty) { parameters["port"] = hosts.ports.joined(separator: ",") }
        if path.count == 2, !path[1].isEmpty {
            guard !path[1].utf8.contains(UInt8(ascii: "/")) else {
                throw invalid("/ in the database's name has to be written %2F")
            }
            try add("dbname", path[1])
        }
        if halves.count == 2 && !halves[1].isEmpty {
            for pair in halves[1].split(at: "&") {
                let parts = pair.split(at: "=")
                guard parts.count == 2, let name = PercentCoding.decode(parts[0]), !name.isEmpty else {
                    throw invalid("a part after ? is not parameter=value")
                }
                try add(name, parts[1])
            }
        }
        do {
            try self.init(keywords: parameters)
        } catch let error as PostgresError {
            throw invalid(error.message)
        }
    }

    /// The hosts and ports of the part before the path; IPv6 addresses stand in brackets.
    private static func hosts(
        _ text: Substring,
        _ invalid: (String) -> PostgresError
    ) throws -> (names: [String], ports: [String]) {
        var names: [String] = []
        var ports: [String] = []
        for part in text.split(at: ",") {
            var name = part
            var port = Substring()
            if part.hasPrefix("[") {
                guard let end = part.firstIndex(of: "]") else { throw invalid("a bracket is not closed") }
                name = part[part.index(after: part.startIndex)..<end]
                port = part[part.index(after: end)...]
                guard port.isEmpty || port.hasPrefix(":"), isIPv6(name) else {
                    throw invalid("the brackets do not hold an IPv6 address")
                }
                port = port.dropFirst()
            } else if let colon = part.firstIndex(of: ":") {
                name = part[..<colon]
                port = part[part.index(after: colon)...]
                guard !port.contains(":") else { throw invalid("an IPv6 address needs brackets") }
            }
            guard let decoded = PercentCoding.decode(name) else {
                throw invalid("a host is not percent-encoded correctly")
            }
            guard !decoded.contains(",") else { throw invalid("a host holds a comma") }
            names.append(decoded)
            ports.append(String(port))
        }
        return (names, ports)
    }

    /// Whether a text is an IPv6 address, with or without a zone.
    private static func isIPv6(_ text: Substring) -> Bool {
        SystemCalls.isIPv6(String(text.split(at: "%", maxSplits: 1)[0]))
    }
}

extension Substring {
    /// Splits at unicode scalars: a combining mark after a separator does not hide it.
    fileprivate func split(at separator: Unicode.Scalar, maxSplits: Int = .max) -> [Substring] {
        utf8.split(separator: UInt8(ascii: separator), maxSplits: maxSplits, omittingEmptySubsequences: false)
            .map(Substring.init)
    }
}
