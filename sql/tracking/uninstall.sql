-- Change tracking: takes everything away that the other files and `enable` made, and nothing else. Of the schema, which
-- holds the history of migrations too, what is left if nothing else stands in it.

SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true),
    pg_catalog.set_config('client_min_messages', 'warning', true);

DO $$
DECLARE
    item record;
BEGIN
    -- Nothing that others may have made is called or read.
    IF EXISTS (SELECT FROM pg_class AS c WHERE c.oid = to_regclass('kindred.tracking_gate') AND c.relkind = 'r') THEN
        LOCK TABLE kindred.tracking_gate IN ACCESS EXCLUSIVE MODE;
    END IF;
    FOR item IN SELECT e.evtname AS name FROM pg_event_trigger AS e JOIN pg_proc AS p ON p.oid = e.evtfoid
        JOIN pg_namespace AS n ON n.oid = p.pronamespace WHERE n.nspname = 'kindred' AND e.evtname LIKE 'kindred\_tracking\_%'
    LOOP
        EXECUTE format('DROP EVENT TRIGGER %I', item.name);
    END LOOP;
    FOR item IN
        SELECT t.tgname AS name, t.tgrelid::regclass AS place FROM pg_trigger AS t
        JOIN pg_proc AS p ON p.oid = t.tgfoid JOIN pg_namespace AS n ON n.oid = p.pronamespace
        WHERE n.nspname = 'kindred' AND p.proname LIKE 'tracking\_%' AND NOT t.tgisinternal
    LOOP
        EXECUTE format('DROP TRIGGER %I ON %s', item.name, item.place);
    END LOOP;
    FOR item IN
        SELECT p.oid::regprocedure AS name FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
        WHERE n.nspname = 'kindred' AND p.proname LIKE 'tracking\_%'
    LOOP
        EXECUTE format('DROP FUNCTION %s', item.name);
    END LOOP;
    FOR item IN
        SELECT c.oid::regclass AS name, c.relkind FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname = 'kindred' AND c.relname LIKE 'tracking\_%' AND c.relkind IN ('r', 'S')
    LOOP
        EXECUTE format('DROP %s %s', CASE item.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, item.name);
    END LOOP;
    IF EXISTS (SELECT FROM pg_namespace AS n WHERE n.nspname = 'kindred' AND pg_has_role(n.nspowner, 'USAGE')
        AND NOT EXISTS (SELECT FROM pg_depend AS d WHERE d.refclassid = 'pg_namespace'::regclass AND d.refobjid = n.oid))
    THEN
        DROP SCHEMA kindred;
    END IF;
END $$;
