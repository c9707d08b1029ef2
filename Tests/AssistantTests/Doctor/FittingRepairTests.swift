import KindredAssistant
import KindredSchema
import KindredTesting
import Testing

/// Repairs that a rule can know to fail, or to undo something else.
@Suite struct FittingRepairTests {
    private func names(_ client: PostgresClient, _ query: SQL) async throws -> [String] {
        try await client.query(query).map { try $0.decode(0, as: String.self) ?? "" }
    }

    // MARK: Names

    @Test(
        .database(
            .sql(
                """
                CREATE TABLE person (id integer PRIMARY KEY);
                CREATE TABLE a_table_whose_name_takes_nearly_all_the_letters_of_names (
                    id integer PRIMARY KEY, person_id integer, "personId" integer);
                CREATE TABLE t (id integer PRIMARY KEY, person_id integer, CONSTRAINT t_person_id_fkey CHECK (person_id > 0));
                CREATE INDEX t_person_id_idx ON person (id, id);
                """)))
    func newNamesAreTakenOnceEvenWhereTheyAreCut() async throws {
        try await withDoctorClient { client in
            let found = try await client.allFindings().findings(of: "K210")
            #expect(found.count == 3)
            for finding in found { try await client.repair(finding) }
            let keys = try await names(client, "SELECT conname FROM pg_constraint WHERE contype = 'f' ORDER BY 1")
            let table = "a_table_whose_name_takes_nearly_all_the_letters_of_names"
            #expect(keys == ["\(table)_fkey1", "\(table)_p_fkey", "t_person_id_fkey1"])
            let after = try await client.allFindings()
            #expect(after.findings(of: "K101").isEmpty && after.findings(of: "K210").isEmpty)
        }
    }

    // MARK: Comments

    @Test(
        .database(
            .sql(
                """
                CREATE TABLE p (id integer PRIMARY KEY);
                CREATE TABLE t (id integer PRIMARY KEY CONSTRAINT t_p REFERENCES p ON DELETE SET NULL);
                COMMENT ON CONSTRAINT t_p ON t IS '@kindred {"name": "thing"} it''s \\ one';
                CREATE TABLE u (p integer REFERENCES p, name text NOT NULL, CONSTRAINT named UNIQUE (p, name));
                COMMENT ON CONSTRAINT named ON u IS 'one of a name';
                CREATE TABLE v (id integer NOT NULL, CONSTRAINT leaned_on UNIQUE (id));
                CREATE TABLE w (v integer CONSTRAINT w_v REFERENCES v (id)); ALTER TABLE v ADD PRIMARY KEY (id);
                COMMENT ON CONSTRAINT w_v ON w IS '@kindred {"name": "other"}';
                CREATE TABLE x (id serial PRIMARY KEY, tenant integer, code text CONSTRAINT coded UNIQUE);
                COMMENT ON CONSTRAINT coded ON x IS 'a code for all';
                """)))
    func aConstraintThatIsMadeAnewKeepsItsComment() async throws {
        try await withDoctorClient { client in
            let query: SQL = """
                SELECT conname || ': ' || obj_description(oid, 'pg_constraint') FROM pg_constraint
                WHERE obj_description(oid, 'pg_constraint') IS NOT NULL ORDER BY 1
                """
            let before = try await names(client, query)
            #expect(before.count == 4)
            let report = try await client.allFindings(tenantColumn: "tenant")
            for (rule, object) in [("K222", "t_p"), ("K302", "named"), ("K102", "leaned_on"), ("K411", "coded")] {
                let finding = try #require(report.findings(of: rule).first { $0.object == object })
                #expect(finding.repair.contains { $0.contains("DROP CONSTRAINT") })
                try await client.repair(finding)
            }
            #expect(try await names(client, query) == before)
        }
    }

    @Test(
        .database(
            .sql(
                """
                CREATE TABLE person (id integer PRIMARY KEY);
                CREATE TABLE message (id integer PRIMARY KEY, sender_id integer, receiver_id integer REFERENCES person,
                    CONSTRAINT a_key FOREIGN KEY (sender_id) REFERENCES person,
                    CONSTRAINT b_key FOREIGN KEY (sender_id) REFERENCES person ON DELETE CASCADE);
                COMMENT ON CONSTRAINT a_key ON message IS '@kindred {"deleteRule": "deny"}';
                CREATE TABLE reply (id integer PRIMARY KEY, message_id integer CONSTRAINT now REFERENCES message);
                ALTER TABLE reply ADD CONSTRAINT late FOREIGN KEY (message_id) REFERENCES message NOT VALID;
                """)))
    func whatIsSaidOfAKeyGoesToTheOneThatRemains() async throws {
        try await withDoctorClient { client in
            let before = try await SchemaReader.read(from: client)
            let report = try await client.allFindings()
            #expect(report.findings(of: "K201").map(\.object) == ["a_key", "late"])
            #expect(report.findings(of: "K203").map(\.repair) == [[]])
            // The relationship has its name from the constraint.
            #expect(report.findings(of: "K201").last?.repair.first?.contains(#"{"name":"late"}"#) == true)
            let comments: [String] = report.findings(of: "K206").flatMap(\.repair)
            #expect(!comments.isEmpty && !comments.contains { $0.contains(#""a_key" ON"#) })
            try await client.repair(report)
            let after = try await SchemaReader.read(from: client)
            for (old, new) in zip(before.entities, after.entities) {
                for relationship in old.relationships {
                    let found = try #require(new.relationship(named: relationship.name), "\(relationship.name)")
                    #expect(found.deleteRule == relationship.deleteRule && found.columns == relationship.columns)
                }
            }
            #expect(try await client.allFindings().findings(of: "K206").isEmpty)
        }
    }

