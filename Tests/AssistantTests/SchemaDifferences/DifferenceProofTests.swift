import EmbeddedPostgres
import KindredSchemaDifferences
import KindredTesting
import Testing

/// A proof agrees with the database: each plan is run there, by a client of its own.
@Suite(.database) struct DifferenceProofTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let from: String
        let to: String
        /// A statement that works before the change, and has to afterwards.
        var use = "SELECT 1"
        /// A text that the failed proof names; nil for a plan that is proven.
        var names: String?
        var renames: [String] = []
    }

    private static let isOk =
        "CREATE FUNCTION is_ok(text) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 > ''''';"
    private static let mood = "CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE TABLE t (m mood);"
    private static let audit = """
        CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.b := upper(NEW.a); RETURN NEW; END $$;
        """

    /// A table whose trigger of the name v has the name of a column as its argument.
    private static func vector(_ table: String, _ column: String) -> String {
        """
        CREATE TABLE \(table) (\(column) text, v tsvector);
        CREATE TRIGGER v BEFORE INSERT ON \(table) FOR EACH ROW
            EXECUTE FUNCTION tsvector_update_trigger(v, 'pg_catalog.english', \(column));
        """
    }

    static let cases = [
        Case(
            testDescription: "a check that calls a new function", from: "CREATE TABLE t (x text);",
            to: isOk + "CREATE TABLE t (x text CHECK (is_ok(x)));", use: "INSERT INTO t VALUES ('a')"),
        Case(
            testDescription: "a check that calls a function of both sides", from: isOk + "CREATE TABLE t (x text);",
            to: isOk + "CREATE TABLE t (x text CHECK (is_ok(x)));", use: "INSERT INTO t VALUES ('a')"),
        Case(
            testDescription: "a default that calls a new function", from: "CREATE TABLE t (x integer);",
            to: """
                CREATE FUNCTION next() RETURNS integer LANGUAGE sql AS 'SELECT 1';
                CREATE TABLE t (x integer DEFAULT next());
                """),
        Case(
            testDescription: "a view that calls a new function", from: "CREATE TABLE t (x text);",
            to: isOk + "CREATE TABLE t (x text); CREATE VIEW v AS SELECT is_ok(x) FROM t;"),
        Case(
            testDescription: "a column of the type of a new extension", from: "CREATE TABLE t (x text);",
            to: "CREATE EXTENSION citext; CREATE TABLE t (x text, y citext);"),
        Case(
            testDescription: "a trigger's argument names a column that goes",
            from: """
                CREATE TABLE t (a text, b text, v tsvector);
                CREATE TRIGGER v BEFORE INSERT ON t FOR EACH ROW
                    EXECUTE FUNCTION tsvector_update_trigger(v, 'pg_catalog.english', a, b);
                """,
            to: """
                CREATE TABLE t (a text, v tsvector);
                CREATE TRIGGER v BEFORE INSERT ON t FOR EACH ROW
                    EXECUTE FUNCTION tsvector_update_trigger(v, 'pg_catalog.english', a);
                """, use: "INSERT INTO t (a) VALUES ('x')"),
        Case(
            testDescription: "a trigger's argument names a column with a new name",
            from: """
                CREATE TABLE t (a text, v tsvector);
                CREATE TRIGGER v BEFORE INSERT ON t FOR EACH ROW
                    EXECUTE FUNCTION tsvector_update_trigger(v, 'pg_catalog.english', a);
                """,
            to: """
                CREATE TABLE s (c text, v tsvector);
                CREATE TRIGGER v BEFORE INSERT ON s FOR EACH ROW
                    EXECUTE FUNCTION tsvector_update_trigger(v, 'pg_catalog.english', c);
                """,
            use: """
                DO $$ BEGIN
                    IF to_regclass('t') IS NULL THEN INSERT INTO s DEFAULT VALUES; ELSE INSERT INTO t DEFAULT VALUES; END IF;
                END $$
                """,
            renames: ["t=s", "t.a=c"]),
        Case(
            testDescription: "one of two renamed tables has a trigger that names a column with a new name",
            from: vector("t", "a") + vector("u", "b"), to: vector("s", "c") + vector("w", "b"),
            use: """
                DO $$ BEGIN
                    IF to_regclass('t') IS NULL THEN INSERT INTO s DEFAULT VALUES; ELSE INSERT INTO t DEFAULT VALUES; END IF;
                END $$
                """,
            renames: ["t=s", "t.a=c", "u=w"]),
        Case(
            testDescription: "a trigger's function sets a column that goes",
            from: "CREATE TABLE t (a text, b text);" + audit
                + "CREATE TRIGGER n BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION note();",
            to: "CREATE TABLE t (a text);", use: "INSERT INTO t (a) VALUES ('x')"),
        Case(
            testDescription: "a partition's trigger sets a column that goes",
            from: "CREATE TABLE t (a text, b text) PARTITION BY LIST (a); CREATE TABLE p PARTITION OF t DEFAULT;"
                + audit
                + "CREATE TRIGGER n BEFORE INSERT ON p FOR EACH ROW EXECUTE FUNCTION note();",
            to: "CREATE TABLE t (a text) PARTITION BY LIST (a); CREATE TABLE p PARTITION OF t DEFAULT;",
            use: "INSERT INTO t (a) VALUES ('x')"),
        Case(
            testDescription: "a trigger does not name the column that goes",
            from: "CREATE TABLE t (a text, b text, c text);" + audit
                + "CREATE TRIGGER n BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION note();",
            to: "CREATE TABLE t (a text, b text);" + audit
                + "CREATE TRIGGER n BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION note();",
            use: "INSERT INTO t (a) VALUES ('x')"),
        Case(
            testDescription: "a function reads a table that goes",
            from: """
                CREATE TABLE t (a text);
                CREATE FUNCTION f() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT count(*) FROM t); END $$;
                """,
            to: ""),
        Case(
            testDescription: "a rule stands on a column that goes",
            from: """
                CREATE TABLE t (a text, b text); CREATE TABLE log (b text);
                CREATE RULE r AS ON INSERT TO t DO ALSO INSERT INTO log VALUES (NEW.b);
                """,
            to: "CREATE TABLE t (a text); CREATE TABLE log (b text);"),
        Case(
            testDescription: "an aggregate is of a type that is made again",
            from: mood + "CREATE AGGREGATE best(mood) (sfunc = enum_larger, stype = mood);",
            to: mood.replacing("'sad', ", with: "")),
        Case(
            testDescription: "a foreign table has a column of a type that is made again",
            from: mood + "CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w;"
                + "CREATE FOREIGN TABLE f (m mood) SERVER s;",
            to: mood.replacing("'sad', ", with: "")),
    ]

    @Test(arguments: cases) func theProofIsRight(_ item: Case) async throws {
        var options = SchemaDifferences.Options()
        options.allowsDropping = true
        options.renames = item.renames
        let differences = try await CatalogOracle.between(item.from, item.to, options)
        let client = try await PostgresClient.connect(try PostgresConfiguration(uri: try TestDatabase.current.uri))
        try await client.runScript(item.from)
        var isBroken = false
        do {
            try await client.query(SQL(unsafeRaw: item.use))
            for statement in differences.steps.flatMap(\.statements) {
                try await client.query(SQL(unsafeRaw: statement.sql))
            }
            try await client.query(SQL(unsafeRaw: item.use))
        } catch {
            isBroken = true
        }
        await client.close()
        #expect(!differences.steps.isEmpty)
        #expect(isBroken == (item.names != nil))
        guard case .failed(let reason) = differences.proof else {
            #expect(differences.proof == .proven && !isBroken)
            return
        }
        #expect(isBroken, "\(reason)")
        #expect(reason.contains(item.names ?? "nothing"), "\(reason)")
    }
}
