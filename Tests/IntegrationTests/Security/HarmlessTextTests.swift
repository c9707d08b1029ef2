import CommandSupport
import Kindred
import KindredCommand
import KindredTesting
import Testing

/// Text that a server or a caller gave commands no terminal and forges no line of a log.
@Suite(
    .database(
        """
        CREATE TABLE U&"a\\001b[2J\\202e\\000ab" (id integer PRIMARY KEY,
            U&"n\\0007\\0085" text CONSTRAINT U&"c\\2066\\2028" UNIQUE);
        INSERT INTO U&"a\\001b[2J\\202e\\000ab" VALUES (1, 'x'), (2, 'y');
        CREATE FUNCTION shout() RETURNS integer LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION E'one\\ntwo \\x1b[31m' USING HINT = E'three\\nSTATEMENT: \\u061c'; END $$;
        """)) struct HarmlessTextTests
{
    private static let table = "a\u{1B}[2J\u{202E}\nb"

    /// Whether people see all characters, in their order; with line breaks where they are allowed.
    private static func isHarmless(_ text: String, lines: Bool = false) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control: lines && scalar == "\n"
            case .lineSeparator, .paragraphSeparator: false
            case .format: !scalar.properties.isBidiControl
            default: true
            }
        }
    }

    @Test func aLoginErrorLeavesTheTerminalAsItIs() async throws {
        let server = try ScriptedServer { session in
            session.readStartup()
            let words = "no \u{1B}[2J\u{1B}]0;title\u{7}\u{202E}\u{9B}31m\u{2028}entry\rhere"
            session.socket.write(session.message("E", Array("SFATAL\0VFATAL\0C28000\0M\(words)\0\0".utf8)))
        }
        let uri = "postgres://nobody@127.0.0.1:\(server.port)/nowhere?sslmode=disable"
        let outcome = await TestCommand()("inspect", "--database", uri)
        #expect(outcome.status == .unavailable && outcome.output.isEmpty)
        #expect(outcome.error.hasSuffix("\n") && Self.isHarmless(String(outcome.error.dropLast())), "\(outcome.error)")
        #expect(outcome.error.contains(#"no \u{1B}[2J\u{1B}]0;title\u{7}\u{202E}\u{9B}31m\u{2028}entry\u{D}here"#))
        let error = await expectPostgresError(.connectionFailed) {
            _ = try await PostgresClient.connect(server.configuration)
        }
        for text in [error?.description, error?.message] { #expect(text.map { Self.isHarmless($0) } == true) }
        #expect(Self.isHarmless(error?.debugDescription ?? "", lines: true))
    }

    @Test func aCallersWordsAreHarmlessInTheTool() async throws {
        let uri = try TestDatabase.current.uri
        for words in [
            ["--\u{1B}[2J\u{202E}"], ["x\u{1B}[2J\u{202E}\ny", "--database", uri],
            ["--schema", "\u{9B}2J", "--database", uri],
        ] {
            let outcome = await TestCommand("inspect")(words)
            #expect(outcome.status != .success)
            #expect(Self.isHarmless(String(outcome.error.dropLast())), "\(outcome.error)")
        }
    }

    @Test func theToolShowsNamesWithTheirControlsWrittenOut() async throws {
        let uri = try TestDatabase.current.uri
        for words in [[], [Self.table]] {
            let outcome = await TestCommand()(["inspect", "--database", uri] + words)
            #expect(outcome.status == .success && Self.isHarmless(outcome.output, lines: true))
            #expect(outcome.output.contains(#"a\u{1B}[2J\u{202E}\u{A}b"#))
        }
    }

    @Test func errorsOfTheServerAreOneHarmlessLine() async throws {
        try await withClient { client in
            let missing = await expectPostgresError(.server) {
                try await client.query("SELECT * FROM \(identifier: "m" + Self.table)")
            }
            #expect(missing?.description.contains(#"ma\u{1B}[2J\u{202E}\u{A}b"#) == true)
            let refused = await expectPostgresError(.server) {
                try await client.query("INSERT INTO \(identifier: Self.table) VALUES (3, 'x')")
            }
            #expect(refused?.description.contains(#"constraint c\u{2066}\u{2028}"#) == true)
            // Data keeps its letters.
            #expect(refused?.server?.constraint == "c\u{2066}\u{2028}" && refused?.server?.table == Self.table)
            let raised = await expectPostgresError(.server) { try await client.query("SELECT shout()") }
            for error in [missing, refused, raised].compactMap(\.self) {
                #expect(Self.isHarmless(error.description), "\(error)")
                #expect(Self.isHarmless(error.debugDescription, lines: true), "\(error.debugDescription)")
            }
            let lines = raised?.debugDescription.split(separator: "\n") ?? []
            #expect(
                lines.count { $0.hasPrefix("STATEMENT:") } == 1 && lines.contains { $0.hasPrefix("    STATEMENT:") })
        }
    }

    @Test func errorsOfObjectsAreOneHarmlessLine() async throws {
        try await withDatabase { _, context, _ in
            let objects = try await context.fetch("public.\(Self.table)").all()
            let object = try #require(objects.first { $0["id"] == 1 })
            var errors: [any Error] = []
            func collect(_ body: () async throws -> Void) async {
                do { try await body() } catch { errors.append(error) }
            }
            await collect { _ = try await context.fetch("q\(Self.table)").all() }
            await collect { _ = try await object.value(forKey: "k\(Self.table)") }
            await collect { _ = try await context.fetch("public.\(Self.table)").where("\u{1B}[2J\u{202E} = 1").all() }
            await collect { try await object.setValue("y", forKey: "n\u{7}\u{85}") }
            await collect {
                object["n\u{7}\u{85}"] = 7
                try await context.save()
            }
            #expect(errors.count == 5)
            for error in errors {
                #expect(Self.isHarmless("\(error)"), "\(error)")
                #expect(Self.isHarmless(String(reflecting: error), lines: true), "\(String(reflecting: error))")
            }
        }
    }
}
