import KindredSchemaDifferences
import Testing

/// GRANT, REVOKE and default privileges as statements of a plan.
@Suite struct PrivilegeDifferenceTests {
    private static let things = """
        CREATE SCHEMA s;
        CREATE TABLE t (id serial PRIMARY KEY, a text, b text);
        CREATE VIEW v AS SELECT a FROM t;
        CREATE FUNCTION f(x integer) RETURNS integer LANGUAGE sql AS 'SELECT 1';
        CREATE PROCEDURE p() LANGUAGE sql AS 'SELECT 1';
        CREATE TYPE mood AS ENUM ('ok');
        CREATE TYPE pair AS (a integer);
        CREATE DOMAIN code AS text;
        """
    private static let granted =
        things + """
            GRANT USAGE ON SCHEMA s TO kindred_diff_role;
            GRANT SELECT, INSERT ON t TO kindred_diff_role WITH GRANT OPTION;
            GRANT UPDATE (a, b), SELECT (a) ON t TO "kindred diff role";
            GRANT SELECT ON v TO PUBLIC;
            GRANT UPDATE (a) ON v TO kindred_diff_role;
            GRANT USAGE ON SEQUENCE t_id_seq TO kindred_diff_role;
            REVOKE EXECUTE ON FUNCTION f(integer) FROM PUBLIC;
            GRANT EXECUTE ON FUNCTION f(integer) TO kindred_diff_role;
            GRANT EXECUTE ON PROCEDURE p() TO kindred_diff_role;
            REVOKE USAGE ON TYPE mood FROM PUBLIC;
            GRANT USAGE ON TYPE pair TO kindred_diff_role;
            GRANT USAGE ON DOMAIN code TO kindred_diff_role;
            """
    private static let defaults = """
        ALTER DEFAULT PRIVILEGES FOR ROLE kindred_diff_role IN SCHEMA public GRANT SELECT ON TABLES TO "kindred diff role";
        """

    static let pairs: [(String, String)] = [
        (things, granted), (granted, things), ("", granted), (granted, granted + "REVOKE SELECT ON v FROM PUBLIC;"),
        (
            granted,
            things + "GRANT INSERT ON t TO kindred_diff_role; GRANT SELECT (b) ON t TO kindred_diff_role;"
        ),
        // A role that loses a privilege on the table keeps the privilege on a column.
        (
            things + "GRANT SELECT ON t TO kindred_diff_role; GRANT SELECT (a) ON t TO kindred_diff_role;",
            things + "GRANT SELECT (a) ON t TO kindred_diff_role;"
        ),
        // Columns and views that are made again, and a column that goes.
        (granted, granted.replacing("a text", with: "a varchar(9)")),
        (
            things + "GRANT SELECT (a, b) ON t TO kindred_diff_role;",
            things.replacing(", b text", with: "") + "GRANT SELECT (a) ON t TO kindred_diff_role;"
        ),
        (granted, granted.replacing("f(x integer)", with: "f(y integer)")),
        (granted, granted.replacing("('ok')", with: "('fine')")),
        ("CREATE TABLE x ();", "CREATE TABLE x ();" + defaults), (defaults + things, things),
        (
            defaults + "CREATE TABLE x ();",
            defaults + "CREATE TABLE x (); CREATE TABLE y (); GRANT INSERT ON y TO kindred_diff_role;"
        ),
    ]

    @Test(arguments: CatalogOracle.plans(of: pairs.count))
    func thePlanMakesTheNewSide(_ index: Int, _ isConcurrent: Bool) async throws {
        let (from, to) = Self.pairs[index]
        let differences = try await CatalogOracle.expectChange(from, to, isConcurrent: isConcurrent)
        #expect(differences.unmanaged.isEmpty, "\(differences.unmanaged)")
    }

    /// Default privileges of the role that runs the statements are not given to things that shall not have them.
    @Test func newThingsHaveTheirPrivilegesWhateverTheDefaultsAre() async throws {
        let defaults = """
            ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO kindred_diff_role;
            ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
            """
        let function =
            "CREATE FUNCTION f() RETURNS integer LANGUAGE sql AS 'SELECT 1'; GRANT EXECUTE ON FUNCTION f() TO PUBLIC;"
        let to = defaults + "CREATE TABLE y (); REVOKE ALL ON y FROM kindred_diff_role;" + function
        _ = try await CatalogOracle.expectChange(defaults, to)
    }

    @Test func aRevokeNeedsNoLeave() async throws {
        let differences = try await CatalogOracle.expectChange(Self.granted, Self.things, allowsDropping: false)
        #expect(differences.withheld.isEmpty, "\(differences.withheld)")
        let all = CatalogOracle.statements(differences)
        #expect(all.contains("REVOKE UPDATE (\"b\") ON \"public\".\"t\" FROM \"kindred diff role\""), "\(all)")
        #expect(all.contains("GRANT EXECUTE ON FUNCTION public.f(x integer) TO PUBLIC"), "\(all)")
        #expect(all.allSatisfy { $0.hasPrefix("REVOKE ") || $0.hasPrefix("GRANT ") })
    }

    @Test func theRightToPassAPrivilegeOnIsTakenAlone() async throws {
        let differences = try await CatalogOracle.expectChange(
            "CREATE TABLE t (); GRANT SELECT ON t TO kindred_diff_role WITH GRANT OPTION;",
            "CREATE TABLE t (); GRANT SELECT ON t TO kindred_diff_role;")
        #expect(
            CatalogOracle.statements(differences) == [
                #"REVOKE GRANT OPTION FOR SELECT ON "public"."t" FROM "kindred_diff_role""#
            ])
    }
}
