import KindredDoctor
import KindredSchema
import KindredTesting
import Testing

/// Repairs that fit alone and lock every program out together.
@Suite(.database) struct CollidingRepairTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let sql: String
        /// The findings that have no repair here.
        let withoutRepair: [String]
    }

    static let cases = [
        Case(
            testDescription: "two relationships would get one name",
            sql: """
                CREATE SCHEMA a; CREATE SCHEMA b;
                CREATE TABLE org (id integer PRIMARY KEY);
                CREATE TABLE a.cat (id integer PRIMARY KEY, owner integer REFERENCES org);
                CREATE TABLE b.cat (id integer PRIMARY KEY, owner integer REFERENCES org);
                """,
            withoutRepair: ["K206", "K207"]),
        Case(
            testDescription: "the version is part of the key to be, and so no version of the row",
            sql: """
                CREATE TABLE doc (name text NOT NULL, version integer NOT NULL);
                CREATE UNIQUE INDEX doc_name_version ON doc (name, version);
                """,
            withoutRepair: []),
        Case(
            testDescription: "the key to be has a version",
            sql: """
                CREATE TABLE doc (id integer, name text NOT NULL, version integer NOT NULL);
                CREATE UNIQUE INDEX doc_name_version ON doc (name, version);
                COMMENT ON COLUMN doc.version IS '@kindred {"version": true}';
                """,
            withoutRepair: ["K301"]),
        Case(
            testDescription: "the key to be has a column that is left out",
            sql: """
                CREATE TABLE doc (id integer, name text NOT NULL, secret text NOT NULL);
                CREATE UNIQUE INDEX doc_name_secret ON doc (name, secret);
                COMMENT ON COLUMN doc.secret IS '@kindred {"ignore": true}';
                """,
            withoutRepair: ["K301"]),
        Case(
            testDescription: "the key to be has the name of a relationship",
            sql: """
                CREATE TABLE person (number integer PRIMARY KEY);
                CREATE TABLE note (person integer REFERENCES person, text text);
                COMMENT ON CONSTRAINT note_person_fkey ON note IS '@kindred {"name": "id"}';
                """,
            withoutRepair: ["K301"]),
        Case(
            testDescription: "the version is left out",
            sql: """
                CREATE TABLE doc (id integer PRIMARY KEY, version integer NOT NULL);
                COMMENT ON COLUMN doc.version IS '@kindred {"ignore": true}';
                """,
            withoutRepair: []),
        Case(
            testDescription: "the column without a foreign key is left out",
            sql: """
                CREATE TABLE person (id integer PRIMARY KEY);
                CREATE TABLE note (id integer PRIMARY KEY, person_id integer);
                COMMENT ON COLUMN note.person_id IS '@kindred {"ignore": true}';
                """,
            withoutRepair: ["K210"]),
        Case(
            testDescription: "the second key of two equal ones is chosen for the helper",
            sql: """
                CREATE TABLE a (id integer PRIMARY KEY); CREATE TABLE b (id integer PRIMARY KEY);
                CREATE TABLE h (x integer REFERENCES a, y integer REFERENCES b, PRIMARY KEY (x, y),
                    CONSTRAINT second FOREIGN KEY (x) REFERENCES a);
                COMMENT ON TABLE h IS '@kindred {"manyToMany": ["second", "h_y_fkey"]}';
                """,
            withoutRepair: ["K201"]),
    ]

    @Test(arguments: cases) func afterAllRepairsProgramsConnect(_ item: Case) async throws {
        try await withDoctorClient { client in
            try await client.runScript(item.sql)
            let findings = try await client.allFindings().findings
            let rules: Set<String> = ["K201", "K206", "K207", "K210", "K301", "K503"]
            let unrepaired = findings.filter { $0.repair.isEmpty && rules.contains($0.rule) }.map(\.rule)
            #expect(Set(unrepaired) == Set(item.withoutRepair), "\(findings.map(\.ignoreKey))")
            for finding in findings { try await client.repair(finding) }
            _ = try await SchemaReader.read(from: client)
        }
    }
}
