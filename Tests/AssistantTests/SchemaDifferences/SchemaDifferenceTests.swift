import KindredSchemaDifferences
import TestSupport
import Testing

/// Pairs of schemas whose differences are looked at one by one.
@Suite struct SchemaDifferenceTests {
    private func between(
        _ from: String, _ to: String, allowsDropping: Bool = true, isConcurrent: Bool = true, renames: [String] = []
    ) async throws -> SchemaDifferences {
        var options = SchemaDifferences.Options()
        options.allowsDropping = allowsDropping
        options.isConcurrent = isConcurrent
        options.renames = renames
        return try await SchemaDifferences.between(.sql(from, name: "from"), .sql(to, name: "to"), options: options)
    }

    private func statements(_ differences: SchemaDifferences) -> [String] {
        differences.steps.flatMap { $0.statements.map(\.sql) }
    }

    @Test func theSameSchemaDiffersInNothing() async throws {
        let script = """
            CREATE TYPE mood AS ENUM ('sad', 'ok');
            CREATE TABLE person (id serial PRIMARY KEY, name varchar(20) CHECK (name IN ('a', 'b')), mood mood DEFAULT 'ok');
            CREATE VIEW happy AS SELECT * FROM person WHERE mood = 'ok';
            """
        let differences = try await between(script, script)
        #expect(differences.isEmpty, "\(differences.sql)")
    }

    @Test func columnsConstraintsAndViewsFollow() async throws {
        let differences = try await between(
            """
            CREATE TABLE person (id integer PRIMARY KEY, name text, age integer);
            CREATE VIEW names AS SELECT id, name FROM person;
            CREATE VIEW long_names AS SELECT name FROM names WHERE length(name) > 3;
            """,
            """
            CREATE TABLE person (id bigint PRIMARY KEY, name text NOT NULL, age integer CHECK (age > 0), boss bigint
                REFERENCES person);
            CREATE INDEX ON person (boss);
            CREATE VIEW names AS SELECT id, name FROM person;
            CREATE VIEW long_names AS SELECT name FROM names WHERE length(name) > 3;
            COMMENT ON TABLE person IS 'people''s \\ names';
            """)
        #expect(differences.proof == .proven, "\(differences.proof)\n\(differences.sql)")
        let all = statements(differences)
        #expect(all.contains(#"DROP VIEW "public"."long_names""#))
        #expect(all.contains { $0.hasPrefix("CREATE INDEX CONCURRENTLY") })
        #expect(all.contains { $0.hasSuffix("VALIDATE CONSTRAINT \"person_boss_fkey\"") })
        #expect(differences.steps.map(\.isTransaction) == [true, false, true, false])
    }
}

