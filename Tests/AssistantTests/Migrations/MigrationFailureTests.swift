import CommandSupport
import KindredCommand
import KindredMigrations
import KindredTesting
import Testing

/// The error of a migration that fails: the server's own words, and all problems at once.
@Suite(
    .database(
        """
        CREATE TABLE shelf (id integer PRIMARY KEY);
        CREATE TABLE stock (id integer PRIMARY KEY, amount integer NOT NULL,
            shelf integer REFERENCES shelf DEFERRABLE INITIALLY DEFERRED);
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF NEW.amount < 0 THEN
                RAISE EXCEPTION 'stock of % is negative', NEW.amount USING DETAIL = 'Of shelf 7.', HINT = 'Count again.';
            END IF;
            RETURN NEW;
        END $$;
        CREATE TRIGGER refuse BEFORE INSERT ON stock FOR EACH ROW EXECUTE FUNCTION refuse();
        """))
struct MigrationFailureTests {
    private let run = DatabaseCommand("migrate")

    @Test(
        arguments: [
            (
                "SELECT 1;\nINSERT INTO stock VALUES (1, -3)", 2,
                "A function or trigger of the database raised an exception.",
                [
                    "ERROR P0001: stock of -3 is negative", "DETAIL: Of shelf 7.", "HINT: Count again.",
                    "CONTEXT: PL/pgSQL function refuse() line 3 at RAISE",
                ]
            ),
            (
                "INSERT INTO stock VALUES (4711, 1), (4711, 2)", 1, "A unique constraint refused the change.",
                [
                    #"ERROR 23505: duplicate key value violates unique constraint "stock_pkey""#,
                    "DETAIL: Key (id)=(4711) already exists.", "CONSTRAINT: stock_pkey", "TABLE: public.stock",
                ]
            ),
            (
                "INSERT INTO stock (id, shelf) VALUES (4711, 5)", 1, "A NOT NULL column got NULL.",
                [
                    #"ERROR 23502: null value in column "amount" of relation "stock" violates not-null constraint"#,
                    "DETAIL: Failing row contains (4711, null, 5).", "TABLE: public.stock", "COLUMN: amount",
                ]
            ),
            ("SELECT 1;\n\nSELECT nothing", 3, #"column "nothing" does not exist."#, []),
            ("SELECT 1 / 0", 1, "Division by zero.", []),
            // Checked by COMMIT, which has no line.
            (
                "INSERT INTO stock VALUES (4711, 1, 5)", nil,
                "A foreign key refused the change, at the file's end, where deferred constraints are checked.",
                [
                    #"ERROR 23503: insert or update on table "stock" violates foreign key constraint "stock_shelf_fkey""#,
                    #"DETAIL: Key (shelf)=(5) is not present in table "shelf"."#, "CONSTRAINT: stock_shelf_fkey",
                    "TABLE: public.stock",
                ]
            ),
        ] as [(String, Int?, String, [String])])
    func theServersWordsAreSaid(_ text: String, _ line: Int?, _ reason: String, _ facts: [String]) async throws {
        try await MigrationFolder.with(["1_a.sql": "CREATE TABLE a ()", "2_b.sql": text]) { folder in
            let message = "2_b.sql\(line.map { ":\($0)" } ?? ""): \(reason) The file was rolled back."
            let (status, output, error) = try await run(folder.path)
            #expect(status == 1 && output == "ran 1_a.sql\n", "\(output)")
            #expect(error == "kindred: \(message)\n" + facts.map { "  \($0)\n" }.joined())
            try await withClient { (client) async throws in
                let error = await #expect(throws: MigrationError.self) { try await folder.migrations.apply(to: client) }
                #expect(error?.code == .failed && error?.file == "2_b.sql" && error?.line == line)
                #expect(error?.message == message && error?.server != nil)
                #expect(error?.debugDescription.split(separator: "\n").map(String.init) == [message] + facts)
                // A log gets no values.
                let logged = "\(try #require(error))"
                #expect(!logged.contains("-3") && !logged.contains("4711"), "\(logged)")
                #expect(try await folder.migrations.status(of: client).map(\.state) == [.applied, .pending])
            }
        }
    }

    @Test func theReportOfTenantsHasThemToo() async throws {
        let files = ["1_a.sql": "INSERT INTO public.stock VALUES (1, -3)"]
        try await MigrationFolder.with(files) { folder in
            try await withClient { client in _ = try await client.query("CREATE SCHEMA acme") }
            for format in ["text", "json"] {
                let (status, output, _) = try await run(folder.path, "--tenant", "acme", "--format", format)
                #expect(status == 1)
                #expect(
                    output.contains(
                        "1_a.sql:1: A function or trigger of the database raised an exception. The file was rolled back. "
                            + "ERROR P0001: stock of -3 is negative DETAIL: Of shelf 7. HINT: Count again."),
                    "\(output)")
            }
        }
    }

