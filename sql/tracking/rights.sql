-- Change tracking: rights. The last file that is run.

-- Lets a role read changes; of each table only what its own rights and policies allow.
CREATE OR REPLACE FUNCTION kindred.tracking_grant(reader name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    called regprocedure;
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA kindred TO %I', reader);
    FOR called IN SELECT p.oid FROM pg_proc AS p WHERE p.pronamespace = 'kindred'::regnamespace AND p.proname IN (
        'tracking_identity', 'tracking_attend', 'tracking_begin', 'tracking_flush', 'tracking_sleep', 'tracking_wake', 'tracking_read',
        'tracking_rotate', 'tracking_check', 'tracking_tables', 'tracking_status', 'tracking_consumer_begin', 'tracking_acknowledge',
        'tracking_consumer_drop', 'tracking_announce', 'tracking_withdraw', 'tracking_locks')
    LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', called, reader);
    END LOOP;
END $$;

-- Nobody but the owner may do anything unless he is given the right; and what others have made is left alone.
DO $$
DECLARE
    item record;
BEGIN
    FOR item IN SELECT p.oid::regprocedure AS name FROM pg_proc AS p
        WHERE p.pronamespace = 'kindred'::regnamespace AND p.proname LIKE 'tracking\_%'
    LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', item.name);
        EXECUTE format('COMMENT ON FUNCTION %s IS %L', item.name, 'Change tracking; written by Kindred.');
    END LOOP;
    FOR item IN SELECT c.oid::regclass AS name, c.relkind FROM pg_class AS c
        WHERE c.relnamespace = 'kindred'::regnamespace AND c.relname LIKE 'tracking\_%' AND c.relkind IN ('r', 'S')
    LOOP
        EXECUTE format('COMMENT ON %s %s IS %L', CASE item.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, item.name,
            'Change tracking; written by Kindred.');
    END LOOP;
    -- Functions of an older version are written anew.
    FOR item IN SELECT s AS text FROM kindred.tracking_table AS t JOIN pg_class AS c ON c.oid = t.relation
        CROSS JOIN LATERAL kindred.tracking_statements(t.relation) AS s
    LOOP
        EXECUTE item.text;
    END LOOP;
END $$;
