-- The helper schema of change tracking. It is installed by `kindred install` or `database.tracking.install()`, in one
-- transaction, and may be run again: each version upgrades all older ones. All names begin with "tracking_": the schema
-- holds the history of migrations, too.
--
-- Statement triggers write the keys of changed rows to an outbox; readers take what became visible since a snapshot.
-- ARCHITECTURE.md, "Change tracking", explains how the parts work together; sql/README.md has the rules of versions.

-- The one place of the number.
SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true),
    pg_catalog.set_config('check_function_bodies', 'off', true),
    pg_catalog.set_config('client_min_messages', 'warning', true),
    pg_catalog.set_config('kindred.tracking_version', '3', true),
    -- The library names another role behind this statement, if the caller trusts one.
    pg_catalog.set_config('kindred.tracking_owner', '', true),
    pg_catalog.set_config('kindred.tracking_fitting', '{}', true);

-- Refuses what others have made, before any of it is called, read or written: it would run with the rights of the caller. A caller uses
-- what belongs to itself, to a superuser, or to the role that it names; a superuser what belongs to superusers. A schema that a
-- role made empty beforehand is that role's, too: it may replace what is put into it. The library asks the same of each call.
-- Refuses a newer version, then.
DO $$
DECLARE
    installed integer;
    new CONSTANT integer := current_setting('kindred.tracking_version');
    problem text;
    known CONSTANT oid[] := ARRAY(SELECT r.oid FROM pg_roles AS r, pg_roles AS me WHERE me.rolname = current_user
        AND (r.rolsuper OR r.oid = me.oid OR NOT me.rolsuper AND r.rolname = current_setting('kindred.tracking_owner')));
