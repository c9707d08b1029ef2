import KindredSchemaDifferences
import Testing

/// Triggers, policies, rules and event triggers as statements of a plan.
@Suite struct TriggerDifferenceTests {
    private static let table = """
        CREATE TABLE t (id integer PRIMARY KEY, a text, b text);
        CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
        CREATE FUNCTION other() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
        """
    private static let trigger = "CREATE TRIGGER n BEFORE UPDATE OF a ON t FOR EACH ROW EXECUTE FUNCTION note();"

    static let pairs: [(String, String)] = [
        (table, table + trigger + "COMMENT ON TRIGGER n ON t IS 'why';"),
        (table + trigger, table),
        (table + trigger, table + trigger.replacing("note", with: "other")),
        (table + trigger + "ALTER TABLE t DISABLE TRIGGER n;", table + trigger.replacing("note", with: "other")),
        (
            table + trigger + "ALTER TABLE t ENABLE REPLICA TRIGGER n;",
            table + trigger.replacing("note", with: "other") + "ALTER TABLE t ENABLE ALWAYS TRIGGER n;"
        ),
        (table + trigger, table + trigger + "ALTER TABLE t ENABLE REPLICA TRIGGER n;"),
        (
            table + trigger,
            table + "CREATE CONSTRAINT TRIGGER n AFTER INSERT ON t DEFERRABLE FOR EACH ROW EXECUTE FUNCTION note();"
        ),
        (table + trigger, (table + trigger).replacing("a text", with: "a varchar(3)")),
        (
            table + "CREATE VIEW v AS SELECT a FROM t;",
            table + "CREATE VIEW v AS SELECT b AS c FROM t;"
                + "CREATE TRIGGER i INSTEAD OF INSERT ON v FOR EACH ROW EXECUTE FUNCTION note();"
        ),
        (
            "CREATE TABLE p (id integer) PARTITION BY RANGE (id); CREATE TABLE p1 PARTITION OF p DEFAULT;" + table,
            "CREATE TABLE p (id integer) PARTITION BY RANGE (id); CREATE TABLE p1 PARTITION OF p DEFAULT;" + table
                + "CREATE TRIGGER q AFTER INSERT ON p FOR EACH ROW EXECUTE FUNCTION note(); ALTER TABLE p1 DISABLE TRIGGER q;"
        ),
        // Policies.
        (
            table,
            table + "ALTER TABLE t ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;"
                + "CREATE POLICY p ON t FOR UPDATE TO kindred_diff_role USING (id > 0) WITH CHECK (id > 1);"
                + "CREATE POLICY q ON t AS RESTRICTIVE USING (a = current_user); COMMENT ON POLICY q ON t IS 'who';"
        ),
        (
            table
                + "ALTER TABLE t ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY; CREATE POLICY p ON t USING (id > 0);",
            table
        ),
        (
            table + "CREATE POLICY p ON t USING (id > 0);",
            table + "CREATE POLICY p ON t FOR SELECT USING (id > 0 AND a > '');"
        ),
        (
            table + "CREATE POLICY p ON t USING (id > 0);",
            (table + "CREATE POLICY p ON t USING (id > 0);").replacing("id integer", with: "id bigint")
        ),
        // Rules and event triggers.
        (
            table, table + "CREATE RULE r AS ON DELETE TO t DO ALSO NOTIFY gone; ALTER TABLE t DISABLE RULE r;"
        ),
        (
            table + "CREATE RULE r AS ON INSERT TO t WHERE NEW.b = 'x' DO INSTEAD NOTHING;",
            table.replacing(", b text", with: "")
        ),
        (
            table,
            table + """
                CREATE FUNCTION watch() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''watched''; END';
                CREATE EVENT TRIGGER w ON ddl_command_start WHEN TAG IN ('CREATE TABLE', 'DROP TABLE') EXECUTE FUNCTION watch();
                """
        ),
        (
            table + """
                CREATE FUNCTION watch() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''watched''; END';
                CREATE EVENT TRIGGER w ON ddl_command_start WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION watch();
                """, table + "CREATE TABLE u (x integer);"
        ),
    ]

    @Test(arguments: CatalogOracle.plans(of: pairs.count))
    func thePlanMakesTheNewSide(_ index: Int, _ isConcurrent: Bool) async throws {
        let (from, to) = Self.pairs[index]
        let differences = try await CatalogOracle.expectChange(from, to, isConcurrent: isConcurrent)
        #expect(differences.unmanaged.isEmpty && !differences.steps.isEmpty, "\(differences.unmanaged)")
    }