    /// Annotations that contradict each other leave no key to drop.
    @Test(
        .database(
            .sql(
                """
                CREATE TABLE p (id integer PRIMARY KEY);
                CREATE TABLE t (a integer CONSTRAINT a_key REFERENCES p,
                    CONSTRAINT b_key FOREIGN KEY (a) REFERENCES p ON DELETE CASCADE);
                COMMENT ON CONSTRAINT a_key ON t IS '@kindred {"name": "one"}';
                COMMENT ON CONSTRAINT b_key ON t IS '@kindred {"name": "two"} kept';
                """)))
    func aKeyWithANameOfItsOwnIsNotDropped() async throws {
        try await withDoctorClient { client in
            #expect(try await client.allFindings().findings(of: "K201").map(\.repair) == [[]])
            try await client.query(
                SQL(
                    unsafeRaw: "COMMENT ON CONSTRAINT a_key ON t IS '@kindred {\"inverse\": \"ts\", \"name\": \"two\"}'"
                ))
            let found = try await client.allFindings().findings(of: "K201")
            #expect(found.first?.repair.first?.contains(#"'@kindred {"inverse":"ts","name":"two"} kept'"#) == true)
        }
    }

    // MARK: Indexes

    @Test(
        .database(
            .sql(
                """
                CREATE TABLE p (id integer PRIMARY KEY);
                CREATE TABLE t (p integer REFERENCES p, name text NOT NULL, CONSTRAINT one UNIQUE (p, name));
                ALTER TABLE t ADD CONSTRAINT two UNIQUE (p, name);
                CREATE TABLE u (id serial PRIMARY KEY, tenant integer NOT NULL, code text NOT NULL CONSTRAINT a UNIQUE);
                ALTER TABLE u ADD CONSTRAINT b UNIQUE (code);
                """)))
    func whatIsThereTwiceIsDroppedAndNotMadeAnew() async throws {
        try await withDoctorClient { client in
            let report = try await client.allFindings(tenantColumn: "tenant")
            #expect(report.findings(of: "K102").map(\.object) == ["two", "b"])
            #expect(report.findings(of: "K302").map(\.object) == ["one"])
            try await client.repair(report)
            let after = try await client.allFindings(tenantColumn: "tenant")
            #expect((after.findings(of: "K102") + after.findings(of: "K302") + after.findings(of: "K411")).isEmpty)
        }
    }

    /// A second attempt at an index, and an index that another index has replaced, are dropped and not built anew.
    @Test(.database) func ofIncompleteIndexesOneIsBuilt() async throws {
        try await withDoctorClient { client in
            try await client.runScript("CREATE TABLE t (a integer, b integer); INSERT INTO t VALUES (1, 1), (1, 1)")
            for name in ["first (a)", "second (a)", "other (b)"].map({ $0.split(separator: " ") }) {
                _ = try? await client.query(
                    SQL(unsafeRaw: "CREATE UNIQUE INDEX CONCURRENTLY \(name[0]) ON t \(name[1])"))
            }
            func repairs() async throws -> [String] {
                try await client.allFindings().findings(of: "K105").flatMap(\.repair)
            }
            #expect(
                try await repairs() == [
                    #"REINDEX INDEX CONCURRENTLY "public"."first""#, #"REINDEX INDEX CONCURRENTLY "public"."other""#,
                    #"DROP INDEX CONCURRENTLY "public"."second""#,
                ])
            try await client.runScript("DELETE FROM t; CREATE UNIQUE INDEX third ON t (a); CREATE INDEX plain ON t (b)")
            #expect(
                try await repairs() == [
                    #"DROP INDEX CONCURRENTLY "public"."first""#, #"REINDEX INDEX CONCURRENTLY "public"."other""#,
                    #"DROP INDEX CONCURRENTLY "public"."second""#,
                ])
            for finding in try await client.allFindings().findings(of: "K105") { try await client.repair(finding) }
            let after = try await client.allFindings()
            #expect(after.findings(of: "K105").isEmpty && after.findings(of: "K102").map(\.object) == ["plain"])
        }
    }

    @Test(
        .database(
            .sql(
                """
                CREATE TABLE person (id integer PRIMARY KEY);
                CREATE TABLE note (id integer PRIMARY KEY, person_id integer, indexed boolean);
                CREATE TABLE letter (id integer PRIMARY KEY, person_id integer); CREATE INDEX ON letter (person_id, id);
                CREATE TABLE card (id integer PRIMARY KEY, person_id integer); CREATE INDEX ON card (person_id) WHERE id > 0;
                CREATE TABLE step (id integer PRIMARY KEY, owner integer REFERENCES person, place integer);
                COMMENT ON CONSTRAINT step_owner_fkey ON step IS '@kindred {"orderedBy": "place"}';
                """)))
    func aNewKeyBringsTheIndexThatItNeeds() async throws {
        try await withDoctorClient { client in
            let report = try await client.allFindings()
            let missing = report.findings(of: "K210")
            #expect(missing.map(\.entity) == ["public.card", "public.letter", "public.note"])
            #expect(missing.map { $0.repair.contains { $0.hasPrefix("CREATE INDEX") } } == [true, false, true])
            let order = try #require(report.findings(of: "K502").first)
            #expect(order.repair.first?.hasPrefix("CREATE UNIQUE INDEX CONCURRENTLY") == true)
            #expect(report.findings(of: "K101").map(\.entity) == ["public.step"])
            for finding in missing + [order] { try await client.repair(finding) }
            #expect(try await client.allFindings().keys.filter { !$0.hasPrefix("K103") } == [])
        }
    }
}
