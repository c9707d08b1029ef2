import Testing

@testable import KindredPostgres

@Suite struct KeepAliveTests {
    private func parameters(_ configuration: PostgresConfiguration) throws -> [String: String] {
        let parameters = try configuration.libpqParameters(libpqVersion: 150_000, environment: [:])
        return Dictionary(uniqueKeysWithValues: parameters.map { ($0.keyword, $0.value) })
    }

    @Test func aDeadLineIsFoundOutWithinTenSecondsByDefault() throws {
        let parameters = try parameters(PostgresConfiguration(uri: "postgres://localhost/db"))
        #expect(parameters["keepalives"] == "1")
        #expect(parameters["keepalives_idle"] == "4")
        #expect(parameters["keepalives_interval"] == "2")
        #expect(parameters["keepalives_count"] == "3")
        #expect(parameters["tcp_user_timeout"] == "10000")
    }

    @Test func partsOfSecondsCountAsWholeOnes() throws {
        var configuration = try PostgresConfiguration(uri: "postgres://localhost/db")
        configuration.keepAlive.idle = .milliseconds(1_200)
        configuration.keepAlive.interval = .milliseconds(1)
        configuration.keepAlive.count = 7
        configuration.keepAlive.userTimeout = .microseconds(1_500)
        let parameters = try parameters(configuration)
        #expect(parameters["keepalives_idle"] == "2")
        #expect(parameters["keepalives_interval"] == "1")
        #expect(parameters["keepalives_count"] == "7")
        #expect(parameters["tcp_user_timeout"] == "2")
    }

    @Test func theyCanBeTurnedOff() throws {
        var configuration = try PostgresConfiguration(uri: "postgres://localhost/db")
        configuration.keepAlive.idle = nil
        configuration.keepAlive.userTimeout = nil
        let parameters = try parameters(configuration)
        #expect(parameters["keepalives"] == "0")
        #expect(parameters["keepalives_idle"] == nil)
        #expect(parameters["tcp_user_timeout"] == nil)
    }

    @Test func whatTheURISaysCountsMore() throws {
        let parameters = try parameters(
            PostgresConfiguration(uri: "postgres://localhost/db?keepalives_idle=99&tcp_user_timeout=7"))
        #expect(parameters["keepalives_idle"] == "99")
        #expect(parameters["keepalives_count"] == "3")
        #expect(parameters["tcp_user_timeout"] == "7")
    }

    @Test func whatIsNotPositiveIsRefused() throws {
        var configuration = try PostgresConfiguration(uri: "postgres://localhost/db")
        configuration.keepAlive.count = 0
        #expect(throws: PostgresError.self) { try configuration.validate() }
        configuration.keepAlive.count = 1
        configuration.keepAlive.userTimeout = .zero
        #expect(throws: PostgresError.self) { try configuration.validate() }
    }
}
