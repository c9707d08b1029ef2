import KindredSchemaDifferences
import Testing

/// Extensions, foreign tables, text search, collations and statistics as statements of a plan; others are named.
@Suite struct ObjectDifferenceTests {
    private static let foreign = """
        CREATE FOREIGN DATA WRAPPER w OPTIONS (a 'b');
        CREATE SERVER elsewhere TYPE 'x' FOREIGN DATA WRAPPER w OPTIONS ("h H" 'it''s');
        """
    private static let far = "CREATE FOREIGN TABLE far (id integer OPTIONS (k 'v') NOT NULL, n text) SERVER elsewhere;"
    private static let words = """
        CREATE TEXT SEARCH DICTIONARY stems (TEMPLATE = snowball, LANGUAGE = german);
        CREATE TEXT SEARCH CONFIGURATION words (COPY = german);
        ALTER TEXT SEARCH CONFIGURATION words ALTER MAPPING FOR asciiword WITH stems, simple;
        """

    static let pairs: [(String, String)] = [
        // Extensions, before everything that has their types, and behind it.
        ("CREATE TABLE t (x text);", "CREATE EXTENSION citext; CREATE TABLE t (x text, y citext);"),
        ("CREATE EXTENSION citext; CREATE TABLE t (x text, y citext);", "CREATE TABLE t (x text);"),
        (
            "CREATE EXTENSION hstore; CREATE TABLE t (x hstore);",
            "CREATE SCHEMA tools; CREATE EXTENSION hstore SCHEMA tools; CREATE TABLE t (x tools.hstore);"
        ),
        ("CREATE EXTENSION earthdistance CASCADE;", ""), ("", "CREATE EXTENSION earthdistance CASCADE;"),
        ("CREATE EXTENSION hstore VERSION '1.4';", "CREATE EXTENSION hstore;"),
        // Foreign tables hold no rows, and are made again where they change.
        (foreign, foreign + far + "GRANT USAGE ON FOREIGN SERVER elsewhere TO kindred_diff_role;"),
        (foreign + far, foreign), (foreign + far, ""), ("", foreign + far + "CREATE VIEW v AS SELECT id FROM far;"),
        (
            foreign + far + "CREATE VIEW v AS SELECT id FROM far; GRANT SELECT ON far TO kindred_diff_role;",
            foreign + far.replacing("n text", with: "n bigint")
                + "CREATE VIEW v AS SELECT id FROM far; GRANT SELECT ON far TO kindred_diff_role; COMMENT ON COLUMN far.n IS 'n';"
        ),
        (
            foreign + "CREATE TABLE p (id integer) PARTITION BY RANGE (id);",
            foreign + "CREATE TABLE p (id integer) PARTITION BY RANGE (id);"
                + "CREATE FOREIGN TABLE q PARTITION OF p FOR VALUES FROM (1) TO (2) SERVER elsewhere;"
        ),
        // Text search.
        ("", words + "CREATE TABLE t (x text, v tsvector GENERATED ALWAYS AS (to_tsvector('words', x)) STORED);"),
        (words, ""), (words, words.replacing("stems, simple", with: "simple")),
        (words, words.replacing("LANGUAGE = german", with: "LANGUAGE = english")),
        // Collations and statistics.
        ("CREATE TABLE t (x text);", "CREATE COLLATION plain (LOCALE = 'C'); CREATE TABLE t (x text COLLATE plain);"),
        ("CREATE COLLATION plain (LOCALE = 'C'); CREATE TABLE t (x text COLLATE plain);", "CREATE TABLE t (x text);"),
        (
            "CREATE TABLE t (a integer, b integer);",
            "CREATE TABLE t (a integer, b bigint); CREATE STATISTICS s ON a, b FROM t; ALTER STATISTICS s SET STATISTICS 70;"
        ),
        (
            "CREATE TABLE t (a integer, b integer); CREATE STATISTICS s ON a, b FROM t; ALTER STATISTICS s SET STATISTICS 70;",
            "CREATE TABLE t (a integer, b bigint); CREATE STATISTICS s ON a, b FROM t;"
        ),
        ("CREATE TABLE t (a integer, b integer); CREATE STATISTICS s ON a, b FROM t;", "CREATE TABLE t (a integer);"),
    ]