    @Test func allProblemsOfAFolderAreSaidAtOnce() async throws {
        let files = [
            "0_name.sql": "", "00_same.sql": "", "1_a.sql": "BEGIN;\nSELECT 1;\nCOMMIT;", "name.sql": "",
            "2_b.sql": "SELECT 1;\n\\i other.sql\n;COPY a FROM stdin;\nCOMMIT; -- a row\n", "3_c.sql": "SELECT 'open",
        ]
        let wrong = [
            "0_name.sql: 00_same.sql has the same number.", "name.sql: The name does not", "1_a.sql:1: Leave BEGIN",
            "1_a.sql:3: Leave BEGIN", "2_b.sql:2: A backslash", "2_b.sql:3: COPY FROM STDIN",
            "3_c.sql:1: The statement of line 1 does not end",
        ]
        try await MigrationFolder.with(files) { folder in
            let (status, _, error) = try await run(folder.path)
            let lines = error.split(separator: "\n")
            #expect(status == 65 && lines.count == wrong.count, "\(lines)")
            for start in wrong {
                #expect(lines.contains { $0.hasPrefix("kindred: " + start) || $0.hasPrefix("  " + start) }, "\(start)")
            }
            let thrown = #expect(throws: MigrationError.self) { try folder.migrations.files() }
            #expect(thrown?.further.count == wrong.count - 1 && thrown?.code == .invalidFolder)
            #expect(wrong.allSatisfy { "\(thrown.map(String.init(describing:)) ?? "")".contains($0) })
            for name in ["00_same.sql", "name.sql"] { try folder.remove(name) }
            let files = #expect(throws: MigrationError.self) { try folder.migrations.files() }
            #expect(files?.code == .invalidFile && files?.message.hasPrefix("1_a.sql:1: ") == true)
            #expect(files?.further.map(\.line) == [3, 2, 3, 1])
        }
    }

    @Test func oneFileWithManyProblemsDoesNotFillTheScreen() async throws {
        let text = String(repeating: "COMMIT;\n", count: 500)
        try await MigrationFolder.with(["1_a.sql": text]) { folder in
            let (status, _, error) = try await run(folder.path)
            let lines = error.split(separator: "\n")
            #expect(status == 65 && lines.count == 21 && lines.last == "  And 480 more problems.", "\(lines)")
        }
    }

    @Test func filesThatDoNotFitTheRecordsAreSaidAtOnce() async throws {
        let files = ["1_a.sql": "SELECT 1", "3_c.sql": "SELECT 3", "5_e.sql": "SELECT 5"]
        try await MigrationFolder.with(files) { folder in
            try await withClient { (client) async throws in
                try await folder.migrations.apply(to: client)
                try folder.write("1_a.sql", "SELECT 0")
                try folder.remove("3_c.sql")
                for name in ["2_b.sql", "4_d.sql", "6_f.sql"] { try folder.write(name, "SELECT 1") }
                let error = await #expect(throws: MigrationError.self) { try await folder.migrations.apply(to: client) }
                let all = error.map { [$0] + $0.further } ?? []
                #expect(all.map(\.code) == [.changed, .missing, .outOfOrder, .outOfOrder])
                #expect(all.map(\.file) == ["1_a.sql", "3_c.sql", "2_b.sql", "4_d.sql"])
            }
        }
    }
}