extension SchemaDifferenceTests {
    @Test func labelsAreAddedInPlaceAndTypesReplacedWhereOneGoes() async throws {
        let from = """
            CREATE TYPE mood AS ENUM ('sad', 'ok');
            CREATE DOMAIN feeling AS mood DEFAULT 'ok';
            CREATE TABLE person (id integer PRIMARY KEY, mood mood DEFAULT 'ok' CHECK (mood > 'sad'), moods mood[], f feeling);
            CREATE INDEX ON person (mood) WHERE mood = 'ok';
            CREATE VIEW v AS SELECT mood FROM person WHERE mood <> 'sad';
            """
        let more = try await between(
            from, from.replacing("('sad', 'ok')", with: "('worst', 'sad', 'so ''so', 'ok', 'great')"))
        #expect(more.proof == .proven)
        #expect(
            statements(more) == [
                "ALTER TYPE \"public\".\"mood\" ADD VALUE 'worst' BEFORE 'sad'",
                "ALTER TYPE \"public\".\"mood\" ADD VALUE 'so ''so' AFTER 'sad'",
                "ALTER TYPE \"public\".\"mood\" ADD VALUE 'great' AFTER 'ok'",
            ])
        #expect(more.steps.map(\.isTransaction) == [false])
        let less = try await between(from, from.replacing("('sad', 'ok')", with: "('ok', 'great', 'sad')"))
        #expect(less.proof == .proven, "\(less.proof) \(less.sql)")
        #expect(statements(less).contains { $0.contains("USING \"moods\"::text::public.mood[]") })
        let careful = try await between(
            from, "CREATE TYPE mood AS ENUM ('sad', 'great'); CREATE TABLE person (id integer PRIMARY KEY);",
            allowsDropping: false)
        #expect(careful.proof == .proven, "\(careful.proof)")
        #expect(careful.withheld.contains("ALTER TYPE \"public\".\"mood\" without the label 'ok'"))
        #expect(statements(careful).contains("ALTER TYPE \"public\".\"mood\" ADD VALUE 'great' AFTER 'ok'"))
        #expect(!statements(careful).contains { $0.contains("kindred_replaced") })
    }

    @Test func keysThatReferToEachOtherComeLast() async throws {
        let to = """
            CREATE TABLE a (id integer PRIMARY KEY, b integer);
            CREATE TABLE b (id integer PRIMARY KEY, a integer REFERENCES a);
            ALTER TABLE a ADD FOREIGN KEY (b) REFERENCES b;
            """
        #expect(try await between("", to).proof == .proven)
        let back = try await between(to, "")
        #expect(back.proof == .proven && back.steps.count == 1, "\(back.sql)")
    }

    @Test func tablesAreRenamedWithWhatBelongsToThem() async throws {
        let from = """
            CREATE TABLE person (id serial PRIMARY KEY, name text CHECK (name <> ''));
            CREATE INDEX ON person (name);
            CREATE TABLE email (id integer PRIMARY KEY, person_id integer REFERENCES person);
            CREATE VIEW v AS SELECT name FROM person;
            """
        let differences = try await between(
            from,
            from.replacing("person (", with: "human (").replacing("REFERENCES person", with: "REFERENCES human")
                .replacing("FROM person", with: "FROM human").replacing("(name", with: "(label").replacing(
                    " name text", with: " label text"
                )
                .replacing("SELECT name", with: "SELECT label AS name"),
            allowsDropping: false, renames: ["person=human", "human.name=label"])
        #expect(differences.proof == .proven, "\(differences.proof)")
        let all = statements(differences)
        #expect(all.allSatisfy { $0.contains(" RENAME ") }, "\(differences.sql)")
        #expect(all.contains("ALTER SEQUENCE \"public\".\"person_id_seq\" RENAME TO \"human_id_seq\""))
        await #expect(throws: SchemaDifferencesError.self) { try await between(from, from, renames: ["person=nobody"]) }
    }

    /// A table and its columns in one call: the table under its old or new name, in any order.
    @Test(arguments: [
        ["person=human", "human.name=label"], ["person=human", "person.name=label"],
        ["person.name=label", "person=human"], ["public.human.name=label", "public.person=human"],
        ["public.person=public.human", "public.person.name=public.human.label"],
        ["person.name=person.label", "public.person=human"], ["person=human", "human.name=human.label"],
    ])
    func aTableAndItsColumnsAreRenamedInOneCall(_ renames: [String]) async throws {
        let differences = try await between(
            "CREATE TABLE person (id integer PRIMARY KEY, name text); CREATE TABLE x (name text);",
            "CREATE TABLE human (id integer PRIMARY KEY, label text); CREATE TABLE x (name text);",
            allowsDropping: false, renames: renames)
        #expect(differences.proof == .proven, "\(differences.proof)")
        #expect(
            Set(statements(differences)) == [
                #"ALTER TABLE "public"."person" RENAME TO "human""#,
                #"ALTER TABLE "public"."human" RENAME COLUMN "name" TO "label""#,
                #"ALTER TABLE "public"."human" RENAME CONSTRAINT "person_pkey" TO "human_pkey""#,
            ], "\(differences.sql)")
    }

    @Test func aRenameThatNamesNothingIsRefusedBesideOthers() async throws {
        let error = await #expect(throws: SchemaDifferencesError.self) {
            try await between(
                "CREATE TABLE person (name text)", "CREATE TABLE human (name text)",
                renames: ["person=human", "person.nmae=label"])
        }
        #expect(error?.message == "The old side has no person.nmae; write schema.table or schema.table.column.")
    }

    @Test func whatElseDiffersIsMadeAndComesBackWhereItIsInTheWay() async throws {
        let from = """
            CREATE TABLE person (id integer PRIMARY KEY, age integer);
            CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
            CREATE TRIGGER t BEFORE UPDATE OF age ON person FOR EACH ROW EXECUTE FUNCTION f();
            CREATE POLICY p ON person TO kindred_diff_role USING (age > 0);
            CREATE VIEW v AS SELECT age FROM person;
            GRANT SELECT ON v TO kindred_diff_role;
            """
        let to =
            from.replacing("age integer", with: "age bigint") + """
                CREATE FUNCTION g() RETURNS integer LANGUAGE sql AS 'SELECT 1';
                ALTER TABLE person ENABLE ROW LEVEL SECURITY;
                GRANT INSERT ON person TO kindred_diff_role;
                """
        let differences = try await between(from, to)
        #expect(differences.proof == .proven, "\(differences.proof)")
        let all = statements(differences)
        for part in [
            "DROP TRIGGER", "CREATE TRIGGER", "DROP POLICY", "CREATE POLICY", "GRANT SELECT ON \"public\".\"v\"",
            "CREATE OR REPLACE FUNCTION public.g()", "ALTER TABLE \"public\".\"person\" ENABLE ROW LEVEL SECURITY",
            "GRANT INSERT ON \"public\".\"person\" TO \"kindred_diff_role\"",
        ] {
            #expect(all.contains { $0.hasPrefix(part) }, "\(part): \(differences.sql)")
        }
        #expect(differences.unmanaged.isEmpty, "\(differences.unmanaged)")
    }

    @Test func withoutASecondConnectionItIsOneTransaction() async throws {
        let from = "CREATE TABLE person (id integer PRIMARY KEY, age integer);"
        let to = "CREATE TABLE person (id integer PRIMARY KEY, age integer NOT NULL UNIQUE CHECK (age > 0));"
        let plain = try await between(from, to, isConcurrent: false)
        #expect(plain.proof == .proven && plain.steps.map(\.isTransaction) == [true])
        let concurrent = try await between(from, to)
        #expect(concurrent.proof == .proven, "\(concurrent.proof)")
        #expect(statements(concurrent).contains { $0.hasSuffix("UNIQUE USING INDEX \"person_age_key\"") })
        #expect(statements(concurrent).contains { $0.hasSuffix("CHECK (\"age\" IS NOT NULL) NOT VALID") })
    }

    @Test func aSequenceGoesOnWhereASerialBecomesAnIdentity() async throws {
        let differences = try await between(
            "CREATE TABLE a (id serial PRIMARY KEY)",
            "CREATE TABLE a (id integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY)", allowsDropping: false)
        #expect(differences.proof == .proven && differences.withheld.isEmpty, "\(differences.proof)")
        #expect(statements(differences).contains { $0.hasPrefix("SELECT pg_catalog.setval(") })
    }

    @Test func aCompositeChangesAlthoughANewTableUsesIt() async throws {
        let from = "CREATE TYPE pair AS (a integer, b text);"
        let to = "CREATE TYPE pair AS (a integer, b bigint); CREATE TYPE two AS (p pair); CREATE TABLE t (two two[]);"
        for allowsDropping in [true, false] {
            let differences = try await between(from, to, allowsDropping: allowsDropping)
            #expect(differences.proof == .proven, "\(differences.proof)")
        }
    }

    @Test func aKeyThatAViewNeedsStaysTheOnlyOne() async throws {
        let differences = try await between(
            """
            CREATE TABLE a (id integer CONSTRAINT old PRIMARY KEY, n integer);
            CREATE VIEW v AS SELECT id, n FROM a GROUP BY id;
            """,
            "CREATE TABLE a (id integer CONSTRAINT new PRIMARY KEY, n integer)", allowsDropping: false)
        #expect(differences.steps.isEmpty, "\(differences.sql)")
        #expect(differences.withheld == [#"DROP VIEW "public"."v""#, "the new constraint public.a.new"])
    }

    @Test func aColumnThatStaysGetsNoSequence() async throws {
        let differences = try await between(
            "CREATE TABLE a (id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY)",
            "CREATE TABLE a (id serial PRIMARY KEY, n integer)", allowsDropping: false)
        #expect(differences.proof == .proven, "\(differences.proof)")
        #expect(differences.withheld == [#"ALTER TABLE "public"."a" ALTER COLUMN "id" TYPE integer"#])
        #expect(statements(differences) == [#"ALTER TABLE "public"."a" ADD COLUMN "n" integer"#])
    }

    @Test func aFailedProofSaysWhichStatement() async throws {
        // The default of a domain cannot do without its function.
        let from = """
            CREATE FUNCTION f() RETURNS integer LANGUAGE sql AS 'SELECT 1';
            CREATE DOMAIN d AS integer DEFAULT f();
            """
        let differences = try await between(from, from.replacing("RETURNS integer", with: "RETURNS smallint"))
        guard case .failed(let reason) = differences.proof else {
            Issue.record("\(differences.proof)")
            return
        }
        #expect(reason.contains("DROP FUNCTION"))
        #expect(
            differences.remarks.contains {
                $0.contains("function public.f(")
            })
    }
}
