-- The helper schema of change tracking. It is installed by `kindred install` or `database.tracking.install()`, in one
-- transaction, and may be run again: each version upgrades all older ones. All names begin with "tracking_": the schema
-- holds the history of migrations, too.
--
-- Statement triggers write the keys of changed rows to an outbox; readers take what became visible since a snapshot.
-- ARCHITECTURE.md, "Change tracking", explains how the parts work together; sql/README.md has the rules of versions.

-- The one place of the number. Checks of tracked tables, and other installations, wait.
SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true),
    pg_catalog.set_config('check_function_bodies', 'off', true),
    pg_catalog.set_config('client_min_messages', 'warning', true),
    pg_catalog.set_config('kindred.tracking_version', '2', true),
    pg_catalog.set_config('kindred.tracking_fitting', '{}', true),
    pg_catalog.pg_advisory_xact_lock(7739838812307940436),
    pg_catalog.pg_advisory_xact_lock(7739838812307940419);

-- Refuses a newer version before anything is written.
DO $$
DECLARE
    installed integer;
    new CONSTANT integer := current_setting('kindred.tracking_version');
BEGIN
    IF to_regclass('kindred.tracking_state') IS NULL THEN RETURN; END IF;
    SELECT version INTO installed FROM kindred.tracking_state;
    IF installed > new THEN
        RAISE EXCEPTION 'The database has version % of change tracking, and this library installs version %: use a library as new as the one that installed it',
            installed, new USING ERRCODE = 'KT001';
    END IF;
END $$;

CREATE SCHEMA IF NOT EXISTS kindred;

-- The steps of an upgrade, one for each version: changes of tables, and functions that cannot be replaced because their
-- result has changed. A step may find its work done. Everything else is made or replaced by the other files.
DO $$
DECLARE
    installed integer;
    here record;
    fitting oid[];
BEGIN
    IF to_regclass('kindred.tracking_state') IS NULL THEN RETURN; END IF;
    SELECT version INTO installed FROM kindred.tracking_state;

    -- The tables that have not changed since their trigger functions were written, as the installed version sees it. Only
    -- their functions are written anew by rights.sql; the others' are by tracking_check, which tells readers of the change.
    SELECT array_agg(t.relation) INTO fitting FROM kindred.tracking_table AS t JOIN pg_class AS c ON c.oid = t.relation
    WHERE t.digest = kindred.tracking_digest(t.relation);
    PERFORM set_config('kindred.tracking_fitting', coalesce(fitting, '{}')::text, true);

    IF installed < 2 THEN
        -- In the order in which tracking_acknowledge takes them.
        LOCK TABLE kindred.tracking_consumer IN ACCESS EXCLUSIVE MODE;
        -- Where records and cursors are of: version 1 did not say, and they are taken to be of this database. As a default,
        -- so that older snapshots see the values, too.
        SELECT i.system_identifier AS system, d.oid AS database INTO STRICT here
        FROM pg_control_system() AS i, pg_database AS d WHERE d.datname = current_database();
        EXECUTE format('ALTER TABLE kindred.tracking_state ADD COLUMN IF NOT EXISTS system bigint NOT NULL DEFAULT %s, '
            'ADD COLUMN IF NOT EXISTS database oid NOT NULL DEFAULT %s', here.system, here.database);
        EXECUTE format('ALTER TABLE kindred.tracking_consumer ADD COLUMN IF NOT EXISTS system bigint NOT NULL DEFAULT %s, '
            'ADD COLUMN IF NOT EXISTS database oid NOT NULL DEFAULT %s', here.system, here.database);
        ALTER TABLE kindred.tracking_state ALTER COLUMN system DROP DEFAULT, ALTER COLUMN database DROP DEFAULT;
        ALTER TABLE kindred.tracking_consumer ALTER COLUMN system DROP DEFAULT, ALTER COLUMN database DROP DEFAULT;
        DROP FUNCTION IF EXISTS kindred.tracking_consumer_begin(text, interval);
    END IF;
END $$;