BEGIN
    SELECT p.text INTO problem FROM (
        SELECT format('the schema kindred belongs to role %s', pg_get_userbyid(n.nspowner))
        FROM pg_namespace AS n WHERE n.nspname = 'kindred' AND n.nspowner <> ALL (known)
        UNION ALL
        SELECT format('the function %s belongs to role %s', p.oid::regprocedure, pg_get_userbyid(p.proowner)) FROM pg_proc AS p
        WHERE p.pronamespace = to_regnamespace('kindred') AND p.proname LIKE 'tracking\_%' AND p.proowner <> ALL (known)
        UNION ALL
        SELECT format('%s belongs to role %s', c.oid::regclass, pg_get_userbyid(c.relowner)) FROM pg_class AS c
        WHERE c.relnamespace = to_regnamespace('kindred') AND c.relname LIKE 'tracking\_%' AND c.relowner <> ALL (known)
        UNION ALL
        SELECT format('%s is no plain table, or has what runs when it is used', c.oid::regclass) FROM pg_class AS c
        WHERE c.relnamespace = to_regnamespace('kindred') AND c.relname LIKE 'tracking\_%' AND c.relkind <> 'i' AND (
            c.relkind NOT IN ('r', 'S') OR c.relrowsecurity
            OR EXISTS (SELECT FROM pg_trigger AS t WHERE t.tgrelid = c.oid)
            OR EXISTS (SELECT FROM pg_rewrite AS r WHERE r.ev_class = c.oid)
            OR EXISTS (SELECT FROM pg_inherits AS i WHERE c.oid IN (i.inhrelid, i.inhparent))
            OR EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
                AND (a.atttypid >= 16384 OR a.attgenerated <> '' OR a.attidentity <> ''))
            OR EXISTS (SELECT FROM pg_attrdef AS d WHERE d.adrelid = c.oid AND pg_get_expr(d.adbin, d.adrelid) <> ALL (ARRAY['true',
                'false', '0', 'clock_timestamp()', 'gen_random_uuid()', '''01:00:00''::interval', '''30 days''::interval']))
            OR EXISTS (SELECT FROM pg_constraint AS k WHERE k.conrelid = c.oid AND k.contype NOT IN ('p', 'n')
                AND pg_get_constraintdef(k.oid) <> 'CHECK (only_row)')
            OR EXISTS (SELECT FROM pg_index AS i WHERE i.indrelid = c.oid AND (i.indexprs IS NOT NULL OR i.indpred IS NOT NULL)))
    ) AS p (text) LIMIT 1;
    IF problem IS NOT NULL THEN
        RAISE EXCEPTION '%', problem USING ERRCODE = 'KT005',
            HINT = 'It would run with your rights. Connect as the role that made it, or name that role as the owner if you trust it.';
    END IF;
    IF to_regclass('kindred.tracking_state') IS NULL THEN RETURN; END IF;
    SELECT version INTO installed FROM kindred.tracking_state;
    IF installed > new THEN
        RAISE EXCEPTION 'The database has version % of change tracking, and this library installs version %: use a library as new as the one that installed it',
            installed, new USING ERRCODE = 'KT001';
    END IF;
END $$;

-- Other installations, enabling, and the mending of tables wait for the rows of tracking_gate: an advisory lock every role may take,
-- and readers have no right to these. They wait for a minute, however short the time is for tables in use.
DO $$
DECLARE
    given CONSTANT text := current_setting('lock_timeout');
BEGIN
    PERFORM set_config('lock_timeout', '1min', true);
    -- Two first installations at once: the later one finds what the other has made.
    BEGIN
        CREATE SCHEMA IF NOT EXISTS kindred;
    EXCEPTION WHEN unique_violation OR duplicate_schema THEN
    END;
    -- By whom it was made meanwhile.
    IF NOT EXISTS (SELECT FROM pg_namespace AS n JOIN pg_roles AS r ON r.oid = n.nspowner, pg_roles AS me
        WHERE n.nspname = 'kindred' AND me.rolname = current_user
            AND (r.rolsuper OR r.oid = me.oid OR NOT me.rolsuper AND r.rolname = current_setting('kindred.tracking_owner')))
    THEN
        RAISE EXCEPTION 'the schema kindred was made by another role meanwhile' USING ERRCODE = 'KT005';
    END IF;
    BEGIN
        CREATE TABLE IF NOT EXISTS kindred.tracking_gate (name text PRIMARY KEY);
    EXCEPTION WHEN unique_violation OR duplicate_table THEN
    END;
    INSERT INTO kindred.tracking_gate VALUES ('definition'), ('mending') ON CONFLICT DO NOTHING;
    PERFORM FROM kindred.tracking_gate ORDER BY name FOR UPDATE;
    PERFORM set_config('lock_timeout', given, true);
END $$;

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
    IF installed > current_setting('kindred.tracking_version')::integer THEN
        RAISE EXCEPTION 'The database has version % of change tracking, which another session has installed meanwhile', installed
            USING ERRCODE = 'KT001';
    END IF;

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
    IF installed < 3 THEN
        -- Who owns each table; of one that was dropped meanwhile nobody knows any more.
        ALTER TABLE kindred.tracking_table ADD COLUMN IF NOT EXISTS owner name NOT NULL DEFAULT '';
        UPDATE kindred.tracking_table AS t SET owner = pg_get_userbyid(c.relowner) FROM pg_class AS c WHERE c.oid = t.relation;
        ALTER TABLE kindred.tracking_table ALTER COLUMN owner DROP DEFAULT;
        LOCK TABLE kindred.tracking_consumer IN ACCESS EXCLUSIVE MODE;
        ALTER TABLE kindred.tracking_state ADD COLUMN IF NOT EXISTS longest_hold interval NOT NULL DEFAULT '30 days';
        -- Consumers of before belong to nobody, until one acknowledges.
        ALTER TABLE kindred.tracking_consumer ADD COLUMN IF NOT EXISTS owner name,
            ADD COLUMN IF NOT EXISTS asked_hold interval NOT NULL DEFAULT '0';
        UPDATE kindred.tracking_consumer AS c SET asked_hold = c.hold, hold = greatest('0', least(c.hold, '30 days'));
        ALTER TABLE kindred.tracking_consumer ALTER COLUMN asked_hold DROP DEFAULT;
        DROP FUNCTION IF EXISTS kindred.tracking_consumer_begin(text, interval);
        DROP FUNCTION IF EXISTS kindred.tracking_status();
        -- Its key has one more column; announcements end with their transactions.
        DROP TABLE IF EXISTS kindred.tracking_lock;
        ALTER TABLE kindred.tracking_state ADD COLUMN IF NOT EXISTS prunes bigint NOT NULL DEFAULT 0;
    END IF;
END $$;
