#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension PostgresConfiguration {
    /// The system's trusted certificates, for libpq versions that cannot find them.
    private static let systemCertificates = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem",
    ]

    /// The parameters for libpq, all explicit, so that environment variables, service files and password files are
    /// ignored.
    ///
    /// A provider's password is added later.
    ///
    /// Throws `PostgresError` `.invalidConfiguration` where the environment would redirect an explicitly configured
    /// connection, or where this libpq cannot prevent sending the password in clear text.
    package func libpqParameters(
        libpqVersion: Int32,
        environment: [String: String]
    ) throws -> [(keyword: String, value: String)] {
        try validate()
        if !usesEnvironment,
            let variable = ["PGHOSTADDR", "PGSERVICE"].first(where: { environment[$0]?.isEmpty == false })
        {
            throw PostgresError(
                .invalidConfiguration,
                "\(variable) is set in the environment and libpq would obey it instead of the configuration; unset it"
            )
        }
        var parameters = keepAliveParameters.merging(passedOn) { _, own in own }
        for (keyword, value) in Self.hostParameters(endpoints) { parameters[keyword] = value }
        // libpq takes the operating system's user, unless a variable names another.
        let isMisled = !usesEnvironment && (environment["PGUSER"] != nil || environment["PGDATABASE"] != nil)
        let user = user ?? (isMisled ? environment["LOGNAME"] ?? environment["USER"] ?? "postgres" : nil)
        parameters["user"] = user
        parameters["dbname"] = database ?? user
        if let password, !password.text.isEmpty {
            parameters["password"] = password.text
        } else if !usesEnvironment && passwordProvider == nil && environment["PGPASSWORD"] != nil {
            // libpq takes an empty password for none and would send the environment's; this password is a placeholder.
            parameters["password"] = "no password was configured"
        }
        if !usesEnvironment { parameters["passfile"] = "/nonexistent/pgpass" }
        parameters["target_session_attrs"] = targetSession.rawValue
        parameters["application_name"] = applicationName
        parameters["client_encoding"] = "UTF8"
        parameters["gssencmode"] = "disable"
        parameters["connect_timeout"] = String(max(2, connectTimeout.components.seconds))
        parameters["options"] = sessionOptions
        try setTLS(&parameters, libpqVersion)
        return parameters.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 }
    }

    /// The parameters that name servers, in the order in which libpq tries them.
    static func hostParameters(_ endpoints: [Endpoint]) -> [(keyword: String, value: String)] {
        var hosts: [String] = []
        var addresses: [String] = []
        var ports: [String] = []
        for endpoint in endpoints {
            switch endpoint {
            case .tcp(let host, let port, let address):
                hosts.append(host)
                addresses.append(address ?? "")
                ports.append(String(port))
            case .socket(let folder, let port):
                hosts.append(folder)
                addresses.append("")
                ports.append(String(port))
            }
        }
        let named = [("host", hosts.joined(separator: ",")), ("port", ports.joined(separator: ","))]
        return addresses.allSatisfy(\.isEmpty) ? named : named + [("hostaddr", addresses.joined(separator: ","))]
    }

    private func setTLS(_ parameters: inout [String: String], _ libpqVersion: Int32) throws {
        let mode = effectiveTLSMode
        parameters["sslmode"] = mode.rawValue
        if mode == .verifyCA || mode == .verifyFull {
            if let root = tls.rootCertificate {
                if root == "system" && libpqVersion < 160_000 {
                    throw PostgresError(
                        .invalidConfiguration,
                        "sslrootcert=system needs libpq 16 or later; name the file of trusted certificates instead"
                    )
                }
                parameters["sslrootcert"] = root
            } else if libpqVersion >= 160_000 && mode == .verifyFull && tls.revocationList == nil {
                parameters["sslrootcert"] = "system"
            } else if let file = Self.systemCertificates.first(where: FileManager.default.fileExists(atPath:)) {
                parameters["sslrootcert"] = file
            }
        } else if let root = tls.rootCertificate {
            parameters["sslrootcert"] = root
        }
        parameters["sslcert"] = try checkedCertificate()
        parameters["sslkey"] = try checkedKey()
        parameters["sslcrl"] = try checkedRevocationList(root: parameters["sslrootcert"])
        // A server may ask for the password in clear text, readable on an unencrypted connection.
        guard password != nil || passwordProvider != nil, !mode.isAlwaysEncrypted, !endpoints.allSatisfy(\.isLocal)
        else { return }
        if libpqVersion >= 160_000 {
            parameters["require_auth"] = parameters["require_auth"] ?? "!password"
        } else {
            throw PostgresError(
                .invalidConfiguration,
                """
                A password could go to another machine in clear text: use sslmode=require or stronger, or libpq 16 or \
                later, which can refuse that
                """
            )
        }
    }

    /// Settings that decoding depends on, fixed against settings of the role or database.
    static let fixedSettings = [
        "DateStyle": "ISO", "IntervalStyle": "postgres", "TimeZone": "UTC", "extra_float_digits": "3",
        "bytea_output": "hex", "standard_conforming_strings": "on",
    ]

    /// The fixed settings, then the user's own; behind all of them the search path of sessions that look up nothing of users.
    private var sessionOptions: String {
        var fixed = Self.fixedSettings
        fixed["search_path"] = searchPathSetting
        fixed.merge(settings) { _, own in own }
        var words = fixed.sorted { $0.key < $1.key }.map { "-c \(Self.escaped("\($0.key)=\($0.value)"))" }
        if let options { words.append(options) }
        if ownPath != nil { words.append("-c \(Self.escaped("search_path=\(Self.catalogPath)"))") }
        return words.joined(separator: " ")
    }

    /// The search path as sent to the server.
    ///
    /// `pg_catalog` is not named, so it comes first; naming it would make it the target of unqualified CREATE
    /// statements. `pg_temp` is named last; temporary objects would come first otherwise.
    var searchPathSetting: String? {
        searchPath.map { schemas in
            (schemas.map { (try? SQLIdentifier.quote($0)) ?? "" } + ["pg_temp"]).joined(separator: ", ")
        }
    }

    /// Escapes spaces and backslashes; the server splits options at spaces.
    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            if scalar == "\\" || scalar == " " || (9...13).contains(scalar.value) { result.unicodeScalars.append("\\") }
            result.unicodeScalars.append(scalar)
        }
    }
}
