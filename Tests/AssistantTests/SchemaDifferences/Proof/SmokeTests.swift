import KindredSchemaDifferences
import KindredTesting
import Testing

/// A plan is proven if a row can be written afterwards, and only then: each plan is run in a database, and used there.
@Suite(.database) struct SmokeTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let from: String
        let to: String
        /// A statement that works before the change.
        let use: String
        /// The server's message afterwards; nil where the statement still works.
        var message: String?
        /// A part of the line about a table in which no row could be tried.
        var untried: String?
    }

    /// Tables of which one writes into the other by a trigger: when, and how the other is made.
    private static func logged(_ when: String, _ log: String, kind: String = "TRIGGER") -> String {
        """
        CREATE TABLE log (\(log));
        CREATE TABLE person (id integer PRIMARY KEY, name text);
        CREATE FUNCTION logged() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN INSERT INTO log (what, who) VALUES (TG_OP, 'me'); RETURN NULL; END $$;
        CREATE \(kind) l AFTER \(when) ON person \(kind == "TRIGGER" ? "" : "DEFERRABLE INITIALLY DEFERRED")
            FOR EACH ROW EXECUTE FUNCTION logged();
        """
    }

    private static func losing(_ testDescription: String, when: String, use: String, kind: String = "TRIGGER") -> Case {
        Case(
            testDescription: testDescription, from: logged(when, "what text, who text", kind: kind),
            to: logged(when, "what text", kind: kind), use: use,
            message: #"column "who" of relation "log" does not exist"#)
    }

    private static let counter = """
        CREATE FUNCTION top() RETURNS integer LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT max(no) FROM counter); END $$;
        CREATE TABLE t (x integer DEFAULT top(), y integer);
        """
    private static let part = """
        CREATE FUNCTION checked() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN PERFORM 1 FROM rule WHERE level > 0; RETURN NEW; END $$;
        CREATE TABLE t (id integer, day date) PARTITION BY RANGE (day);
        CREATE TABLE p PARTITION OF t DEFAULT;
        CREATE TRIGGER c BEFORE INSERT ON p FOR EACH ROW EXECUTE FUNCTION checked();
        """
    private static let family = """
        CREATE FUNCTION sized() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.size := 1; RETURN NEW; END $$;
        CREATE TABLE child (id integer PRIMARY KEY, org integer NOT NULL REFERENCES org);
        CREATE TRIGGER s BEFORE INSERT ON org FOR EACH ROW EXECUTE FUNCTION sized();
        """

    static let cases = [
        losing(
            "another table's trigger writes into a column that goes", when: "INSERT",
            use: "INSERT INTO person SELECT count(*) FROM person"),
        losing(
            "a trigger of updates writes into a column that goes", when: "UPDATE",
            use: "INSERT INTO person VALUES (1) ON CONFLICT (id) DO UPDATE SET name = 'x'; UPDATE person SET name = 'y'"
        ),
        losing(
            "a trigger of deletes writes into a column that goes", when: "DELETE",
            use: "INSERT INTO person VALUES (1) ON CONFLICT DO NOTHING; DELETE FROM person"),
        losing(
            "a deferred trigger writes into a column that goes", when: "INSERT",
            use: "INSERT INTO person SELECT count(*) FROM person", kind: "CONSTRAINT TRIGGER"),
        Case(
            testDescription: "a default's function reads a column that goes",
            from: "CREATE TABLE counter (no integer, n text);" + counter,
            to: "CREATE TABLE counter (n text);" + counter,
            use: "INSERT INTO t (y) VALUES (1)", message: #"column "no" does not exist"#),
        Case(
            testDescription: "a partition's trigger reads a column that goes",
            from: "CREATE TABLE rule (id integer, level integer);" + part, to: "CREATE TABLE rule (id integer);" + part,
            use: "INSERT INTO t VALUES (1, '2024-01-01')", message: #"column "level" does not exist"#),
        Case(
            testDescription: "a row above has a trigger that sets a column that goes",
            from: "CREATE TABLE org (id integer PRIMARY KEY, size integer);" + family,
            to: "CREATE TABLE org (id integer PRIMARY KEY);" + family,
            use: "INSERT INTO org (id) SELECT count(*) FROM org", message: #"record "new" has no field "size""#),
        Case(
            testDescription: "a check refuses what is made up",
            from: "CREATE TABLE t (mail text NOT NULL CHECK (mail LIKE '%@%'), n integer)",
            to: "CREATE TABLE t (mail text NOT NULL CHECK (mail LIKE '%@%'), n bigint)",
            use: "INSERT INTO t VALUES ('a@b')", untried: "t_mail_check"),
        Case(
            testDescription: "a check refuses a value that need not be there",
            from: "CREATE TABLE t (mail text CHECK (mail LIKE '%@%'), n integer)",
            to: "CREATE TABLE t (mail text CHECK (mail LIKE '%@%'), n bigint)", use: "INSERT INTO t VALUES ('a@b')"),
        Case(
            testDescription: "a function refuses what is made up",
            from: """
                CREATE FUNCTION enough() RETURNS trigger LANGUAGE plpgsql AS $$
                    BEGIN IF NEW.n < 10 THEN RAISE EXCEPTION 'too few'; END IF; RETURN NEW; END $$;
                CREATE TABLE t (n integer NOT NULL);
                CREATE TRIGGER e BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION enough();
                """,
            to: """
                CREATE FUNCTION enough() RETURNS trigger LANGUAGE plpgsql AS $$
                    BEGIN IF NEW.n < 10 THEN RAISE EXCEPTION 'too few'; END IF; RETURN NEW; END $$;
                CREATE TABLE t (n integer NOT NULL, m integer);
                CREATE TRIGGER e BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION enough();
                """,
            use: "INSERT INTO t VALUES (10)", untried: "too few"),
        Case(
            testDescription: "a trigger that has failed before is no failure of the plan",
            from: """
                CREATE FUNCTION bad() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.zzz := 1; RETURN NEW; END $$;
                CREATE TABLE t (n integer);
                CREATE TRIGGER b BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION bad();
                """,
            to: """
                CREATE FUNCTION bad() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.zzz := 1; RETURN NEW; END $$;
                CREATE TABLE t (n integer, m integer);
                CREATE TRIGGER b BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION bad();
                """,
            use: "SELECT count(*) FROM t", untried: "as before"),
    ]

    @Test(arguments: cases) func aRowCanBeWrittenAfterwards(_ item: Case) async throws {
        var options = SchemaDifferences.Options()
        options.allowsDropping = true
        let differences = try await SchemaDifferences.between(
            .sql(item.from, name: "from"), .sql(item.to, name: "to"), options: options)
        try #require(!differences.steps.isEmpty)
        let client = try await PostgresClient.connect(try PostgresConfiguration(uri: try TestDatabase.current.uri))
        var message: String?
        do {
            try await client.runScript(item.from)
            try await client.runScript(item.use)
            for statement in differences.steps.flatMap(\.statements) {
                try await client.query(SQL(unsafeRaw: statement.sql))
            }
            do {
                try await client.runScript(item.use)
            } catch let error as PostgresError {
                message = error.server?.message
            }
        } catch {
            Issue.record("\(error)")
        }
        await client.close()
        #expect(message == item.message)
        if let message = item.message {
            guard case .failed(let reason) = differences.proof else {
                Issue.record("\(differences.proof)")
                return
            }
            #expect(reason.contains(message), "\(reason)")
        } else {
            #expect(differences.proof == .proven)
        }
        if let untried = item.untried {
            #expect(differences.untriedTables.count == 1 && differences.untriedTables[0].contains(untried))
        } else {
            #expect(differences.untriedTables.isEmpty, "\(differences.untriedTables)")
        }
    }

    /// Types of every kind, keys to other tables and to itself: a row of it is made up and written.
    private static let everything = """
        CREATE TYPE mood AS ENUM ('sad', 'ok');
        CREATE DOMAIN code AS varchar(3) NOT NULL;
        CREATE DOMAIN short AS code;
        CREATE TYPE pair AS (a integer, b text);
        CREATE TABLE org (id uuid PRIMARY KEY, name text NOT NULL);
        CREATE TABLE team (org uuid REFERENCES org, no integer, PRIMARY KEY (org, no));
        CREATE TABLE person (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, org uuid NOT NULL, team integer NOT NULL,
            boss bigint REFERENCES person, mood mood NOT NULL, code code, short short, pair pair NOT NULL,
            tags text[] NOT NULL, bits bit(5) NOT NULL, more varbit NOT NULL, price numeric(2,2) NOT NULL,
            span int4range NOT NULL, spans int4multirange NOT NULL, ip inet NOT NULL, day date NOT NULL, at timestamptz NOT NULL,
            clock time NOT NULL, wait interval NOT NULL, data jsonb NOT NULL, raw bytea NOT NULL, here point NOT NULL,
            words tsvector NOT NULL, one "char" NOT NULL, name char(4) NOT NULL, double bigint GENERATED ALWAYS AS (team * 2) STORED,
            FOREIGN KEY (org, team) REFERENCES team);
        CREATE TABLE sale (id integer, day date, place text) PARTITION BY RANGE (day, id);
        CREATE TABLE sale_1 PARTITION OF sale FOR VALUES FROM ('2024-01-01', 5) TO ('2025-01-01', 1) PARTITION BY LIST (place);
        CREATE TABLE sale_2 PARTITION OF sale_1 FOR VALUES IN ('it''s', 'b');
        CREATE TABLE root (id integer PRIMARY KEY, up integer NOT NULL REFERENCES root);
        CREATE TABLE task (id serial PRIMARY KEY, owner bigint NOT NULL REFERENCES person ON DELETE CASCADE,
            helper bigint REFERENCES person, root integer REFERENCES root, done boolean DEFAULT false NOT NULL);
        """

    @Test func aRowIsMadeUpForEveryType() async throws {
        let to = Self.everything.replacing("done boolean", with: "note text, done boolean")
            .replacing("up integer", with: "x text, up integer").replacing("boss bigint", with: "y text, boss bigint")
            .replacing("place text", with: "place text, n integer")
        let differences = try await SchemaDifferences.between(
            .sql(Self.everything, name: "from"), .sql(to, name: "to"))
        #expect(differences.proof == .proven && differences.untriedTables.isEmpty, "\(differences.untriedTables)")
        #expect(differences.steps.flatMap(\.statements).count == 4)
    }
}
