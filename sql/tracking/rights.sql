-- Change tracking: rights. The last file that is run.

-- Lets a role read changes; of each table only what its own rights and policies allow.
CREATE OR REPLACE FUNCTION kindred.tracking_grant(reader name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET jit = off AS $$
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
    -- Read on standbys, where no function of this schema is called.
    EXECUTE format('GRANT SELECT ON SEQUENCE kindred.tracking_timeline TO %I', reader);
END $$;

-- Nobody but the owner may do anything unless he is given the right; and what others have made is left alone.
DO $$
DECLARE
    item record;
    owner CONSTANT oid := (SELECT c.relowner FROM pg_class AS c WHERE c.oid = 'kindred.tracking_state'::regclass);
    owner_name CONSTANT name := pg_get_userbyid(owner);
BEGIN
    FOR item IN SELECT p.oid::regprocedure AS name, p.proowner AS owner FROM pg_proc AS p
        WHERE p.pronamespace = 'kindred'::regnamespace AND p.proname LIKE 'tracking\_%'
    LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', item.name);
        EXECUTE format('COMMENT ON FUNCTION %s IS %L', item.name, 'Change tracking; written by Kindred.');
        -- What an upgrade by another role has added.
        IF item.owner <> owner THEN EXECUTE format('ALTER FUNCTION %s OWNER TO %I', item.name, owner_name); END IF;
    END LOOP;
    FOR item IN SELECT c.oid::regclass AS name, c.relkind, c.relowner AS owner FROM pg_class AS c
        WHERE c.relnamespace = 'kindred'::regnamespace AND c.relname LIKE 'tracking\_%' AND c.relkind IN ('r', 'S')
    LOOP
        EXECUTE format('COMMENT ON %s %s IS %L', CASE item.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, item.name,
            'Change tracking; written by Kindred.');
        IF item.owner <> owner THEN EXECUTE format('ALTER TABLE %s OWNER TO %I', item.name, owner_name); END IF;
    END LOOP;
    -- The readers of an older version may call what is new.
    PERFORM kindred.tracking_grant(pg_get_userbyid(r.grantee)) FROM (
        SELECT DISTINCT a.grantee FROM pg_proc AS p CROSS JOIN LATERAL aclexplode(p.proacl) AS a
        WHERE p.oid = to_regprocedure('kindred.tracking_read(pg_snapshot, integer)') AND a.grantee NOT IN (0, owner)) AS r;
    -- Trigger functions are written anew where their text has changed; no table is locked.
    FOR item IN SELECT t.relation, kindred.tracking_function(t.relation) AS text
        FROM unnest(current_setting('kindred.tracking_fitting')::oid[]) AS t (relation)
        JOIN pg_proc AS p ON p.oid = to_regprocedure(format('kindred.tracking_note_%s()', t.relation))
        WHERE p.prosrc <> kindred.tracking_body(t.relation) OR 'jit=off' <> ALL (p.proconfig)
    LOOP
        EXECUTE item.text;
        UPDATE kindred.tracking_table AS t SET digest = kindred.tracking_digest(t.relation) WHERE t.relation = item.relation;
    END LOOP;
END $$;
