import CommandSupport
import Foundation
import Kindred
import KindredCommand
import KindredDoctor
import KindredSchema
import KindredTesting
import Testing

/// A database whose annotations do not fit can be looked at by every command, and the doctor mends it.
@Suite(
    .database(
        .sql(
            """
            CREATE TABLE person (id integer PRIMARY KEY, name text);
            CREATE TABLE email (id integer PRIMARY KEY, sender integer REFERENCES person, receiver integer REFERENCES person,
                version integer NOT NULL, note text, place integer);
            CREATE TABLE tag (id integer PRIMARY KEY);
            CREATE TABLE email_tag (email_id integer REFERENCES email, tag_id integer REFERENCES tag, other integer REFERENCES tag,
                PRIMARY KEY (email_id, tag_id));
            CREATE VIEW names AS SELECT name FROM person GROUP BY name;
            """)))
struct AnnotationRepairTests {
    struct Case: Sendable, CustomTestStringConvertible {
        /// The object of the comment, as in COMMENT ON.
        let object: String
        let comment: String
        /// The comment that the doctor leaves; nil for none.
        let mended: String?
        /// Further comments that clash with it.
        var others = ""

        var testDescription: String { "\(object): \(comment)" }
    }

    static let cases = [
        Case(object: "TABLE email", comment: "@kindred {", mended: "{"),
        Case(object: "TABLE email", comment: "@kindred", mended: nil),
        Case(object: "TABLE email", comment: "@kindred letters", mended: "letters"),
        Case(object: "TABLE email", comment: "@kindred @kindred {\"a\"} x", mended: "{\"a\"} x"),
        Case(object: "TABLE email", comment: #"@kindred {"gruop": "post"}"#, mended: nil),
        Case(
            object: "TABLE email", comment: #"@kindred {"group": "post", "filetr": "x"} it's"#,
            mended: #"@kindred {"group":"post"} it's"#),
        Case(object: "TABLE email", comment: #"@kindred {"group": 3} letters"#, mended: "letters"),
        Case(object: "TABLE email", comment: #"@kindred {"key": ["none"]}"#, mended: nil),
        Case(object: "TABLE email", comment: #"@kindred {"filter": "("}"#, mended: nil),
        Case(
            object: "TABLE email", comment: #"@kindred {"filter": "nosuch = 1", "group": "post"} it's"#,
            mended: #"@kindred {"group":"post"} it's"#),
        Case(object: "TABLE email", comment: #"@kindred {"softDelete": "note"}"#, mended: nil),
        Case(object: "TABLE email", comment: #"@kindred {"optimisticLocking": "note"}"#, mended: nil),
        Case(object: "TABLE email", comment: #"@kindred {"relationships": true}"#, mended: nil),
        Case(object: "TABLE email_tag", comment: #"@kindred {"manyToMany": ["x", "y"]}"#, mended: nil),
        Case(
            object: "VIEW names", comment: #"@kindred {"key": ["nmae"], "group": "people"}"#,
            mended: #"@kindred {"group":"people"}"#),
        Case(object: "COLUMN email.note", comment: #"@kindred {"version": true} text"#, mended: "text"),
        Case(object: "COLUMN email.id", comment: #"@kindred {"ignore": true, "lazy": true}"#, mended: nil),
        Case(
            object: "COLUMN email.version", comment: #"@kindred {"version": true, "lazy": true}"#,
            mended: #"@kindred {"lazy":true}"#),
        Case(object: "CONSTRAINT email_pkey ON email", comment: #"@kindred {"name": "key"} first"#, mended: "first"),
        Case(
            object: "CONSTRAINT email_sender_fkey ON email",
            comment: #"@kindred {"name": "note", "inverse": "sent"}"#, mended: #"@kindred {"inverse":"sent"}"#),
        Case(
            object: "CONSTRAINT email_sender_fkey ON email", comment: #"@kindred {"orderedBy": "plcae"}"#, mended: nil),
        Case(object: "CONSTRAINT email_sender_fkey ON email", comment: #"@kindred {"manyToMany": "x"}"#, mended: nil),
        Case(object: "CONSTRAINT email_sender_fkey ON email", comment: #"@kindred {"deleteRule": "no"}"#, mended: nil),
        Case(
            object: "CONSTRAINT email_receiver_fkey ON email",
            comment: #"@kindred {"inverse": "mail", "name": "receiver_"}"#,
            mended: #"@kindred {"name":"receiver_"}"#,
            others: #"COMMENT ON CONSTRAINT email_sender_fkey ON email IS '@kindred {"inverse": "mail"}'"#),
    ]

    private let run = DatabaseCommand()

    private func comment(_ item: Case, on client: PostgresClient) async throws {
        if !item.others.isEmpty { try await client.runScript(item.others) }
        try await client.runScript("COMMENT ON \(item.object) IS '\(item.comment.replacing("'", with: "''"))'")
    }

    private func expectToGoOn(_ commands: [[String]], sourceLocation: SourceLocation = #_sourceLocation) async throws {
        for arguments in commands {
            let result = try await run(arguments)
            #expect(
                result.status == 0 && (result.output + result.error).contains("does not fit"),
                "\(arguments) \(result)", sourceLocation: sourceLocation)
        }
    }

    @Test(arguments: cases) func commandsGoOnWithoutIt(_ item: Case) async throws {
        try await withDoctorClient { client in
            try await comment(item, on: client)
            await #expect(throws: SchemaError.self) { try await SchemaReader.read(from: client).parsingFilters() }
        }
        try await expectToGoOn([["inspect", "--format", "json"], ["diagram"], ["doctor", "--all"]])
    }

    @Test func allCommandsGoOnWithoutAllOfThem() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "misfit-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await withDoctorClient { client in for item in Self.cases { try await comment(item, on: client) } }
        try await expectToGoOn([["inspect"], ["generate", "--output", folder], ["doctor", "--all", "--fix"]])
        let same = try await DatabaseCommand("diff", "DATABASE", "DATABASE", hasOption: false)()
        #expect(same.status == 0, "\(same)")
        // And all repairs of all of them mend it.
        let script = try await run("doctor", "--all", "--fix").output
        try await withDoctorClient { client in
            for line in script.split(separator: "\n") where !line.hasPrefix("--") {
                try await client.query(SQL(unsafeRaw: String(line)))
            }
            _ = try await SchemaReader.read(from: client).parsingFilters()
        }
    }

    @Test(arguments: cases) func theRepairKeepsWhatFits(_ item: Case) async throws {
        try await withDoctorClient { client in
            try await comment(item, on: client)
            for _ in 0..<3 {
                // Mending one can be enough for another.
                guard let finding = try await client.allFindings().findings(of: "K501").first else { break }
                #expect(finding.repair.count == 1, "\(finding)")
                try await client.repair(finding)
            }
            _ = try await SchemaReader.read(from: client).parsingFilters()
            let rows = try await client.query(
                "SELECT description FROM pg_description WHERE objoid >= 16384 ORDER BY description COLLATE \"C\"")
            let left = try rows.map { try $0.decode(0, as: String.self) ?? "" }
            let others = item.others.isEmpty ? [] : [#"@kindred {"inverse": "mail"}"#]
            #expect(left == (others + [item.mended].compactMap(\.self)).sorted(), "\(left)")
        }
    }

    @Test func repairsOfOtherRulesAreAddedToTheMendedComment() async throws {
        try await withDoctorClient { client in
            try await client.runScript(
                #"COMMENT ON COLUMN email.version IS '@kindred {"vresion": true, "lazy": false} counted'"#)
            let report = try await client.allFindings()
            let wanted = [
                #"COMMENT ON COLUMN "public"."email"."version" IS '@kindred {"lazy":false} counted'"#,
                #"COMMENT ON COLUMN "public"."email"."version" IS '@kindred {"lazy":false,"version":true} counted'"#,
            ]
            #expect(report.repairs.filter { $0.contains("\"version\" IS") } == wanted, "\(report.repairs)")
        }
    }
}