    @Test func aTriggerIsReplacedAndNotDropped() async throws {
        let differences = try await CatalogOracle.expectChange(
            Self.table + Self.trigger, Self.table + Self.trigger.replacing("note", with: "other"), allowsDropping: false
        )
        #expect(differences.withheld.isEmpty)
        let all = CatalogOracle.statements(differences)
        #expect(all.count == 1 && all[0].hasPrefix("CREATE OR REPLACE TRIGGER n "), "\(all)")
    }

    /// No session reads or writes between the end of a policy or trigger and its new beginning.
    @Test func whatIsInTheWayComesBackInTheSameTransaction() async throws {
        let from =
            Self.table + Self.trigger + "ALTER TABLE t ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON t USING (a > '');"
        let differences = try await CatalogOracle.expectChange(
            from, from.replacing("a text", with: "a varchar(9) NOT NULL"))
        let first = try #require(differences.steps.first)
        for kind in ["TRIGGER n", "POLICY p"] {
            for word in ["DROP", "CREATE"] {
                #expect(first.statements.contains { $0.sql.hasPrefix("\(word) \(kind)") }, "\(differences.sql)")
            }
        }
        #expect(first.isTransaction && differences.steps.count > 1)
    }

    @Test func nothingIsDroppedWithoutLeave() async throws {
        let from =
            Self.table + Self.trigger
            + "CREATE POLICY p ON t USING (id > 0); CREATE RULE r AS ON DELETE TO t DO ALSO NOTIFY x;"
        let differences = try await CatalogOracle.expectChange(
            from, "CREATE TABLE t (id integer PRIMARY KEY, a text, b text);", allowsDropping: false)
        #expect(differences.steps.isEmpty, "\(differences.sql)")
        #expect(
            Set(differences.withheld) == [
                "DROP TRIGGER n ON public.t", "DROP POLICY p ON public.t", "DROP RULE r ON public.t",
                "DROP FUNCTION public.note()", "DROP FUNCTION public.other()",
            ], "\(differences.withheld)")
    }

    /// The things of a table that stays for want of leave are not listed one by one.
    @Test func aTableStaysWithItsTriggers() async throws {
        let from = Self.table + Self.trigger + "CREATE STATISTICS s ON a, b FROM t; CREATE POLICY p ON t USING (true);"
        let differences = try await CatalogOracle.expectChange(from, "", allowsDropping: false)
        #expect(differences.steps.isEmpty, "\(differences.sql)")
        #expect(
            Set(differences.withheld) == [
                "DROP TABLE \"public\".\"t\"", "DROP FUNCTION public.note()", "DROP FUNCTION public.other()",
            ], "\(differences.withheld)")
    }

    @Test func whatTrackingHasInstalledIsNeitherComparedNorDropped() async throws {
        let table = "CREATE TABLE t (id integer PRIMARY KEY, a text);"
        let tracked =
            table + """
                CREATE SCHEMA kindred;
                CREATE TABLE kindred.tracking_state (id integer);
                CREATE FUNCTION kindred.tracking_note_1() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
                CREATE FUNCTION kindred.tracking_ddl() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN NULL; END';
                CREATE TRIGGER kindred_tracking_insert AFTER INSERT ON t FOR EACH STATEMENT
                    EXECUTE FUNCTION kindred.tracking_note_1();
                ALTER TABLE t ENABLE ALWAYS TRIGGER kindred_tracking_insert;
                CREATE EVENT TRIGGER kindred_tracking_ddl ON ddl_command_end EXECUTE FUNCTION kindred.tracking_ddl();
                ALTER EVENT TRIGGER kindred_tracking_ddl ENABLE ALWAYS;
                GRANT USAGE ON SCHEMA kindred TO kindred_diff_role;
                """
        for (from, to) in [(tracked, table), (table, tracked), (tracked, tracked)] {
            let differences = try await SchemaDifferences.between(.sql(from, name: "from"), .sql(to, name: "to"))
            #expect(differences.isEmpty, "\(differences.sql) \(differences.withheld) \(differences.unmanaged)")
        }
        let more = try await SchemaDifferences.between(
            .sql(tracked, name: "from"), .sql(table.replacing("a text", with: "a text, b text"), name: "to"))
        #expect(CatalogOracle.statements(more) == [#"ALTER TABLE "public"."t" ADD COLUMN "b" text"#])
    }
}
