import CommandSupport
import KindredAssistant
import KindredCommand
import KindredPostgres
import KindredSchema
import KindredTesting
import TestSupport
import Testing

/// All repairs of a database together: programs connect afterwards, and the repaired findings are gone.
@Suite struct RepairTrialTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let sql: String
    }

    static let cases: [Case] =
        CollidingRepairTests.cases.map { Case(testDescription: $0.testDescription, sql: $0.sql) } + [
            Case(
                testDescription: "two keys of one column and one target, of which the second has a comment",
                sql: """
                    CREATE TABLE a (id integer PRIMARY KEY);
                    CREATE TABLE b (id integer PRIMARY KEY, x integer REFERENCES a, y integer REFERENCES a,
                        CONSTRAINT other FOREIGN KEY (x) REFERENCES a);
                    """),
            Case(
                testDescription: "two columns whose foreign keys are cut to one name",
                sql: """
                    CREATE TABLE c_12345678901234567890123456789012345 (id integer PRIMARY KEY);
                    CREATE TABLE t_12345678901234567890123456789012345678901234567890123456789 (id integer PRIMARY KEY,
                        c_12345678901234567890123456789012345_id integer,
                        "c_12345678901234567890123456789012345Id" integer);
                    """),
            Case(
                testDescription: "a key that is made again has an annotation",
                sql: """
                    CREATE TABLE person (id integer PRIMARY KEY);
                    CREATE TABLE note (person_id integer REFERENCES person ON DELETE SET NULL, PRIMARY KEY (person_id));
                    COMMENT ON CONSTRAINT note_person_id_fkey ON note IS '@kindred {"name": "author"} it''s theirs';
                    """),
            Case(
                testDescription: "a view has the column whose type is to change",
                sql: """
                    CREATE TABLE person (id bigint PRIMARY KEY);
                    CREATE TABLE note (id integer PRIMARY KEY, person_id integer REFERENCES person);
                    CREATE VIEW notes AS SELECT id, person_id FROM note;
                    """),
            Case(
                testDescription: "a comment has a quote, a mark that combines with it, a backslash and two lines",
                sql: """
                    CREATE TABLE doc (id integer PRIMARY KEY, version integer NOT NULL);
                    COMMENT ON COLUMN doc.version IS E'it''\\u0301s \\\\ counted\\nup';
                    """),
        ]

    @Test(.database, arguments: cases) func afterAllRepairsProgramsConnect(_ item: Case) async throws {
        try await withDoctorClient { client in
            try await client.runScript(item.sql)
            let before = try await client.allFindings()
            let trial = try await client.tryRepairs(of: before)
            #expect(trial.repairs.allSatisfy { $0.outcome.isTried }, "\(trial.repairs)")
            try await client.expectRepaired(trial)
        }
    }

    @Test(
        .database(
            .sql(
                """
                CREATE TABLE person (id integer PRIMARY KEY);
                CREATE TABLE note (person_id integer REFERENCES person ON DELETE SET NULL, PRIMARY KEY (person_id));
                COMMENT ON CONSTRAINT note_person_id_fkey ON note IS '@kindred {"name": "author"} it''s theirs';
                """)))
    func aConstraintThatIsMadeAgainKeepsItsComment() async throws {
        try await withDoctorClient { client in
            let report = try await client.allFindings()
            #expect(report.findings(of: "K222").count == 1)
            for finding in report.findings(of: "K222") { try await client.repair(finding) }
            let schema = try await SchemaReader.read(from: client)
            #expect(try schema.entity(named: "note").relationship(named: "author") != nil)
            let rows = try await client.query(
                "SELECT obj_description(oid, 'pg_constraint') FROM pg_constraint WHERE conname = 'note_person_id_fkey'")
            #expect(try rows.first?.decode(0, as: String.self) == #"@kindred {"name": "author"} it's theirs"#)
        }
    }

    @Test(
        .database(
            .sql(
                """
                CREATE TABLE a (id integer PRIMARY KEY);
                CREATE TABLE b (id integer PRIMARY KEY, x integer REFERENCES a, y integer REFERENCES a,
                    CONSTRAINT b_z_fkey FOREIGN KEY (y) REFERENCES a);
                """)))
    func noRepairCommentsOnAKeyThatAnotherDrops() async throws {
        try await withDoctorClient { client in
            let report = try await client.allFindings()
            #expect(report.repairs.contains { $0.hasSuffix(#"DROP CONSTRAINT "b_z_fkey""#) }, "\(report.repairs)")
            #expect(!report.repairs.contains { $0.contains(#"COMMENT ON CONSTRAINT "b_z_fkey""#) }, "\(report.repairs)")
        }
    }

    @Test(
        .database(
            .sql(
                """
                CREATE TABLE part (a integer, b integer) PARTITION BY RANGE (a);
                CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (0) TO (10);
                CREATE INDEX one ON ONLY part (b); CREATE INDEX two ON ONLY part (b);
                """)))
    func twoIndexesThatAreNotCompleteGetTwoNames() async throws {
        try await withDoctorClient { client in
            let findings = try await client.allFindings().findings(of: "K105")
            #expect(findings.count == 2 && Set(findings.flatMap(\.repair)).count == 4, "\(findings)")
            for finding in findings { try await client.repair(finding) }
            #expect(try await client.allFindings().findings(of: "K105").isEmpty)
        }
    }

    /// The examples of all rules, each in schemas of its own: their repairs together, then connect, inspect, doctor again.
    @Test(.database) func allRepairsOfAllExamplesFitTogether() async throws {
        try await withDoctorClient { client in
            for (number, example) in DoctorRulesTests.examples.enumerated() {
                let schema = "example_\(number)"
                try await client.runScript(
                    "CREATE SCHEMA \(schema); SET LOCAL search_path = \(schema); "
                        + example.sql.replacing("acme", with: "acme_\(number)"))
            }
            let trial = try await client.tryRepairs(of: try await client.allFindings())
            #expect(trial.repairs.count > 50)
            let refused = trial.repairs.filter {
                if case .leftOut = $0.outcome { true } else { !$0.outcome.isTried }
            }
            // CREATE TABLE, which makes the copy, makes of two equal UNIQUE constraints one.
            #expect(Set(refused.map(\.finding.rule)).isSubset(of: ["K102"]), "\(refused)")
            try await client.expectRepaired(trial)
            let arguments = ["inspect", "--database", try TestDatabase.current.uri]
            let outcome = await TestCommand()(arguments)
            #expect(outcome.status == .success && outcome.error.isEmpty)
        }
    }

    /// `KINDRED_REPAIR_SEED` says with which seed to begin, and `KINDRED_REPAIRS` how many schemas there are.
    @Test(.database, arguments: seeds) func randomSchemasCanBeConnectedToAfterwards(_ seed: UInt64) async throws {
        try await withDoctorClient { client in
            try await client.runScript(RandomRepairs(seed: seed).sql)
            let trial = try await client.tryRepairs(of: try await client.allFindings())
            #expect(trial.repairs.allSatisfy { $0.outcome.isTried }, "\(trial.repairs)")
            try await client.expectRepaired(trial)
        }
    }

    private static let seeds: Range<UInt64> = {
        let first = UInt64(TestAmount.number("KINDRED_REPAIR_SEED") ?? 1)
        return first..<first + UInt64(TestAmount.number("KINDRED_REPAIRS") ?? TestAmount.of(6, full: 60))
    }()
}

