import Testing

@testable import KindredPostgres

/// The settings that the statements of a context may have, and the statement that makes them.
@Suite struct SessionSettingsTests {
    private func refusal(_ settings: [ServerText: String], role: String? = nil) -> String? {
        do {
            _ = try SessionSettings(settings, role: role)
            return nil
        } catch let error as PostgresError {
            return error.code == .settingsRefused ? error.message : "\(error)"
        } catch {
            return "\(error)"
        }
    }

    @Test func theValuesAreParametersAndTheRoleComesLast() throws {
        let settings = try SessionSettings(["zoo.b": "'; DROP", "app.a": "1"], role: "reader")
        let statement = try #require(settings.statement)
        #expect(
            statement.text.text == """
                SELECT pg_catalog.set_config($1, $2, true), pg_catalog.set_config($3, $4, true), \
                pg_catalog.set_config($5, $6, true)
                """)
        #expect(String(decoding: statement.bindings.bytes, as: UTF8.self) == "app.a1zoo.b'; DROProlereader")
        #expect(statement.text.effect == .plain && !statement.text.mayWriteRows && !statement.text.mayChangeSession)
        #expect(settings.description == "app.a, role, zoo.b")
    }

    @Test func whereCitusDistributesTablesASecondStatementPassesThemOn() throws {
        let settings = try SessionSettings(["app.b": "'; DROP", "app.a": "1"], role: "reader", isDistributed: true)
        let bound = settings.statements.map { String(decoding: $0.bindings.bytes, as: UTF8.self) }
        #expect(
            bound == [
                "app.a1app.b'; DROPcitus.propagate_set_commandslocalkindred.settingsapp.a,app.brolereader", "",
            ])
        #expect(settings.statements.last?.text.text.contains("SET LOCAL %I TO %L") == true)
        // A role alone needs none: Citus connects to its workers as the role.
        #expect(try SessionSettings([:], role: "reader", isDistributed: true).statements.count == 1)
        #expect(try SessionSettings(["app.a": "1"]).statements.count == 1)
        for name in ["max_stack_depth", "Temp_Tablespaces", "citus.propagate_set_commands", "kindred.settings"] {
            #expect(throws: PostgresError.self) {
                _ = try SessionSettings([ServerText(name): "1"], isDistributed: true)
            }
            #expect(try SessionSettings([ServerText(name): "1"]).statements.count == 1)
        }
    }

    @Test func moreSettingsThanTextsAreKeptForHaveATextToo() throws {
        let settings = try SessionSettings(
            Dictionary(uniqueKeysWithValues: (0..<6).map { (ServerText("app.a\($0)"), "") }))
        #expect(settings.statement?.text.text.hasSuffix("pg_catalog.set_config($11, $12, true)") == true)
    }

    @Test func equalTextsAreShared() throws {
        let first = try SessionSettings(["app.a": "1"]).statement?.text
        #expect(try first === SessionSettings(["app.b": "2"]).statement?.text)
    }

    @Test func settingsAreEqualByValueAndRefusedOnesToNone() throws {
        #expect(try SessionSettings(["app.a": "1"]) == SessionSettings(["APP.A": "1"]))
        #expect(try SessionSettings(["app.a": "1"]) != SessionSettings(["app.a": "2"]))
        #expect(try SessionSettings(["app.a": "1"]) != SessionSettings(["app.a": "1"], role: "r"))
        #expect(try SessionSettings([:]) == .none && SessionSettings([:]).isEmpty)
        #expect(SessionSettings.refused(CancellationError()) != .refused(CancellationError()))
        #expect(SessionSettings.refused(CancellationError()) != .none)
    }

    @Test func missingOnesAreFoundWithoutCase() throws {
        let settings = try SessionSettings(["App.Organization": "1"])
        #expect(settings.missing(among: ["app.organization", "app.user", "role"]) == ["app.user", "role"])
        #expect(try SessionSettings([:], role: "r").missing(among: ["Role"]) == [])
    }

    @Test(arguments: [
        "search_path", "Search_Path", "DateStyle", "datestyle", "IntervalStyle", "TimeZone", "bytea_output",
        "extra_float_digits", "client_encoding", "standard_conforming_strings", "array_nulls", "transaction_isolation",
        "transaction_read_only", "lc_monetary",
    ]) func whatTheLibraryRestsOnIsRefused(name: String) {
        #expect(refusal([ServerText(name): "x"])?.contains("rest on it") == true)
    }

    @Test(arguments: ["role", "ROLE", "session_authorization"]) func theRoleIsNoSetting(name: String) {
        #expect(refusal([ServerText(name): "x"])?.contains("give `role`") == true)
    }

    @Test(arguments: ["", ".", "app.", ".a", "app..a", "1a.b", "a.1b", "a b", "a.b;c", "a'b", "a\u{0}b", "a-b.c"])
    func noNameIsRefused(name: String) {
        #expect(refusal([ServerText(name): "x"])?.contains("is no name of a setting") == true)
    }

    @Test(arguments: ["app.organization", "a.b.c", "_a.b$1", "größe.x", "statement_timeout", "work_mem"])
    func namesOfSettingsAreTaken(name: String) {
        #expect(refusal([ServerText(name): "x"]) == nil)
        #expect(refusal([ServerText(name): ""]) == nil)
    }

    @Test func valuesAndRolesThatPostgreSQLCannotTakeAreRefused() {
        #expect(refusal(["app.a": "x\u{0}"])?.hasSuffix("a NUL character [invalidParameter]") == true)
        #expect(refusal(["app.a": "1", "APP.a": "2"])?.contains("twice") == true)
        #expect(refusal([:], role: "none")?.hasPrefix("\"none\"") == true)
        #expect(refusal([:], role: "")?.hasSuffix("63 bytes") == true)
        #expect(refusal([:], role: String(repeating: "r", count: 64)) != nil && refusal([:], role: "a b") == nil)
    }
}
