import Foundation
import Testing

@testable import KindredPostgres

/// The parameters for libpq about encryption, passwords and the environment.
@Suite struct TransportTests {
    private static let versions: [Int32] = [140_023, 150_018, 160_014, 170_010, 180_004]

    private func parameters(
        _ configuration: PostgresConfiguration, version: Int32 = 180_004, environment: [String: String] = [:]
    ) throws -> [String: String] {
        let parameters = try configuration.libpqParameters(libpqVersion: version, environment: environment)
        return Dictionary(uniqueKeysWithValues: parameters.map { ($0.keyword, $0.value) })
    }

    private func isRefused(
        _ configuration: PostgresConfiguration, version: Int32 = 180_004, environment: [String: String] = [:],
        _ word: String
    ) -> Bool {
        do {
            _ = try parameters(configuration, version: version, environment: environment)
            return false
        } catch let error as PostgresError {
            return error.code == .invalidConfiguration && error.message.contains(word)
        } catch { return false }
    }

    @Test func otherMachinesAreVerifiedAndTheOwnOneIsNot() throws {
        for uri in ["postgres://u@db.example.org/d", "postgres://u@10.0.0.1/d", "postgres://u@localhost,b.example/d"] {
            #expect(try parameters(PostgresConfiguration(uri: uri))["sslmode"] == "verify-full", "\(uri)")
        }
        for uri in ["postgres://u@localhost/d", "postgres://u@127.8.9.1/d", "postgres://u@[::1]/d", "postgres:///d"] {
            #expect(try parameters(PostgresConfiguration(uri: uri))["sslmode"] == "prefer", "\(uri)")
        }
        // A name that only says that it is this machine.
        let elsewhere = try PostgresConfiguration(uri: "postgres://u@localhost/d?hostaddr=10.0.0.1")
        #expect(try parameters(elsewhere)["sslmode"] == "verify-full")
        #expect(
            try parameters(PostgresConfiguration(uri: "postgres://u@127.0.0.1.example/d"))["sslmode"] == "verify-full")
    }

    @Test func theSystemsAuthoritiesAreThoseOfLibpqWhereItKnowsThem() throws {
        var configuration = try PostgresConfiguration(uri: "postgres://u@db.example.org/d")
        for version in Self.versions {
            let root = try parameters(configuration, version: version)["sslrootcert"]
            #expect((root == "system") == (version >= 160_000), "\(version)")
        }
        configuration.tls.rootCertificate = "system"
        #expect(isRefused(configuration, version: 150_018, "libpq 16"))
        #expect(try parameters(configuration)["sslrootcert"] == "system")
    }

    @Test func aPasswordDoesNotGoToOtherMachinesInClearText() throws {
        for mode in ["disable", "allow", "prefer"] {
            let configuration = try PostgresConfiguration(uri: "postgres://u:p@db.example.org/d?sslmode=\(mode)")
            #expect(isRefused(configuration, version: 150_018, "clear text"), "\(mode)")
            #expect(try parameters(configuration)["require_auth"] == "!password", "\(mode)")
        }
    }

    @Test func aServiceFileIsNoPlaceToConnectTo() throws {
        #expect {
            _ = try PostgresConfiguration.fromEnvironment(["PGSERVICE": "shop", "PGUSER": "u"])
        } throws: { error in
            (error as? PostgresError)?.code == .invalidConfiguration && "\(error)".contains("PGSERVICE")
        }
        #expect(try PostgresConfiguration.fromEnvironment(["PGSERVICE": "", "PGUSER": "u"]).user == "u")
    }

    @Test func theEnvironmentHasNoSay() throws {
        let configuration = try PostgresConfiguration(uri: "postgres://db.example.org")
        for variable in ["PGHOSTADDR", "PGSERVICE"] {
            #expect(isRefused(configuration, environment: [variable: "evil"], variable))
        }
        let hostile = [
            "PGUSER": "evil", "PGDATABASE": "evil", "PGPASSWORD": "evil", "PGOPTIONS": "-c search_path=evil",
            "PGSSLMODE": "disable", "PGSSLROOTCERT": "/evil", "PGGSSENCMODE": "require", "PGTARGETSESSIONATTRS": "any",
            "PGPASSFILE": "/evil", "PGCLIENTENCODING": "LATIN1", "PGAPPNAME": "evil", "PGCONNECT_TIMEOUT": "0",
            "USER": "ada",
        ]
        let parameters = try parameters(configuration, environment: hostile)
        // Given explicitly, so that libpq does not look.
        for keyword in [
            "user", "dbname", "password", "options", "sslmode", "sslrootcert", "gssencmode", "target_session_attrs",
            "passfile", "client_encoding", "application_name", "connect_timeout",
        ] {
            #expect(parameters[keyword].map { !$0.contains("evil") && !$0.isEmpty } == true, "\(keyword)")
        }
        #expect(parameters["gssencmode"] == "disable" && parameters["client_encoding"] == "UTF8")
        #expect(parameters["user"] == "ada" && parameters["sslmode"] == "verify-full")
    }

    @Test func aListOfRevokedCertificatesThatWouldBeIgnoredIsRefused() throws {
        let file = "/tmp/kindred-crl-\(UInt32.random(in: 0..<UInt32.max))"
        try "-----BEGIN X509 CRL-----\n-----END X509 CRL-----\n".write(toFile: file, atomically: false, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        var configuration = try PostgresConfiguration(uri: "postgres://u@db.example.org/d?sslrootcert=/ca.crt")
        configuration.tls.revocationList = file
        #expect(try parameters(configuration)["sslcrl"] == file)
        configuration.tls.revocationList = "/nonexistent"
        #expect(isRefused(configuration, "cannot be read"))
        configuration.tls.revocationList = file
        configuration.tls.rootCertificate = "system"
        #expect(isRefused(configuration, "tls.rootCertificate"))
        configuration.tls.rootCertificate = nil
        configuration.tls.mode = .require
        #expect(isRefused(configuration, "tls.rootCertificate"))
    }

    @Test func aKeyThatOthersMayReadOrNobodyFindsIsRefused() throws {
        let file = "/tmp/kindred-key-\(UInt32.random(in: 0..<UInt32.max))"
        try "key".write(toFile: file, atomically: false, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        var configuration = try PostgresConfiguration(uri: "postgres://u@db.example.org/d?sslmode=require")
        configuration.tls.key = file
        // The group of a key of root's may read it.
        let groupMayRead = getuid() == 0
        for (mode, isGood) in [(0o600, true), (0o400, true), (0o640, groupMayRead), (0o660, false), (0o604, false)] {
            chmod(file, mode_t(mode))
            if isGood {
                #expect(try parameters(configuration)["sslkey"] == file)
            } else {
                #expect(isRefused(configuration, "chmod 600"), "\(mode)")
            }
        }
        configuration.tls.key = "engine:key"
        #expect(try parameters(configuration)["sslkey"] == "engine:key")
        for missing in ["/nonexistent", "/tmp"] {
            configuration.tls.key = missing
            #expect(isRefused(configuration, "sslkey"))
        }
        configuration.tls.key = nil
        configuration.tls.certificate = file
        #expect(try parameters(configuration)["sslcert"] == file)
        configuration.tls.certificate = "/nonexistent"
        #expect(isRefused(configuration, "sslcert"))
    }

    @Test func aConfigurationShowsNoPassword() throws {
        let configuration = try PostgresConfiguration(uri: "postgres://u:sEcr3t@db.example.org/d?sslmode=require")
        var text = "\(configuration) \(String(reflecting: configuration)) \(String(describing: configuration.password))"
        dump(configuration, to: &text)
        #expect(!text.contains("sEcr3t") && text.contains("db.example.org"))
    }

    @Test func aConfigurationThatIsShownTurnsNoTextAround() {
        let configuration = PostgresConfiguration(
            endpoints: [.tcp(host: "db\u{202e}gro.elpmaxe", port: 5432), .socket(folder: "/tmp\u{1b}[2J", port: 1)],
            user: "a\u{2066}pp", database: "shop\n")
        let text = configuration.description
        #expect(!text.unicodeScalars.contains { ["\u{202e}", "\u{1b}", "\u{2066}", "\n"].contains($0) })
        #expect(text.contains("gro.elpmaxe:5432"))
    }
}
