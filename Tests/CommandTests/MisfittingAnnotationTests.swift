import CommandSupport
import Foundation
import KindredCommand
import KindredPostgres
import KindredSchema
import KindredTesting
import Testing

/// Commands look at a database whose annotations do not fit, and say which ones they leave out.
@Suite(
    .database(
        """
        CREATE TABLE person (id integer PRIMARY KEY);
        CREATE TABLE email (id integer PRIMARY KEY, owner integer REFERENCES person, version integer NOT NULL);
        CREATE TABLE letter (id integer PRIMARY KEY, owner integer REFERENCES person);
        COMMENT ON CONSTRAINT email_owner_fkey ON email IS '@kindred {"name": "sender", "inverse": "mail"}';
        COMMENT ON CONSTRAINT letter_owner_fkey ON letter IS '@kindred {"inverse": "mail"}';
        COMMENT ON COLUMN email.version IS '@kindred {"vresion": true} how often it changed';
        """))
struct MisfittingAnnotationTests {
    private let run = DatabaseCommand(hasOption: false)

    private static let places = [
        "the comment on constraint email_owner_fkey of public.email",
        "the comment on constraint letter_owner_fkey of public.letter",
        "the comment on column version of public.email",
    ]

    @Test(arguments: [
        ["inspect", "--database", "DATABASE"], ["inspect", "--database", "DATABASE", "--format", "json"],
        ["diagram", "--database", "DATABASE"],
    ])
    func commandsGoOnWithoutThem(_ arguments: [String]) async throws {
        let client = try await PostgresClient.connect(try PostgresConfiguration(uri: try TestDatabase.current.uri))
        await #expect(throws: SchemaError.self) { try await SchemaReader.read(from: client) }
        // The database without the comments' annotations gives the same.
        try await client.runScript(
            """
            COMMENT ON CONSTRAINT email_owner_fkey ON email IS NULL; COMMENT ON CONSTRAINT letter_owner_fkey ON letter IS NULL;
            COMMENT ON COLUMN email.version IS 'how often it changed';
            """)
        let without = try await run(arguments)
        try await client.runScript(
            """
            COMMENT ON CONSTRAINT email_owner_fkey ON email IS '@kindred {"name": "sender", "inverse": "mail"}';
            COMMENT ON CONSTRAINT letter_owner_fkey ON letter IS '@kindred {"inverse": "mail"}';
            COMMENT ON COLUMN email.version IS '@kindred {"vresion": true} how often it changed';
            """)
        await client.close()
        let result = try await run(arguments)
        #expect(result.status == 0 && result.output == without.output && !result.output.isEmpty, "\(result)")
        #expect(without.error.isEmpty)
        for place in Self.places { #expect(result.error.contains("does not fit: \(place): "), "\(result.error)") }
        #expect(result.error.split(separator: "\n").count == 3)
    }

    @Test func generateAndDoctorAndDiffGoOnToo() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let generated = try await run(["generate", "--database", "DATABASE", "--output", folder.path])
        #expect(generated.status == 0 && generated.error.contains(Self.places[0]), "\(generated)")
        let doctor = try await run(["doctor", "--database", "DATABASE", "--format", "json"])
        #expect(doctor.status == 0, "\(doctor)")
        let inspection = folder.appending(path: "inspection.json")
        try Data(try await run(["inspect", "--database", "DATABASE", "--format", "json"]).output.utf8).write(
            to: inspection)
        let same = try await run(["diff", "DATABASE", inspection.path, "--check"])
        #expect(same.status == 0, "\(same)")
        for place in Self.places {
            #expect(doctor.output.contains(place) && same.output.contains(place), "\(doctor) \(same)")
        }
    }
}
