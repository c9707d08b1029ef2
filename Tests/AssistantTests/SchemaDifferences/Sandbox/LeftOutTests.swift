import KindredSchemaDifferences
import KindredTesting
import Testing

/// Things that only a superuser may make are in no copy: they are named with all that depends on them, and the rest is tried out.
@Suite struct LeftOutTests {
    struct Kind: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let script: String
        /// The beginnings of lines about the thing and its dependents.
        let lines: [String]
    }

    static let kinds = [
        Kind(
            testDescription: "functions in C",
            script: "CREATE FUNCTION root(float8) RETURNS float8 LANGUAGE internal AS 'dsqrt';"
                + "CREATE VIEW rooted AS SELECT root(2);",
            lines: ["The function public.root(double precision): only a superuser", "The view public.rooted: it needs"]),
        Kind(
            testDescription: "LEAKPROOF",
            script: "CREATE FUNCTION proof() RETURNS integer LANGUAGE sql LEAKPROOF IMMUTABLE AS 'SELECT 1';",
            lines: ["The function public.proof(): only a superuser may make it, since it is LEAKPROOF"]),
        Kind(
            testDescription: "settings of functions",
            script: "CREATE FUNCTION sets() RETURNS integer LANGUAGE sql SET log_statement = 'none' AS 'SELECT 1';",
            lines: ["The function public.sets(): only a superuser may make it, since it sets log_statement"]),
        Kind(
            testDescription: "aggregates",
            script:
                "CREATE AGGREGATE mean(bigint) (SFUNC = int8_avg_accum, STYPE = internal, FINALFUNC = numeric_poly_avg);",
            lines: ["The aggregate public.mean(bigint): only a superuser"]),
        Kind(
            testDescription: "operator classes",
            script: """
                CREATE OPERATOR CLASS plain FOR TYPE integer USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =,
                    OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 btint4cmp(integer, integer);
                CREATE TABLE sorted (n integer); CREATE INDEX sorted_n ON sorted (n plain);
                """,
            lines: [
                "The operator class public.plain USING btree: only a superuser", "The index public.sorted_n: it needs",
            ]),
        Kind(
            testDescription: "base types",
            script: """
                CREATE TYPE base; CREATE FUNCTION base_in(cstring) RETURNS base LANGUAGE internal IMMUTABLE STRICT AS 'int4in';
                CREATE FUNCTION base_out(base) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'int4out';
                CREATE TYPE base (INPUT = base_in, OUTPUT = base_out, LIKE = integer);
                CREATE TABLE holder (id integer PRIMARY KEY, b base);
                """, lines: ["The type public.base: only a superuser", "The column public.holder.b: it needs the type"]),
        Kind(
            testDescription: "event triggers",
            script: """
                CREATE FUNCTION watch() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END';
                CREATE EVENT TRIGGER watcher ON ddl_command_end WHEN TAG IN ('ALTER SERVER') EXECUTE FUNCTION watch();
                """, lines: ["The event trigger watcher: only a superuser"]),
        Kind(
            testDescription: "foreign-data wrappers",
            script: "CREATE FOREIGN DATA WRAPPER w; CREATE SERVER far FOREIGN DATA WRAPPER w;"
                + "CREATE FOREIGN TABLE away (id integer) SERVER far; CREATE USER MAPPING FOR PUBLIC SERVER far;",
            lines: [
                "The foreign-data wrapper w: only a superuser", "The server far: it needs",
                "The foreign table public.away:",
                "The user mapping of public on far: ",
            ]),
        Kind(
            testDescription: "publications", script: "CREATE PUBLICATION everything FOR ALL TABLES;",
            lines: ["The publication everything: "]),
        Kind(
            testDescription: "casts",
            script: "CREATE FUNCTION yes(integer) RETURNS bit LANGUAGE sql IMMUTABLE AS 'SELECT B''1''';"
                + "CREATE CAST (integer AS tsquery) WITH INOUT;",
            lines: ["The cast (integer AS tsquery): only a superuser"]),
        Kind(
            testDescription: "languages",
            script: "CREATE TRUSTED LANGUAGE tongue HANDLER plpgsql_call_handler VALIDATOR plpgsql_validator;"
                + "CREATE FUNCTION spoken() RETURNS integer LANGUAGE tongue AS 'BEGIN RETURN 1; END';",
            lines: ["The language tongue: only a superuser", "The function public.spoken(): it needs the language"]),
        Kind(
            testDescription: "access methods",
            script: "CREATE ACCESS METHOD pile TYPE TABLE HANDLER heap_tableam_handler;",
            lines: ["The access method pile: only a superuser"]),
        Kind(
            testDescription: "text search templates",
            script: "CREATE TEXT SEARCH TEMPLATE same (INIT = dsimple_init, LEXIZE = dsimple_lexize);"
                + "CREATE TEXT SEARCH DICTIONARY words (TEMPLATE = same);",
            lines: ["The text search template public.same: only", "The text search dictionary public.words: it needs"]),
        Kind(
            testDescription: "text search parsers",
            script: "CREATE TEXT SEARCH PARSER cut (START = prsd_start, GETTOKEN = prsd_nexttoken, END = prsd_end, "
                + "LEXTYPES = prsd_lextype); CREATE TEXT SEARCH CONFIGURATION cuts (PARSER = cut);",
            lines: ["The text search parser public.cut: only", "The text search configuration public.cuts: it needs"]),
        Kind(
            testDescription: "extensions that are not trusted",
            script: "CREATE SCHEMA tools; CREATE EXTENSION earthdistance SCHEMA tools CASCADE;"
                + "CREATE TABLE place (id integer PRIMARY KEY, at tools.earth);",
            lines: [
                "The extension earthdistance: the server does not trust it",
                "The column public.place.at: it needs the extension",
            ]),
    ]

    @Test func eachKindIsNamedAndTheRestIsProven() async throws {
        let script = Self.kinds.map(\.script).joined(separator: "\n") + "CREATE TABLE plain (id integer);"
        try await CatalogOracle.withDatabase([script]) { client, old in
            try await CatalogOracle.withDatabase(
                [script, "ALTER TABLE plain ADD COLUMN n integer; ALTER TABLE holder ADD COLUMN c integer"]
            ) { _, new in
                let (from, to) = (try SchemaSource(argument: old), try SchemaSource(argument: new))
                let differences = try await SchemaDifferences.between(from, to)
                for kind in Self.kinds {
                    for start in kind.lines {
                        #expect(
                            differences.leftOut.contains { $0.hasPrefix(start) }, "\(kind.testDescription): \(start)")
                    }
                }
                #expect(differences.leftOut.allSatisfy { !$0.contains("public.plain") || $0.contains("USING") })
                #expect(differences.proof == .proven, "\(differences.proof) \(differences.leftOut)")
                #expect(differences.unmanaged.isEmpty, "\(differences.unmanaged)")
                #expect(CatalogOracle.statements(differences).count == 2, "\(differences.sql)")
                // Things that are left out are compared by the catalogs.
                try await client.runScript("DROP EVENT TRIGGER watcher; DROP PUBLICATION everything")
                let changed = try await SchemaDifferences.between(from, to)
                #expect(changed.proof == .proven, "\(changed.proof)")
                #expect(CatalogOracle.statements(changed).contains { $0.hasPrefix("CREATE EVENT TRIGGER watcher ") })
                #expect(changed.unmanaged == ["The publication everything is only on the new side."])
            }
        }
    }

    @Test func aSubscriptionIsNamed() async throws {
        let script = "CREATE TABLE plain (id integer);"
        let more = """
            CREATE SUBSCRIPTION feed CONNECTION 'dbname=none' PUBLICATION p
                WITH (connect = false, slot_name = NONE, enabled = false, create_slot = false)
            """
        try await CatalogOracle.withDatabase([script]) { client, old in
            try await client.query(SQL(unsafeRaw: more))
            let differences = try await SchemaDifferences.between(
                try SchemaSource(argument: old), .sql("CREATE TABLE plain (id integer, n integer);", name: "to"))
            try await client.query("DROP SUBSCRIPTION feed")
            #expect(differences.leftOut.contains { $0.hasPrefix("The subscription feed: ") }, "\(differences.leftOut)")
            #expect(differences.unmanaged == ["The subscription feed is only on the old side."])
            #expect(differences.proof == .proven && differences.steps.count == 1, "\(differences.proof)")
        }
    }

    /// The statements of a script that its role may not run are named with their lines, and nothing is planned for the
    /// things that they make.
    @Test func theStatementsOfAScriptAreNamed() async throws {
        let script = """
            CREATE ROLE kindred_left_out;
            CREATE TABLE plain (id integer);
            CREATE FUNCTION watch() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN END; $$;
            CREATE EVENT TRIGGER watcher ON ddl_command_end EXECUTE FUNCTION watch();
            CREATE FUNCTION root(float8) RETURNS float8 LANGUAGE internal AS 'dsqrt';
            CREATE VIEW rooted AS SELECT root(id) FROM plain;
            COMMENT ON EXTENSION plpgsql IS 'x';
            ALTER TABLE plain OWNER TO kindred_left_out;
            """
        let lines = ["to:4: CREATE EVENT TRIGGER watcher", "to:5: CREATE FUNCTION root", "to:6: CREATE VIEW rooted"]
        try await CatalogOracle.withDatabase([
            script.replacing("CREATE ROLE kindred_left_out;", with: "").replacing(
                "ALTER TABLE plain OWNER TO kindred_left_out;", with: "")
        ]
        ) { _, database in
            var options = SchemaDifferences.Options()
            options.allowsDropping = true
            let differences = try await SchemaDifferences.between(
                try SchemaSource(argument: database),
                .sql(script.replacing("plain (id integer)", with: "plain (id integer, n integer)"), name: "to"),
                options: options)
            for line in lines { #expect(differences.leftOut.contains { $0.hasPrefix(line) }, "\(differences.leftOut)") }
            #expect(CatalogOracle.statements(differences).count == 1, "\(differences.sql)")
            #expect(differences.proof == .proven && differences.unmanaged.isEmpty, "\(differences.proof)")
            // Nothing is known of a thing of which only the script says something.
            let empty = try await SchemaDifferences.between(
                .sql("CREATE TABLE plain (id integer);", name: "from"), .sql(script, name: "to"), options: options)
            #expect(
                empty.unmanaged.contains("The event trigger watcher is only on the new side."), "\(empty.unmanaged)")
        }
    }

    /// Scripts say whose things are; a schema that a role may not make things in can hold its tables all the same.
    @Test func ownersOfScriptsArePossible() async throws {
        let script = """
            CREATE SCHEMA shop; CREATE TABLE shop.item (id integer); CREATE TABLE other (id integer);
            ALTER SCHEMA shop OWNER TO "kindred owner"; ALTER TABLE shop.item OWNER TO kindred_owner;
            ALTER TABLE public.other OWNER TO kindred_owner;
            GRANT SELECT ON shop.item TO kindred_owner, "kindred owner";
            ALTER DEFAULT PRIVILEGES FOR ROLE kindred_owner IN SCHEMA shop GRANT SELECT ON TABLES TO "kindred owner";
            """
        let differences = try await SchemaDifferences.between(
            .sql(script, name: "from"), .sql(script + "CREATE TABLE shop.more (id integer);", name: "to"))
        #expect(
            differences.proof == .proven && differences.leftOut.isEmpty, "\(differences.proof) \(differences.leftOut)")
        #expect(
            CatalogOracle.statements(differences).first == #"CREATE TABLE "shop"."more" ("# + "\n    \"id\" integer\n)")
        // The owner's own privileges are no difference.
        let bare = script.replacing("SELECT ON shop.item TO kindred_owner, ", with: "SELECT ON shop.item TO ")
        let same = try await SchemaDifferences.between(.sql(script, name: "from"), .sql(bare, name: "to"))
        #expect(same.isEmpty && same.proof == .proven, "\(same.sql) \(same.proof)")
    }

    @Test func extensionsOfTheListAreMade() async throws {
        let script =
            "CREATE SCHEMA tools; CREATE EXTENSION earthdistance SCHEMA tools CASCADE; CREATE TABLE place (at tools.earth);"
        var options = SchemaDifferences.Options()
        options.extensions = ["earthdistance"]
        for from in [script, "CREATE TABLE plain (id integer);"] {
            let differences = try await SchemaDifferences.between(
                .sql(from, name: "from"), .sql(script + "CREATE TABLE plain (id integer);", name: "to"),
                options: options)
            #expect(
                differences.proof == .proven && differences.leftOut.isEmpty && !differences.steps.isEmpty,
                "\(differences.proof) \(differences.leftOut)")
        }
    }
}
