import KindredAssistant

// For each rule about policies and functions that other linters have, too, a schema that breaks it.
extension DoctorRulesTests {
    static let lintExamples: [Example] = [
        Example(
            rule: "K405",
            sql: """
                CREATE TABLE t (id integer PRIMARY KEY, setting text, tenant text); ALTER TABLE t ENABLE ROW LEVEL SECURITY;
                CREATE POLICY of_row ON t USING (tenant = current_setting(setting, true));
                CREATE POLICY of_name ON t USING (tenant = current_setting('app.' || setting));
                CREATE POLICY constant ON t USING (tenant = current_setting('app.' || 'tenant'::varchar, true));
                """,
            keys: ["K405:public.t.constant"], level: .note),
        Example(
            rule: "K410",
            sql: """
                CREATE TABLE t (id integer PRIMARY KEY, tenant text); ALTER TABLE t ENABLE ROW LEVEL SECURITY;
                CREATE SCHEMA own;
                CREATE FUNCTION own.current_setting(text) RETURNS text LANGUAGE sql AS $$SELECT nullif($1, '')$$;
                CREATE FUNCTION my_current_setting(text) RETURNS text LANGUAGE sql AS $$SELECT nullif($1, '')$$;
                CREATE POLICY of_another_schema ON t USING (tenant = own.current_setting('app.tenant'));
                CREATE POLICY of_another_name ON t USING (tenant = my_current_setting('app.tenant'));
                CREATE POLICY with_text ON t USING (current_setting('app.role', true) = 'admin');
                CREATE POLICY with_text_once ON t USING ((SELECT current_setting('app.role', true)) = 'admin');
                CREATE POLICY with_empty_text ON t USING (current_setting('app.role', true) = '');
                CREATE POLICY with_column ON t USING (current_setting('app.tenant', true) = tenant);
                """,
            keys: ["K410:public.t.with_column", "K410:public.t.with_empty_text"], level: .note, isRepairable: false),
        Example(
            rule: "K414",
            sql: """
                CREATE TABLE a (id integer PRIMARY KEY); ALTER TABLE a ENABLE ROW LEVEL SECURITY;
                CREATE POLICY one ON a FOR SELECT USING (id > 0); CREATE POLICY two ON a USING (id < 0);
                CREATE TABLE b (id integer PRIMARY KEY); ALTER TABLE b ENABLE ROW LEVEL SECURITY;
                CREATE POLICY one ON b FOR UPDATE TO CURRENT_USER USING (id > 0); CREATE POLICY two ON b FOR UPDATE USING (id < 0);
                CREATE TABLE c (id integer PRIMARY KEY); ALTER TABLE c ENABLE ROW LEVEL SECURITY;
                CREATE POLICY one ON c FOR SELECT USING (id > 0); CREATE POLICY two ON c FOR DELETE USING (id < 0);
                CREATE POLICY three ON c AS RESTRICTIVE USING (id < 9);
                CREATE TABLE d (id integer PRIMARY KEY); ALTER TABLE d ENABLE ROW LEVEL SECURITY;
                CREATE POLICY one ON d TO CURRENT_USER USING (id > 0); CREATE POLICY two ON d TO pg_monitor USING (id < 0);
                CREATE TABLE e (id integer PRIMARY KEY);
                CREATE POLICY one ON e USING (id > 0); CREATE POLICY two ON e USING (id < 0);
                """,
            keys: ["K414:public.a", "K414:public.b"], level: .note, isRepairable: false, text: "one, two"),
        Example(
            rule: "K415",
            sql: """
                CREATE FUNCTION bad(x integer) RETURNS integer LANGUAGE plpgsql AS 'BEGIN RETURN x; END';
                CREATE PROCEDURE also() LANGUAGE sql AS 'SELECT 1';
                CREATE FUNCTION fixed() RETURNS integer LANGUAGE sql SET search_path = '' AS 'SELECT 1';
                CREATE FUNCTION resolved() RETURNS integer LANGUAGE sql BEGIN ATOMIC SELECT 1; END;
                CREATE FUNCTION owners() RETURNS integer LANGUAGE sql SECURITY DEFINER AS 'SELECT 1';
                CREATE FUNCTION inside(integer) RETURNS integer LANGUAGE internal AS 'int4abs';
                CREATE AGGREGATE total (integer) (SFUNC = int4pl, STYPE = integer);
                CREATE SCHEMA acme; CREATE TABLE acme.t (id integer PRIMARY KEY);
                CREATE FUNCTION acme.loose() RETURNS integer LANGUAGE sql AS 'SELECT 1';
                ALTER TABLE acme.t ADD a integer DEFAULT acme.loose();
                """,
            keys: ["K415:public.also()", "K415:public.bad(x integer)"], level: .note, isRepairable: false),
    ]
}
