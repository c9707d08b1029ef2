import KindredSchemaDifferences
import Testing

/// Functions, procedures, aggregates, operators and casts as statements of a plan.
@Suite struct FunctionDifferenceTests {
    struct Pair: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let from: String
        let to: String
        /// Beginnings of statements, in their order among others.
        var expected: [String] = []
    }

    private static func plain(_ signature: String, _ result: String = "integer", _ body: String = "SELECT 1") -> String
    {
        "CREATE FUNCTION \(signature) RETURNS \(result) LANGUAGE sql IMMUTABLE AS '\(body)';"
    }

    private static let users = """
        CREATE TABLE t (x text DEFAULT f('a')::text, y integer GENERATED ALWAYS AS (f('b')) STORED, z text
            CONSTRAINT z_is CHECK (f(z) > 0));
        CREATE INDEX t_f ON t (f(x));
        CREATE VIEW v AS SELECT f(x) AS n FROM t;
        CREATE POLICY p ON t USING (f(x) > 0);
        GRANT SELECT ON v TO kindred_diff_role;
        """
    private static let mood = "CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE TABLE t (m mood);"

    static let pairs = [
        Pair(
            testDescription: "a check calls a new function", from: "CREATE TABLE t (x text);",
            to: plain("is_ok(text)", "boolean", "SELECT true") + "CREATE TABLE t (x text CHECK (is_ok(x)));",
            expected: ["SET LOCAL check_function_bodies", "CREATE OR REPLACE FUNCTION public.is_ok", "ALTER TABLE"]),
        Pair(
            testDescription: "a default and a new table call new functions", from: "CREATE TABLE t (x integer);",
            to: plain("one()") + plain("two()")
                + "CREATE TABLE t (x integer DEFAULT one(), z integer DEFAULT two()); CREATE TABLE u (x integer CHECK (x > one()));"
        ),
        Pair(
            testDescription: "a body that is checked reads a new column", from: "CREATE TABLE t (x integer);",
            to: """
                CREATE TABLE t (x integer, y integer);
                CREATE FUNCTION ys() RETURNS SETOF integer BEGIN ATOMIC SELECT y FROM t; END;
                CREATE VIEW v AS SELECT y FROM t;
                CREATE FUNCTION vs() RETURNS SETOF v BEGIN ATOMIC SELECT * FROM v; END;
                """),
        Pair(
            testDescription: "a function reads a view whose key is new", from: "CREATE TABLE t (x integer, y integer);",
            to: """
                CREATE TABLE t (x integer PRIMARY KEY, y integer);
                CREATE VIEW v AS SELECT x, y FROM t GROUP BY x;
                CREATE FUNCTION vs() RETURNS SETOF v BEGIN ATOMIC SELECT * FROM v; END;
                """),
        Pair(
            testDescription: "functions call each other", from: "",
            to: plain("a(integer)", "integer", "SELECT $1") + plain("b()", "integer", "SELECT a(1)")
                + "CREATE PROCEDURE p(INOUT x integer) LANGUAGE sql AS 'SELECT b()'; COMMENT ON PROCEDURE p IS 'it''s';"
        ),
        Pair(
            testDescription: "a body changes and nothing else", from: plain("f(x text)") + users,
            to: plain("f(x text)", "integer", "SELECT 2") + users,
            expected: ["SET LOCAL check_function_bodies", "CREATE OR REPLACE FUNCTION public.f"]),
        Pair(
            testDescription: "an argument's name changes", from: plain("f(x text)") + users,
            to: plain("f(y text)") + users,
            expected: ["DROP VIEW", "DROP FUNCTION public.f", "CREATE OR REPLACE FUNCTION public.f"]),
        Pair(
            testDescription: "an argument gets a default", from: plain("f(x text)") + users,
            to: plain("f(x text DEFAULT 'q')") + users),
        Pair(
            testDescription: "the result is of another type",
            from: plain("f(x text)") + users.replacing(")::text", with: ")"),
            to: plain("f(x text)", "bigint")
                + users.replacing(")::text", with: ")").replacing("y integer", with: "y bigint")),
        Pair(
            testDescription: "a function becomes a procedure", from: plain("f(x text)"),
            to: "CREATE PROCEDURE f(x text) LANGUAGE sql AS 'SELECT 1';"),
        Pair(
            testDescription: "functions and what calls them go", from: plain("f(x text)") + users,
            to: "CREATE TABLE t (x text);",
            expected: ["DROP FUNCTION public.f"]),
        Pair(
            testDescription: "a type that a function takes loses a label",
            from: mood + plain("f(mood)") + "CREATE AGGREGATE best(mood) (SFUNC = enum_larger, STYPE = mood);"
                + "CREATE CAST (mood AS integer) WITH FUNCTION f(mood); GRANT EXECUTE ON FUNCTION best(mood) TO kindred_diff_role;",
            to: (mood + plain("f(mood)") + "CREATE AGGREGATE best(mood) (SFUNC = enum_larger, STYPE = mood);"
                + "CREATE CAST (mood AS integer) WITH FUNCTION f(mood); GRANT EXECUTE ON FUNCTION best(mood) TO kindred_diff_role;")
                .replacing("'sad', ", with: ""),
            expected: [
                "DROP CAST", "DROP FUNCTION public.f", "ALTER TYPE", "CREATE TYPE", "CREATE OR REPLACE FUNCTION",
            ]),
        Pair(
            testDescription: "aggregates, operators and casts come",
            from: "CREATE TABLE t (x integer);",
            to: """
                CREATE TABLE t (x integer);
                CREATE FUNCTION same(t, t) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1.x = $2.x';
                CREATE FUNCTION other(t, t) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1.x <> $2.x';
                CREATE OPERATOR === (FUNCTION = same, LEFTARG = t, RIGHTARG = t, COMMUTATOR = ===, NEGATOR = !==);
                CREATE OPERATOR !== (FUNCTION = other, LEFTARG = t, RIGHTARG = t, COMMUTATOR = !==, NEGATOR = ===);
                CREATE AGGREGATE number(*) (SFUNC = int8inc, STYPE = bigint, INITCOND = '0', PARALLEL = SAFE);
                REVOKE EXECUTE ON FUNCTION number() FROM PUBLIC;
                CREATE FUNCTION distance(float8, float8) RETURNS float8 LANGUAGE sql IMMUTABLE AS 'SELECT $1 - $2';
                CREATE TYPE span AS RANGE (SUBTYPE = float8, SUBTYPE_DIFF = distance);
                CREATE TABLE u (s span DEFAULT span(1, 2), m span_multirange);
                COMMENT ON OPERATOR === (t, t) IS 'the same';
                """),
        Pair(
            testDescription: "aggregates, operators, casts and ranges go",
            from: """
                CREATE FUNCTION distance(float8, float8) RETURNS float8 LANGUAGE sql IMMUTABLE AS 'SELECT $1 - $2';
                CREATE TYPE span AS RANGE (SUBTYPE = float8, SUBTYPE_DIFF = distance);
                CREATE TABLE u (n integer, s span DEFAULT span(1, 2));
                CREATE FUNCTION same(u, u) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true';
                CREATE OPERATOR === (FUNCTION = same, LEFTARG = u, RIGHTARG = u);
                """, to: "CREATE TABLE u (n integer);"),
    ]

    @Test(arguments: pairs, [true, false]) func thePlanMakesTheNewSide(_ pair: Pair, _ isConcurrent: Bool) async throws
    {
        let differences = try await CatalogOracle.expectChange(pair.from, pair.to, isConcurrent: isConcurrent)
        #expect(differences.unmanaged.isEmpty, "\(differences.unmanaged)")
        var rest = CatalogOracle.statements(differences)[...]
        for start in pair.expected {
            guard let place = rest.firstIndex(where: { $0.hasPrefix(start) }) else {
                Issue.record("\(start): \(differences.sql)")
                continue
            }
            rest = rest[(place + 1)...]
        }
    }

    @Test func nothingIsDroppedWithoutLeave() async throws {
        let from =
            Self.plain("f(x text)") + "CREATE AGGREGATE n(*) (SFUNC = int8inc, STYPE = bigint, INITCOND = '0');"
            + "CREATE TABLE t (x text CHECK (f(x) > 0));"
        let differences = try await CatalogOracle.expectChange(
            from, "CREATE TABLE t (x text);", allowsDropping: false)
        #expect(
            Set(differences.withheld) == ["DROP FUNCTION public.f(x text)", "DROP AGGREGATE public.n(*)"],
            "\(differences.withheld)")
        #expect(!differences.sql.contains("DROP FUNCTION") && !differences.sql.contains("DROP AGGREGATE"))
    }

    /// A changed function is no loss: it is replaced, or made again with everything that needs it.
    @Test func aChangeNeedsNoLeave() async throws {
        let differences = try await CatalogOracle.expectChange(
            Self.plain("f(x text)") + Self.users, Self.plain("f(y text)") + Self.users, allowsDropping: false)
        #expect(differences.withheld.isEmpty, "\(differences.withheld)")
        let statements = differences.steps.flatMap(\.statements)
        #expect(statements.contains { $0.sql.hasPrefix("DROP FUNCTION") } && !statements.contains(where: \.canLoseData))
    }
}
