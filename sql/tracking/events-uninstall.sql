-- Takes away what events.sql has made, and nothing else.

SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true),
    pg_catalog.set_config('client_min_messages', 'warning', true);

DO $$
DECLARE
    item record;
BEGIN
    FOR item IN SELECT e.evtname AS name FROM pg_event_trigger AS e JOIN pg_proc AS p ON p.oid = e.evtfoid
        JOIN pg_namespace AS n ON n.oid = p.pronamespace WHERE n.nspname = 'kindred_ddl' AND e.evtname LIKE 'kindred\_tracking\_%'
    LOOP
        EXECUTE format('DROP EVENT TRIGGER %I', item.name);
    END LOOP;
    -- A schema of another role's is left to it.
    IF EXISTS (SELECT FROM pg_namespace AS n JOIN pg_roles AS r ON r.oid = n.nspowner WHERE n.nspname = 'kindred_ddl' AND r.rolsuper) THEN
        DROP FUNCTION IF EXISTS kindred_ddl.tracking_ddl(), kindred_ddl.tracking_dropped(), kindred_ddl.tracking_concerned(oid, oid);
        DROP TABLE IF EXISTS kindred_ddl.tracking_change;
        DROP SCHEMA kindred_ddl;
    END IF;
END $$;
