import CommandSupport
import KindredAssistant
import KindredCommand
import KindredTesting
import Testing

/// The output of `kindred doctor` for many findings: numbers of notes, and advice where to begin.
@Suite struct DoctorPageTests {
    private static let notes = """
        CREATE TABLE person (id integer PRIMARY KEY);
        CREATE TABLE message (id integer PRIMARY KEY, sender_id integer REFERENCES person,
            receiver_id integer REFERENCES person);
        CREATE INDEX ON message (sender_id); CREATE INDEX ON message (receiver_id);
        CREATE VIEW senders AS SELECT sender_id, count(*) FROM message GROUP BY sender_id;
        """
    private static let failing = """
        CREATE TABLE place (id integer PRIMARY KEY, person_id integer NOT NULL REFERENCES person ON DELETE SET NULL);
        CREATE INDEX ON place (person_id);
        """

    private func run(_ arguments: String...) async throws -> String {
        let (status, output, _) = try await DatabaseCommand("doctor")(arguments)
        #expect(status == .success)
        return output
    }

    @Test(.database(.sql(notes))) func notesAreCountedUnlessAllIsAskedFor() async throws {
        let output = try await run()
        #expect(output.contains("Notes, which --all shows one by one"))
        #expect(!output.contains("claim the name") && !output.contains("ignore by"))
        let lines = output.split(separator: "\n").map { $0.split(separator: " ") }
        let counted = lines.filter { $0.first?.hasPrefix("K") == true && $0.first?.hasSuffix(":") == false }.map {
            $0.prefix(3).joined(separator: " ")
        }
        #expect(counted == ["K206 contested-name 2", "K304 view-without-key 1"])
        #expect(output.hasSuffix("0 errors, 0 warnings, 3 notes.\nNothing has to be done: these are notes.\n"))

        let all = try await run("--all")
        #expect(all.contains("claim the name person") && all.contains("ignore by K304:public.senders"))
        #expect(!all.contains("one by one"))
        // Programs read each one.
        #expect(try await run("--format", "json").contains(#""rule": "K304""#))
    }

    @Test(.database(.sql(notes + failing))) func theSummarySaysWhatToBeginWith() async throws {
        #expect(
            try await run().hasSuffix(
                """
                1 error, 0 warnings, 3 notes.
                Begin with K222 set-null-on-not-null: public.place.place_person_id_fkey; its SQL is above.

                """))
        try await withDoctorClient { client in
            try await client.runScript(
                """
                CREATE TABLE area (person_id integer NOT NULL REFERENCES person ON DELETE SET NULL);
                COMMENT ON TABLE person IS '@kindred {"ky": "id"}';
                """)
        }
        // A program does not connect.
        #expect(
            try await run().hasSuffix(
                "Begin with K501 misfitting-annotation: public.person; its SQL is above.\n"))
        try await withDoctorClient { client in _ = try await client.query("COMMENT ON TABLE person IS NULL") }
        #expect(
            try await run().hasSuffix(
                """
                Begin with K222 set-null-on-not-null: public.area.area_person_id_fkey and 1 more; its SQL is above.

                """))
    }

    @Test(.database) func anEmptyDatabaseHasNothingToBeginWith() async throws {
        let output = try await run()
        #expect(output.hasSuffix("No findings.\n") && !output.contains("Begin with"))
    }
}
