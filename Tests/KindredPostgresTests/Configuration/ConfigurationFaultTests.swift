import Testing

@testable import KindredPostgres

@Suite struct ConfigurationFaultTests {
    @Test(arguments: [
        "postgres://user:sEcr3t/db", "postgres://user:sEcr3t/x@host/db", "postgres://user:sEcr3t?x=1@host/db",
        "postgres://user:a?sEcr3t=1@host/db", "postgres://user:sEcr3t@@host/db", "postgres://user:sEcr3t%zz@host/db",
        "postgres://user:1?sEcr3t=1@host/db",
    ])
    func anErrorNeverRepeatsThePassword(_ uri: String) {
        do {
            _ = try PostgresConfiguration(uri: uri)
            Issue.record("accepted")
        } catch { #expect(!"\(error) \(String(reflecting: error))".contains("sEcr3t"), "\(error)") }
    }

    @Test(arguments: ["postgres://h:+5432/db", "postgres://h/db?connect_timeout=+5", "postgres://[a:b]/db"])
    func oddNumbersAndAddressesAreRefused(_ uri: String) {
        #expect(throws: PostgresError.self) { try PostgresConfiguration(uri: uri) }
    }

    @Test(arguments: ["good\0.evil", "a,b", "a\nb", "", "a b", "/tmp"])
    func aHostGivenInCodeIsChecked(_ host: String) {
        let configuration = PostgresConfiguration(endpoints: [.tcp(host: host)])
        #expect(throws: PostgresError.self) { try configuration.validate() }
    }

    @Test func certificatesGivenInCodeAreCheckedForNul() {
        var configuration = PostgresConfiguration(endpoints: [.tcp(host: "localhost")])
        configuration.tls.rootCertificate = "/ca\0x"
        #expect(throws: PostgresError.self) { try configuration.validate() }
    }

    @Test(arguments: ["a\r\n-c b=c", "a\\\u{301} b"]) func settingsAreEscapedByteByByte(_ value: String) throws {
        var configuration = PostgresConfiguration(endpoints: [.tcp(host: "localhost")], user: "u")
        configuration.settings = ["application_name": value]
        let options =
            try configuration.libpqParameters(libpqVersion: 160_000, environment: [:])
            .first { $0.keyword == "options" }?.value ?? ""
        // Splits as the server does: at spaces; a backslash takes the next byte as it is.
        var words: [[UInt8]] = [[]]
        var bytes = options.utf8.makeIterator()
        while let byte = bytes.next() {
            switch byte {
            case UInt8(ascii: "\\"): bytes.next().map { words[words.count - 1].append($0) }
            case 32, 9...13: words.append([])
            default: words[words.count - 1].append(byte)
            }
        }
        #expect(words.contains(Array("application_name=\(value)".utf8)), "\(options.debugDescription)")
    }

    @Test func aSearchPathIsQuotedAndEndsWithTemporaryObjects() throws {
        var configuration = PostgresConfiguration(endpoints: [.tcp(host: "localhost")], user: "u")
        #expect(configuration.searchPathSetting == nil)
        configuration.searchPath = ["shop", "we\"ird, \\x"]
        #expect(configuration.searchPathSetting == #""shop", "we""ird, \x", pg_temp"#)
        let options = try configuration.libpqParameters(libpqVersion: 160_000, environment: [:])
            .first { $0.keyword == "options" }?.value
        #expect(options?.contains(#"-c search_path="shop",\ "we""ird,\ \\x",\ pg_temp"#) == true, "\(options ?? "")")
        configuration.searchPath = []
        #expect(configuration.searchPathSetting == "pg_temp")
    }

    @Test(arguments: [
        (#"shop, pg_temp"#, ["shop", "pg_temp"]), (#" "shop" ,  PG_Temp"#, ["shop", "pg_temp"]), ("", [""]),
        (#""we""ird, x", "Shop""#, [#"we"ird, x"#, "Shop"]), (#""$user", public"#, ["$user", "public"]),
        (#""""","""#, [#"""#, ""]),
    ])
    func aSearchPathIsReadAsAServerReadsIt(text: String, names: [String]) {
        #expect(SearchPathSetting.names(text) == names)
    }

    @Test(arguments: ["", "pg_catalog", "pg_temp", "pg_toast", "a\0b", String(repeating: "ü", count: 32)])
    func aSchemaOfTheSearchPathIsChecked(_ schema: String) {
        var configuration = PostgresConfiguration(endpoints: [.tcp(host: "localhost")])
        configuration.searchPath = ["shop", schema]
        #expect(throws: PostgresError.self) { try configuration.validate() }
        configuration.searchPath = ["shop"]
        configuration.settings = ["Search_Path": "shop"]
        #expect(throws: PostgresError.self) { try configuration.validate() }
    }

    @Test func aPasswordThatComesLaterIsTreatedAsOneThatIsThere() throws {
        var configuration = PostgresConfiguration(endpoints: [.tcp(host: "db.example.org")], user: "u")
        configuration.passwordProvider = { "sEcr3t" }
        configuration.tls.mode = .prefer
        // It could go out in clear text.
        #expect(throws: PostgresError.self) {
            try configuration.libpqParameters(libpqVersion: 150_000, environment: [:])
        }
        let parameters = try configuration.libpqParameters(
            libpqVersion: 160_000, environment: ["PGPASSWORD": "somebody else's"])
        #expect(parameters.contains { $0 == ("require_auth", "!password") })
        #expect(!parameters.contains { $0.keyword == "password" })
        configuration.password = "sEcr3t"
        #expect(throws: PostgresError.self) { try configuration.validate() }
    }

    @Test func anEmptyPasswordIsNotAVariablesPassword() throws {
        var configuration = PostgresConfiguration(endpoints: [.tcp(host: "localhost")], user: "u")
        configuration.password = ""
        let parameters = try configuration.libpqParameters(
            libpqVersion: 160_000, environment: ["PGPASSWORD": "sEcr3t"])
        #expect(parameters.first { $0.keyword == "password" }.map { !$0.value.isEmpty && $0.value != "sEcr3t" } == true)
    }
}
