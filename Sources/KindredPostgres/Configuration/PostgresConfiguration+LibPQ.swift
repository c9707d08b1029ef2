#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension PostgresConfiguration {
    /// Where the system keeps the certificates it trusts, for libpq versions that cannot ask it.
    private static let systemCertificates = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem",
    ]

    /// Every parameter for libpq, given explicitly so that variables, service and password files have no say.
    ///
    /// The password of a provider is still to be added.
    ///
    /// Throws `PostgresError` `.invalidConfiguration` where the environment would redirect a connection that was configured
    /// without it, or where this libpq cannot keep a password from going out in clear text.
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
        parameters["host"] = hosts.joined(separator: ",")
        if addresses.contains(where: { !$0.isEmpty }) { parameters["hostaddr"] = addresses.joined(separator: ",") }
        parameters["port"] = ports.joined(separator: ",")
        // libpq asks the system for the user's name, unless a variable says something else.
        let isMisled = !usesEnvironment && (environment["PGUSER"] != nil || environment["PGDATABASE"] != nil)
        let user = user ?? (isMisled ? environment["LOGNAME"] ?? environment["USER"] ?? "postgres" : nil)
        parameters["user"] = user
        parameters["dbname"] = database ?? user
        if let password, !password.text.isEmpty {
            parameters["password"] = password.text
        } else if !usesEnvironment && passwordProvider == nil && environment["PGPASSWORD"] != nil {
            // libpq takes no empty password as an answer and would send the environment's; this one is nobody's.
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
        // A server may ask for the password in clear text; on an unencrypted connection everybody on the way reads it.
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

    /// Settings that answers are read by, pinned against what a role or database may have set.
    static let pinnedSettings = [
        "DateStyle": "ISO", "IntervalStyle": "postgres", "TimeZone": "UTC", "extra_float_digits": "3",
        "bytea_output": "hex", "standard_conforming_strings": "on",
    ]

    /// What is pinned; then the user's own settings.
    private var sessionOptions: String {
        var pinned = Self.pinnedSettings
        pinned["search_path"] = searchPathSetting
        pinned.merge(settings) { _, own in own }
        var words = pinned.sorted { $0.key < $1.key }.map { "-c \(Self.escaped("\($0.key)=\($0.value)"))" }
        if let options { words.append(options) }
        return words.joined(separator: " ")
    }

    /// The path as the server is told it.
    ///
    /// `pg_catalog` comes first because it is not named; where it is, unqualified CREATE statements would go there. Temporary
    /// objects would come even before it.
    var searchPathSetting: String? {
        searchPath.map { schemas in
            (schemas.map { (try? SQLIdentifier.quote($0)) ?? "" } + ["pg_temp"]).joined(separator: ", ")
        }
    }

    /// The server splits options at spaces; a backslash takes the next character as it is.
    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            if scalar == "\\" || scalar == " " || (9...13).contains(scalar.value) { result.unicodeScalars.append("\\") }
            result.unicodeScalars.append(scalar)
        }
    }
}
