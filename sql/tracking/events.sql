-- The event triggers behind events-schema.sql and concerned.sql.

-- It must never make DDL fail.
CREATE OR REPLACE FUNCTION kindred_ddl.tracking_ddl() RETURNS event_trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off AS $$
BEGIN
    INSERT INTO kindred_ddl.tracking_change (xid, relation)
    SELECT DISTINCT pg_current_xact_id(), c FROM pg_event_trigger_ddl_commands() AS d
    CROSS JOIN LATERAL kindred_ddl.tracking_concerned(d.classid, d.objid) AS c
    WHERE NOT d.in_extension AND d.schema_name IS DISTINCT FROM 'pg_temp' AND d.schema_name IS DISTINCT FROM 'kindred'
    ON CONFLICT DO NOTHING;
    DELETE FROM kindred_ddl.tracking_change WHERE ctid = ANY (ARRAY(SELECT c.ctid FROM kindred_ddl.tracking_change AS c
        WHERE c.at < clock_timestamp() - interval '1 day' FOR UPDATE SKIP LOCKED));
EXCEPTION WHEN OTHERS THEN
END $$;

CREATE OR REPLACE FUNCTION kindred_ddl.tracking_dropped() RETURNS event_trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off AS $$
BEGIN
    INSERT INTO kindred_ddl.tracking_change (xid, relation)
    SELECT DISTINCT pg_current_xact_id(), CASE WHEN d.classid = 'pg_class'::regclass THEN d.objid
        ELSE to_regclass(format('%I.%I', d.address_names[1], d.address_names[2]))::oid END
    FROM pg_event_trigger_dropped_objects() AS d
    WHERE (d.classid = 'pg_class'::regclass AND d.object_type IN ('table', 'view', 'materialized view', 'foreign table', 'table column')
            OR (d.object_type IN ('policy', 'rule') OR d.object_type = 'trigger' AND d.address_names[3] LIKE 'kindred\_tracking\_%')
                AND to_regclass(format('%I.%I', d.address_names[1], d.address_names[2])) IS NOT NULL)
        AND NOT d.is_temporary AND d.schema_name IS DISTINCT FROM 'kindred'
    ON CONFLICT DO NOTHING;
EXCEPTION WHEN OTHERS THEN
END $$;

DO $$
DECLARE
    reader CONSTANT name := current_setting('kindred.tracking_owner');
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA kindred_ddl TO %I', reader);
    EXECUTE format('GRANT SELECT ON kindred_ddl.tracking_change TO %I', reader);
    COMMENT ON SCHEMA kindred_ddl IS 'Change tracking; written by Kindred.';
    COMMENT ON TABLE kindred_ddl.tracking_change IS 'Change tracking; written by Kindred.';
    DROP EVENT TRIGGER IF EXISTS kindred_tracking_ddl;
    DROP EVENT TRIGGER IF EXISTS kindred_tracking_dropped;
    CREATE EVENT TRIGGER kindred_tracking_ddl ON ddl_command_end EXECUTE FUNCTION kindred_ddl.tracking_ddl();
    CREATE EVENT TRIGGER kindred_tracking_dropped ON sql_drop EXECUTE FUNCTION kindred_ddl.tracking_dropped();
    ALTER EVENT TRIGGER kindred_tracking_ddl ENABLE ALWAYS;
    ALTER EVENT TRIGGER kindred_tracking_dropped ENABLE ALWAYS;
END $$;
