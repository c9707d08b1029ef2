-- Event triggers over the installation of an ordinary role, which may not make any: in a schema of a superuser's own, which uses
-- nothing of the installation. They note which tables DDL has changed; tracking_check reads that, and tells readers.

SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true),
    pg_catalog.set_config('client_min_messages', 'warning', true),
    -- The library names the role behind this statement.
    pg_catalog.set_config('kindred.tracking_owner', '', true);

DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles AS r WHERE r.rolname = current_user AND r.rolsuper) THEN
        RAISE EXCEPTION 'role % may not make event triggers', quote_ident(current_user) USING ERRCODE = 'KT005';
    END IF;
    BEGIN
        CREATE SCHEMA IF NOT EXISTS kindred_ddl;
    EXCEPTION WHEN unique_violation OR duplicate_schema THEN
    END;
    IF EXISTS (SELECT FROM pg_namespace AS n JOIN pg_roles AS r ON r.oid = n.nspowner WHERE n.nspname = 'kindred_ddl' AND NOT r.rolsuper) THEN
        RAISE EXCEPTION 'the schema kindred_ddl belongs to role %', (SELECT pg_get_userbyid(n.nspowner) FROM pg_namespace AS n
            WHERE n.nspname = 'kindred_ddl') USING ERRCODE = 'KT005';
    END IF;
END $$;

CREATE TABLE IF NOT EXISTS kindred_ddl.tracking_change (
    xid xid8 NOT NULL,
    relation oid NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (xid, relation)
);

-- The tables and views that DDL on an object changes: a relation itself, and all that show a type, a collation, a function, a policy or
-- a schema. It stops at tables and views: readers know what stands behind what.
CREATE OR REPLACE FUNCTION kindred_ddl.tracking_concerned(class oid, object oid) RETURNS SETOF oid
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off AS $$
    WITH RECURSIVE used (class, object) AS (
        SELECT tracking_concerned.class, tracking_concerned.object
        UNION
        SELECT m.class, m.object FROM used AS u CROSS JOIN LATERAL (
            -- The relation of a composite type depends on the type.
            SELECT 'pg_type'::regclass::oid, c.reltype FROM pg_class AS c
            WHERE u.class = 'pg_class'::regclass AND c.oid = u.object AND c.relkind = 'c'
            UNION ALL
            SELECT d.classid, d.objid FROM pg_depend AS d
            WHERE d.refclassid = u.class AND d.refobjid = u.object
                AND u.class IN ('pg_type'::regclass, 'pg_proc'::regclass, 'pg_collation'::regclass, 'pg_namespace'::regclass)
                AND d.classid IN ('pg_class'::regclass, 'pg_type'::regclass, 'pg_proc'::regclass, 'pg_policy'::regclass, 'pg_rewrite'::regclass)
        ) AS m (class, object)
    )
    SELECT DISTINCT c.oid FROM used AS u
    LEFT JOIN pg_policy AS p ON u.class = 'pg_policy'::regclass AND p.oid = u.object
    LEFT JOIN pg_rewrite AS r ON u.class = 'pg_rewrite'::regclass AND r.oid = u.object
    LEFT JOIN pg_constraint AS k ON u.class = 'pg_constraint'::regclass AND k.oid = u.object
    JOIN pg_class AS c ON c.oid = coalesce(p.polrelid, r.ev_class, nullif(k.conrelid, 0),
        CASE WHEN u.class = 'pg_class'::regclass THEN u.object END)
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
$$;

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