extension RepairTrial.Outcome {
    var isTried: Bool { if case .untried = self { false } else { true } }
}

extension PostgresClient {
    fileprivate func tryRepairs(of report: DoctorReport) async throws -> RepairTrial {
        var options = DoctorOptions()
        options.includesSmallTables = true
        return try await RepairTrial.run(report, of: self, options: options)
    }

    /// Runs the repairs that work, and expects that programs connect and that none of their findings is left.
    fileprivate func expectRepaired(
        _ trial: RepairTrial, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let shown = trial.repairs.map { "\($0.finding.ignoreKey) \($0.outcome) \($0.statements)" }.joined(
            separator: "\n")
        for repair in trial.repairs where repair.outcome == .works {
            for statement in repair.statements {
                do {
                    try await query(SQL(unsafeRaw: statement))
                } catch {
                    Issue.record("\(statement): \(error)\n\(shown)", sourceLocation: sourceLocation)
                }
            }
        }
        do {
            _ = try await SchemaReader.read(from: self)
        } catch {
            Issue.record("Programs cannot connect: \(error)\n\(shown)", sourceLocation: sourceLocation)
        }
        let keys = Set(try await allFindings().keys)
        for repair in trial.repairs where repair.outcome == .works || repair.outcome == .needless {
            #expect(!keys.contains(repair.finding.ignoreKey), "\(shown)", sourceLocation: sourceLocation)
        }
    }
}