    @Test(arguments: CatalogOracle.plans(of: pairs.count))
    func thePlanMakesTheNewSide(_ index: Int, _ isConcurrent: Bool) async throws {
        let (from, to) = Self.pairs[index]
        let differences = try await CatalogOracle.expectChange(from, to, isConcurrent: isConcurrent)
        #expect(differences.unmanaged.isEmpty && !differences.steps.isEmpty, "\(differences.unmanaged)")
    }

    @Test func nothingIsDroppedWithoutLeave() async throws {
        let from =
            Self.foreign + Self.far + Self.words + "CREATE EXTENSION citext; CREATE COLLATION plain (LOCALE = 'C');"
        let differences = try await CatalogOracle.expectChange(from, "", allowsDropping: false)
        #expect(differences.steps.isEmpty, "\(differences.sql)")
        #expect(
            Set(differences.withheld) == [
                "DROP FOREIGN DATA WRAPPER w", "DROP SERVER elsewhere", #"DROP FOREIGN TABLE "public"."far""#,
                "DROP TEXT SEARCH DICTIONARY public.stems", "DROP TEXT SEARCH CONFIGURATION public.words",
                #"DROP EXTENSION "citext""#, "DROP COLLATION public.plain",
            ], "\(differences.withheld)")
    }

    struct Named: Sendable, CustomTestStringConvertible {
        let from: String
        let to: String
        let lines: [String]
        var testDescription: String { lines.first ?? "" }
    }

    static let named = [
        Named(
            from: "CREATE TABLE t (id integer PRIMARY KEY);",
            to: "CREATE TABLE t (id integer PRIMARY KEY); CREATE PUBLICATION p FOR TABLE t;",
            lines: ["The publication p is only on the new side."]),
        Named(
            from: "CREATE TABLE t (id integer PRIMARY KEY); CREATE PUBLICATION p;",
            to: "CREATE TABLE t (id integer PRIMARY KEY); CREATE PUBLICATION p FOR TABLE t;",
            lines: ["The publication p differs."]),
        Named(
            from: "",
            to: "CREATE OPERATOR CLASS o FOR TYPE integer USING hash AS OPERATOR 1 =, FUNCTION 1 hashint4(integer);",
            lines: [
                "The operator class public.o USING hash is only on the new side.",
                "The operator family public.o USING hash is only on the new side.",
            ]),
        Named(
            from: "CREATE COLLATION c (LOCALE = 'C');", to: "CREATE COLLATION c (LOCALE = 'POSIX');",
            lines: ["The collation public.c differs."]),
        Named(
            from: "CREATE TYPE r AS RANGE (SUBTYPE = float8);",
            to: "CREATE TYPE r AS RANGE (SUBTYPE = float8, SUBTYPE_DIFF = float8mi);",
            lines: ["The type public.r differs."]),
        Named(
            from: foreign, to: foreign + "CREATE USER MAPPING FOR PUBLIC SERVER elsewhere OPTIONS (password 'secret');",
            lines: ["The user mapping of public on elsewhere is only on the new side."]),
        Named(
            from: "CREATE TYPE pair AS (a integer); CREATE TABLE t (a integer);",
            to: "CREATE TYPE pair AS (a integer); CREATE TABLE t OF pair;",
            lines: ["The type of rows of the table public.t differs."]),
    ]

    @Test(arguments: named) func whatNoStatementChangesIsNamed(_ item: Named) async throws {
        for (from, to) in [(item.from, item.to), (item.to, item.from)] {
            let differences = try await CatalogOracle.between(from, to)
            let lines = from == item.from ? item.lines : item.lines.map { $0.replacing("new side", with: "old side") }
            #expect(differences.unmanaged == lines, "\(differences.unmanaged)")
            #expect(!differences.isEmpty)
        }
        let same = try await CatalogOracle.between(item.to, item.to)
        #expect(same.isEmpty, "\(same.unmanaged) \(same.sql)")
    }
}
