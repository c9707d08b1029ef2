-- The tables and views that DDL on an object changes: a relation itself, and all that show a type, a collation, a function, a policy or
-- a schema. It stops at tables and views: readers know what stands behind what.
CREATE OR REPLACE FUNCTION kindred.tracking_concerned(class oid, object oid) RETURNS SETOF oid
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
    -- A unique index may be the key of a table without one.
    LEFT JOIN pg_index AS i ON u.class = 'pg_class'::regclass AND i.indexrelid = u.object AND i.indisunique
        AND NOT EXISTS (SELECT FROM pg_index AS o WHERE o.indrelid = i.indrelid AND o.indisprimary)
    JOIN pg_class AS c ON c.oid = coalesce(p.polrelid, r.ev_class, nullif(k.conrelid, 0), i.indrelid,
        CASE WHEN u.class = 'pg_class'::regclass THEN u.object END)
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
$$;
