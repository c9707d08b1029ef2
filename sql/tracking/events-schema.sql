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
