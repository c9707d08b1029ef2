import TestSupport
import Testing

@testable import KindredPostgres

/// Addresses that no user would write are accepted or refused, never more: `KINDRED_FUZZ=10000000`.
@Suite struct ConfigurationFuzzTests {
    private let uris = [
        "postgres://user:secret@localhost:5432/shop", "postgresql:///shop?host=/var/run/postgresql&port=5433",
        "postgres://user@[::1]:5432,db2.example.org:5433/shop?target_session_attrs=read-write&sslmode=verify-full",
        "postgres://u%40x:p%2Fw@host/db?connect_timeout=10&application_name=a%20b&options=-c%20work_mem%3D4MB",
        "postgres://host?sslrootcert=system&keepalives=1&channel_binding=require&statement_timeout=5s",
    ]
    private let keywords = [
        "host": "localhost,::1", "port": "5432,5433", "dbname": "shop", "user": "me", "password": "secret",
        "sslmode": "require", "connect_timeout": "10", "application_name": "a b", "target_session_attrs": "any",
        "options": "-c work_mem=4MB", "keepalives_idle": "30", "hostaddr": "127.0.0.1",
    ]

    @Test func damagedURIsAreAddressesOrErrors() {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<Fuzzing.count / 2 {
            let uri = String(decoding: generator.damaged(Array(generator.pick(uris).utf8)), as: UTF8.self)
            expectConfigurationOrError { try PostgresConfiguration(uri: uri) }
        }
    }

    @Test func damagedKeywordsAreAddressesOrErrors() {
        var generator = SeededGenerator(seed: 2)
        let names = keywords.keys.sorted()
        for _ in 0..<Fuzzing.count / 2 {
            var damaged = keywords
            for _ in 0...2 {
                let name = generator.pick(names)
                let value = String(decoding: generator.damaged(Array((keywords[name] ?? "").utf8)), as: UTF8.self)
                if generator.once(in: 10) {
                    damaged[String(decoding: generator.damaged(Array(name.utf8)), as: UTF8.self)] = value
                } else {
                    damaged[name] = value
                }
            }
            expectConfigurationOrError { try PostgresConfiguration(keywords: damaged) }
        }
    }

    private func expectConfigurationOrError(_ body: () throws -> PostgresConfiguration) {
        do {
            let configuration = try body()
            try configuration.validate()
            _ = "\(configuration) \(String(reflecting: configuration))"
            _ = try configuration.libpqParameters(libpqVersion: 150_000, environment: [:])
        } catch let error as PostgresError {
            if error.code != .invalidConfiguration { Issue.record(error) }
        } catch {
            Issue.record(error)
        }
    }
}
