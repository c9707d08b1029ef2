-- The helper schema of change tracking. It is installed by `kindred install` or `database.tracking.install()`, in one
-- transaction, and may be run again. All names begin with "tracking_": the schema holds the history of migrations, too.
--
-- Statement triggers write the keys of changed rows to an outbox; readers take what became visible since a snapshot.
-- ARCHITECTURE.md, "Change tracking", explains how the parts work together.

SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true),
    pg_catalog.set_config('check_function_bodies', 'off', true),
    pg_catalog.set_config('client_min_messages', 'warning', true),
    pg_catalog.pg_advisory_xact_lock(7739838812307940436);

CREATE SCHEMA IF NOT EXISTS kindred;

DO $$
DECLARE
    installed integer;
BEGIN
    IF to_regclass('kindred.tracking_state') IS NULL THEN RETURN; END IF;
    SELECT version INTO installed FROM kindred.tracking_state;
    IF installed > 1 THEN
        RAISE EXCEPTION 'the database has version % of change tracking, and this library installs version 1', installed
            USING ERRCODE = 'KT001', HINT = 'Use a library that is as new as the one that installed it.';
    END IF;
END $$;

-- What changes seldom; one row. What triggers have to know at once is kept in sequences, see below.
CREATE TABLE IF NOT EXISTS kindred.tracking_state (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    version integer NOT NULL,
    -- The oldest version of the library that can read what this version writes.
    compatible integer NOT NULL,
    -- Cursors are good for one epoch: from the installation, or the last time that the outbox was emptied, on.
    epoch uuid NOT NULL DEFAULT gen_random_uuid(),
    -- How long a record stays after it could be read; it may be up to twice as long.
    retention interval NOT NULL DEFAULT '1 hour',
    -- The turn as readers' snapshots see it, and when it began.
    turn bigint NOT NULL DEFAULT 0,
    turned_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- When, and in which snapshot, all writers of the outbox that is not in turn were found to have ended.
    settled_at timestamptz,
    settled pg_snapshot,
    -- What was emptied: a cursor that has not seen all of it is too old.
    horizon pg_snapshot,
    -- The snapshot in which a reader came back after nobody had read: writers that ran in it may have written no record.
    returned pg_snapshot
);

-- The tables whose changes are recorded, partitions and children by inheritance too.
CREATE TABLE IF NOT EXISTS kindred.tracking_table (
    relation oid PRIMARY KEY,
    -- Its name, so that a table that is dropped and created again is known.
    schema_name text NOT NULL,
    table_name text NOT NULL,
    -- The table that records name: of a partition the root, of every other table itself.
    root oid NOT NULL,
    -- The columns of which keys consist, in their order; empty if the table has no key.
    key text[] NOT NULL,
    -- For which form of the table its trigger function was written.
    digest text NOT NULL,
    enabled_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- Why changes of it may be missing, and when that was last recorded.
    gap text,
    gap_at timestamptz
);

-- Of which tables it is recorded that nobody reads; empty while a reader is there.
CREATE TABLE IF NOT EXISTS kindred.tracking_unread (relation oid NOT NULL, since bigint NOT NULL);

-- The cursors of consumers that go on where they were.
CREATE TABLE IF NOT EXISTS kindred.tracking_consumer (
    name text PRIMARY KEY,
    epoch uuid NOT NULL,
    cursor pg_snapshot NOT NULL,
    -- How long records wait for it after it was last heard of.
    hold interval NOT NULL,
    acknowledged_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

DO $$
BEGIN
    FOR i IN 0..1 LOOP
        EXECUTE format(
            $table$
            CREATE TABLE IF NOT EXISTS kindred.tracking_outbox_%1$s (
                -- Changes of one row come in this order, whatever transactions made them.
                seq bigint NOT NULL,
                xid xid8 NOT NULL,
                at timestamptz NOT NULL DEFAULT clock_timestamp(),
                relation oid NOT NULL,
                -- I, U, D: rows were inserted, updated, deleted; T: truncated; G: gap; A: changes that nobody read;
                -- S: the table itself was changed.
                op "char" NOT NULL,
                -- Statements inside of triggers are recorded before the statement that fired these.
                depth smallint NOT NULL DEFAULT 0,
                -- Whether the transaction may be visible before it is on disk.
                asynchronous boolean NOT NULL DEFAULT false,
                -- Keys of the rows, one column after the other, row by row; NULL if they are too many to be named.
                keys text[],
                -- The keys after an update that changed some, in the same order.
                new_keys text[],
                -- The columns that an update changed; NULL if they are not known.
                columns text[],
                -- The columns of the key, if these are not the ones in tracking_table.
                key text[],
                reason text
            )
            $table$, i);
        EXECUTE format('CREATE INDEX IF NOT EXISTS tracking_outbox_%1$s_xid ON kindred.tracking_outbox_%1$s (xid)', i);
    END LOOP;
END $$;

CREATE SEQUENCE IF NOT EXISTS kindred.tracking_seq;

-- What every writer has to know at once: a sequence's value is the same in every snapshot, also in that of a transaction
-- with REPEATABLE READ that began an hour ago, is never rolled back, and costs a microsecond.

-- Which outbox is written: the one of the turn's last bit.
CREATE SEQUENCE IF NOT EXISTS kindred.tracking_turn MINVALUE 0 START 0;
-- Until when records are wanted, in seconds since 1970: readers and waiting consumers move it on.
CREATE SEQUENCE IF NOT EXISTS kindred.tracking_watch MINVALUE 0 START 0;
-- Until when a reader sleeps that is to be woken, in milliseconds since 1970; 0 while none does.
CREATE SEQUENCE IF NOT EXISTS kindred.tracking_sleeper MINVALUE 0 START 0;
-- A number to write, so that a commit has something to flush.
CREATE SEQUENCE IF NOT EXISTS kindred.tracking_flushed;

INSERT INTO kindred.tracking_state (version, compatible) VALUES (1, 1)
ON CONFLICT (only_row) DO UPDATE SET version = 1, compatible = 1;

SELECT setval('kindred.tracking_turn', 0) WHERE pg_sequence_last_value('kindred.tracking_turn'::regclass) IS NULL;
SELECT setval('kindred.tracking_sleeper', 0) WHERE pg_sequence_last_value('kindred.tracking_sleeper'::regclass) IS NULL;
SELECT setval('kindred.tracking_watch', extract(epoch FROM clock_timestamp() + retention)::bigint)
FROM kindred.tracking_state WHERE pg_sequence_last_value('kindred.tracking_watch'::regclass) IS NULL;
-- Change tracking: what a table looks like, and the query that its triggers ask.

-- The table that a partition is part of; of other tables the table itself.
CREATE OR REPLACE FUNCTION kindred.tracking_root(relation oid) RETURNS oid
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS
$$ SELECT coalesce(pg_partition_root(relation)::oid, relation) $$;

-- All tables that share rows with one: partitions and roots, parents and children.
CREATE OR REPLACE FUNCTION kindred.tracking_tree(relation oid) RETURNS SETOF oid
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    WITH RECURSIVE tree (oid) AS (
        SELECT relation
        UNION
        SELECT CASE WHEN i.inhrelid = t.oid THEN i.inhparent ELSE i.inhrelid END
        FROM tree AS t JOIN pg_inherits AS i ON t.oid IN (i.inhrelid, i.inhparent)
    )
    SELECT oid FROM tree
$$;

-- The tables whose rows a statement on a parent by inheritance changes, too; none for partitioned tables.
CREATE OR REPLACE FUNCTION kindred.tracking_children(relation oid) RETURNS SETOF oid
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    WITH RECURSIVE below (oid) AS (
        SELECT i.inhrelid FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhparent
        WHERE i.inhparent = relation AND c.relkind = 'r'
        UNION
        SELECT i.inhrelid FROM below AS b JOIN pg_inherits AS i ON i.inhparent = b.oid
    )
    SELECT oid FROM below
$$;

-- The columns that name a row: the primary key; without one, the UNIQUE constraint over the fewest NOT NULL columns.
CREATE OR REPLACE FUNCTION kindred.tracking_key(relation oid) RETURNS text[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(
        (SELECT k.names
         FROM pg_constraint AS c
         CROSS JOIN LATERAL (
            SELECT array_agg(a.attname::text ORDER BY n.place) AS names, bool_and(a.attnotnull) AS is_not_null
            FROM unnest(c.conkey) WITH ORDINALITY AS n (number, place)
            JOIN pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = n.number
         ) AS k
         WHERE c.conrelid = tracking_key.relation AND c.contype IN ('p', 'u') AND k.is_not_null
         ORDER BY c.contype = 'u', cardinality(c.conkey), c.conname::text COLLATE "C" LIMIT 1), '{}')
$$;

-- A value as text that does not depend on the settings of the session that writes.
CREATE OR REPLACE FUNCTION kindred.tracking_text(value anyelement) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET DateStyle = 'ISO, YMD' SET IntervalStyle = 'postgres'
SET TimeZone = 'UTC' SET extra_float_digits = 1 SET bytea_output = 'hex' SET lc_monetary = 'C' AS
$$ SELECT format('%s', value) $$;

-- The query that a trigger asks its transition tables: number of rows (at most 1,001), keys, keys after an
-- update that changed some, changed columns. `event` is INSERT, DELETE, UPDATE, or UPDATE ONE, for one row and faster: without
-- the number.
CREATE OR REPLACE FUNCTION kindred.tracking_query(relation oid, event text) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    key text[] := kindred.tracking_key(kindred.tracking_root(relation));
    -- Key and columns as SQL; of rows "old" and "new", under names that no column has.
    old_key text;
    new_key text;
    differs text;
    names text;
    any_names text;
    few CONSTANT text := '(SELECT count(*) AS n FROM (SELECT FROM %I LIMIT 1001) AS few) AS "kindred count"';
BEGIN
    -- Transition tables do not say which child a row is of.
    IF key = '{}' OR event <> 'INSERT' AND EXISTS (SELECT FROM kindred.tracking_children(relation)) THEN
        RETURN 'SELECT n, NULL::text[] AS keys, NULL::text[] AS new_keys, NULL::text[] AS columns FROM '
            || format(few, CASE event WHEN 'DELETE' THEN 'old_rows' ELSE 'new_rows' END);
    END IF;
    SELECT string_agg(replace(t.form, '?', format('"kindred old".%I', k.name)), ', ' ORDER BY k.place),
        string_agg(replace(t.form, '?', format('"kindred new".%I', k.name)), ', ' ORDER BY k.place),
        format('record_image_ne(ROW(%s), ROW(%s))', string_agg(format('"kindred old".%I', k.name), ', ' ORDER BY k.place),
            string_agg(format('"kindred new".%I', k.name), ', ' ORDER BY k.place))
    INTO STRICT old_key, new_key, differs
    FROM unnest(key) WITH ORDINALITY AS k (name, place)
    JOIN pg_attribute AS a ON a.attrelid = tracking_query.relation AND a.attname = k.name
    CROSS JOIN LATERAL (
        SELECT CASE
            WHEN a.atttypid IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype, 'oid'::regtype, 'text'::regtype,
                'varchar'::regtype, 'uuid'::regtype, 'numeric'::regtype, 'name'::regtype, 'bool'::regtype) THEN '?::text'
            ELSE 'kindred.tracking_text(?)' END AS form
    ) AS t;
    IF event IN ('INSERT', 'DELETE') THEN
        -- Of several columns' keys, one array for all rows.
        RETURN format(
            'SELECT n, CASE WHEN n <= 1000 THEN %1$s END AS keys, NULL::text[] AS new_keys, NULL::text[] AS columns '
            'FROM (SELECT count(*) AS n, array_agg(%2$s) AS k FROM (SELECT * FROM %3$I LIMIT 1001) AS %4$I) AS "kindred rows"',
            CASE cardinality(key) WHEN 1 THEN 'k' ELSE 'ARRAY(SELECT unnest(k))' END,
            format(CASE cardinality(key) WHEN 1 THEN '%s' ELSE 'ARRAY[%s]' END,
                CASE event WHEN 'DELETE' THEN old_key ELSE new_key END),
            CASE event WHEN 'DELETE' THEN 'old_rows' ELSE 'new_rows' END,
            CASE event WHEN 'DELETE' THEN 'kindred old' ELSE 'kindred new' END);
    END IF;
    SELECT string_agg(format('CASE WHEN record_image_ne(ROW("kindred old".%1$I), ROW("kindred new".%1$I)) THEN %1$L END', a.attname), ', '
            ORDER BY a.attnum),
        string_agg(format('CASE WHEN bool_or(record_image_ne(ROW("kindred old".%1$I), ROW("kindred new".%1$I))) THEN %1$L END', a.attname),
            ', ' ORDER BY a.attnum)
    INTO names, any_names
    FROM pg_attribute AS a WHERE a.attrelid = tracking_query.relation AND a.attnum > 0 AND NOT a.attisdropped;
    IF event = 'UPDATE ONE' THEN
        -- Of more than one row each old one is joined with each new one, and the first two rows tell.
        RETURN format(
            'SELECT ARRAY[%1$s] AS keys, CASE WHEN %2$s THEN ARRAY[%3$s] END AS new_keys, array_remove(ARRAY[%4$s], NULL) AS columns '
            'FROM old_rows AS "kindred old", new_rows AS "kindred new"', old_key, differs, new_key, names);
    END IF;
    -- Old and new rows come in the same order. A row whose move to another partition a trigger prevented has no new one.
    RETURN format(
        'SELECT CASE WHEN is_few THEN changed ELSE n END AS n, CASE WHEN is_few THEN %1$s END AS keys, '
        'CASE WHEN is_few AND moved THEN %2$s END AS new_keys, CASE WHEN is_few THEN columns END AS columns FROM ('
        'SELECT greatest(o, n) AS n, n <= 1000 AND o = n AS is_few FROM '
        '(SELECT count(*) AS o FROM (SELECT FROM old_rows LIMIT 1001) AS few) AS "kindred old count", %3$s) AS "kindred counts", '
        'LATERAL (SELECT count(*) AS changed, array_agg(%4$s) AS old_keys, array_agg(%5$s) AS new_keys, bool_or(%6$s) AS moved, '
        'array_remove(ARRAY[%7$s], NULL) AS columns FROM '
        '(SELECT row_number() OVER () AS "kindred place", * FROM old_rows LIMIT 1001) AS "kindred old" JOIN '
        '(SELECT row_number() OVER () AS "kindred place", * FROM new_rows LIMIT 1001) AS "kindred new" USING ("kindred place") '
        'WHERE "kindred counts".is_few AND "kindred old" OPERATOR(pg_catalog.*<>) "kindred new") AS "kindred rows"',
        CASE cardinality(key) WHEN 1 THEN 'old_keys' ELSE 'ARRAY(SELECT unnest(old_keys))' END,
        CASE cardinality(key) WHEN 1 THEN '"kindred rows".new_keys' ELSE 'ARRAY(SELECT unnest("kindred rows".new_keys))' END,
        format(few, 'new_rows'),
        format(CASE cardinality(key) WHEN 1 THEN '%s' ELSE 'ARRAY[%s]' END, old_key),
        format(CASE cardinality(key) WHEN 1 THEN '%s' ELSE 'ARRAY[%s]' END, new_key), differs, any_names);
END $$;
-- Change tracking: the trigger functions.

-- Which form a table has; the same for as long as its queries are. It is said to be IMMUTABLE so that a trigger's plan has
-- the answer and not the question: PostgreSQL makes the plan anew after each change of the table. A check at each call
-- would cost 110 us where the whole trigger costs 100.
CREATE OR REPLACE FUNCTION kindred.tracking_digest(relation oid) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    -- The number is that of the form of tracking_function.
    SELECT md5('1;' || kindred.tracking_root(relation) || kindred.tracking_key(kindred.tracking_root(relation))::text
        || ARRAY(SELECT c FROM kindred.tracking_children(relation) AS c ORDER BY c)::text
        || string_agg(kindred.tracking_query(relation, event), ';' ORDER BY event))
    FROM unnest('{INSERT,DELETE,UPDATE,UPDATE ONE}'::text[]) AS event
$$;

-- Why a table cannot be tracked; NULL if it can.
CREATE OR REPLACE FUNCTION kindred.tracking_obstacle(relation oid) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE
        WHEN c.relkind = 'f' THEN 'is a foreign table, and has no transition tables'
        WHEN c.relkind NOT IN ('r', 'p') THEN 'is no table'
        WHEN c.relpersistence = 't' THEN 'is temporary'
        WHEN c.relpersistence = 'u' THEN 'is unlogged, and a crash empties it without a statement'
        WHEN c.oid < 16384 OR n.nspname = 'information_schema' OR n.nspname = 'kindred' THEN 'is not a table of the program'
        WHEN EXISTS (SELECT FROM pg_subscription_rel AS s WHERE s.srrelid = c.oid)
            THEN 'is filled by a subscription, whose changes fire no statement triggers'
        END
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.oid = tracking_obstacle.relation
$$;

-- Enabling ---------------------------------------------------------------------------------------------------------------

-- The trigger function of one table, as SQL. A function for each: the plan of a query that stands in it is kept, while one
-- that EXECUTE runs is made each time, which took throughput with 32 writers from 70 to 45 percent of that without triggers.
CREATE OR REPLACE FUNCTION kindred.tracking_function(relation oid) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $function$
DECLARE
    -- With children, each of them is named, too.
    others text := (SELECT string_agg(format('PERFORM kindred.tracking_record(%s::oid, op, NULL, NULL, NULL, key, reason);', c), ' ' ORDER BY c)
        FROM kindred.tracking_children(relation) AS c);
BEGIN
    RETURN format($text$
CREATE OR REPLACE FUNCTION kindred.tracking_note_%1$s() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $note$
#variable_conflict use_column
DECLARE
    fits boolean;
    n bigint;
    keys text[];
    new_keys text[];
    columns text[];
    op "char";
BEGIN
    BEGIN
        IF TG_OP = 'UPDATE' THEN
            op := 'U';
            BEGIN
                SELECT kindred.tracking_digest(%1$s::oid) = %2$L, q.* INTO STRICT fits, keys, new_keys, columns FROM (%5$s) AS q;
                n := cardinality(columns);
            EXCEPTION WHEN TOO_MANY_ROWS OR NO_DATA_FOUND THEN
                SELECT kindred.tracking_digest(%1$s::oid) = %2$L, q.* INTO fits, n, keys, new_keys, columns FROM (%6$s) AS q;
            END;
        ELSIF TG_OP = 'INSERT' THEN
            op := 'I';
            SELECT kindred.tracking_digest(%1$s::oid) = %2$L, q.* INTO fits, n, keys, new_keys, columns FROM (%3$s) AS q;
        ELSIF TG_OP = 'DELETE' THEN
            op := 'D';
            SELECT kindred.tracking_digest(%1$s::oid) = %2$L, q.* INTO fits, n, keys, new_keys, columns FROM (%4$s) AS q;
        ELSE
            op := 'T';
            fits := true;
        END IF;
    EXCEPTION WHEN OTHERS THEN
        fits := false;
    END;
    IF n = 0 AND fits THEN RETURN NULL; END IF;
    IF NOT fits THEN
        -- The table has changed since this was written.
        DECLARE
            key text[];
            reason text;
            place oid;
        BEGIN
            BEGIN
                EXECUTE kindred.tracking_query(TG_RELID, TG_OP) INTO n, keys, new_keys, columns;
                key := kindred.tracking_key(kindred.tracking_root(TG_RELID));
            EXCEPTION WHEN OTHERS THEN
                op := 'G';
                reason := 'SQLSTATE ' || SQLSTATE;
                n := NULL; keys := NULL; new_keys := NULL; columns := NULL;
            END;
            IF n = 0 THEN RETURN NULL; END IF;
            PERFORM kindred.tracking_record(kindred.tracking_root(TG_RELID), op, keys, new_keys, columns, key, reason);
            IF op <> 'I' THEN
                FOR place IN SELECT kindred.tracking_children(TG_RELID) LOOP
                    PERFORM kindred.tracking_record(place, op, NULL, NULL, NULL, key, reason);
                END LOOP;
            END IF;
        END;
    ELSIF pg_sequence_last_value('kindred.tracking_watch'::regclass) < date_part('epoch', clock_timestamp()) OR pg_column_size(keys) > 500000 THEN
        PERFORM kindred.tracking_record(%7$s::oid, op, keys, new_keys, columns, NULL, NULL);
    ELSIF pg_sequence_last_value('kindred.tracking_turn'::regclass) & 1 = 0 THEN
        INSERT INTO kindred.tracking_outbox_0 (seq, xid, relation, op, depth, asynchronous, keys, new_keys, columns)
        VALUES (nextval('kindred.tracking_seq'), pg_current_xact_id(), %7$s, op, pg_trigger_depth(),
            current_setting('synchronous_commit') = 'off', keys, new_keys, columns);
    ELSE
        INSERT INTO kindred.tracking_outbox_1 (seq, xid, relation, op, depth, asynchronous, keys, new_keys, columns)
        VALUES (nextval('kindred.tracking_seq'), pg_current_xact_id(), %7$s, op, pg_trigger_depth(),
            current_setting('synchronous_commit') = 'off', keys, new_keys, columns);
    END IF;
    %8$s
    -- PREPARE TRANSACTION refuses a transaction that has notified.
    IF pg_sequence_last_value('kindred.tracking_sleeper'::regclass) > 0 THEN
        IF pg_sequence_last_value('kindred.tracking_sleeper'::regclass) > date_part('epoch', clock_timestamp()) * 1000
            AND current_setting('max_prepared_transactions') = '0'
        THEN
            PERFORM pg_notify('kindred_tracking', '');
        END IF;
    END IF;
    RETURN NULL;
END $note$
$text$,
        relation, kindred.tracking_digest(relation), kindred.tracking_query(relation, 'INSERT'),
        kindred.tracking_query(relation, 'DELETE'), kindred.tracking_query(relation, 'UPDATE ONE'),
        kindred.tracking_query(relation, 'UPDATE'), kindred.tracking_root(relation),
        coalesce('IF fits AND op IN (''U'', ''D'') THEN ' || replace(replace(others, 'key, ', 'NULL, '), 'reason', 'NULL') || ' END IF;', ''));
END $function$;

-- Writes a record; what trigger functions do themselves where it is the usual case.
CREATE OR REPLACE FUNCTION kindred.tracking_record(place oid, op "char", keys text[], new_keys text[], columns text[], key text[], reason text)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    watch CONSTANT bigint := pg_sequence_last_value('kindred.tracking_watch'::regclass);
BEGIN
    IF watch < date_part('epoch', clock_timestamp()) THEN
        -- Nobody reads: one record is enough.
        IF EXISTS (SELECT FROM kindred.tracking_unread AS u WHERE u.relation = place AND u.since = watch) THEN RETURN; END IF;
        INSERT INTO kindred.tracking_unread VALUES (place, watch);
        op := 'A'; keys := NULL; new_keys := NULL; columns := NULL; reason := 'unread';
    ELSIF pg_column_size(keys) > 500000 OR pg_column_size(new_keys) > 500000 THEN
        keys := NULL; new_keys := NULL;
    END IF;
    IF pg_sequence_last_value('kindred.tracking_turn'::regclass) & 1 = 0 THEN
        INSERT INTO kindred.tracking_outbox_0 (seq, xid, relation, op, depth, asynchronous, keys, new_keys, columns, key, reason)
        VALUES (nextval('kindred.tracking_seq'), pg_current_xact_id(), place, op, pg_trigger_depth(),
            current_setting('synchronous_commit') = 'off', keys, new_keys, columns, key, reason);
    ELSE
        INSERT INTO kindred.tracking_outbox_1 (seq, xid, relation, op, depth, asynchronous, keys, new_keys, columns, key, reason)
        VALUES (nextval('kindred.tracking_seq'), pg_current_xact_id(), place, op, pg_trigger_depth(),
            current_setting('synchronous_commit') = 'off', keys, new_keys, columns, key, reason);
    END IF;
END $$;
-- Change tracking: enabling and disabling tables.

-- The statements that are missing for a table to be tracked; none if all is in place.
CREATE OR REPLACE FUNCTION kindred.tracking_statements(relation oid) RETURNS SETOF text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    place oid;
    name text;
    owner text := (SELECT pg_get_userbyid(c.relowner) FROM pg_class AS c WHERE c.oid = 'kindred.tracking_state'::regclass);
    event text;
    top oid;
BEGIN
    FOR place IN SELECT t FROM kindred.tracking_tree(relation) AS t ORDER BY t LOOP
        name := (SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
            WHERE c.oid = place);
        top := kindred.tracking_root(place);
        IF to_regprocedure(format('kindred.tracking_note_%s()', place)) IS NULL
            OR NOT EXISTS (SELECT FROM kindred.tracking_table AS t WHERE t.relation = place
                AND t.digest = kindred.tracking_digest(place) AND t.root = top)
        THEN
            RETURN NEXT trim(E'\n' FROM kindred.tracking_function(place));
            RETURN NEXT format('REVOKE ALL ON FUNCTION kindred.tracking_note_%s() FROM PUBLIC', place);
            RETURN NEXT format('ALTER FUNCTION kindred.tracking_note_%s() OWNER TO %I', place, owner);
            RETURN NEXT format('COMMENT ON FUNCTION kindred.tracking_note_%s() IS %L', place,
                'Records changes of ' || name || '; written by Kindred.');
        END IF;
        FOREACH event IN ARRAY '{INSERT,UPDATE,DELETE,TRUNCATE}'::text[] LOOP
            CONTINUE WHEN EXISTS (SELECT FROM pg_trigger AS t WHERE t.tgrelid = place AND t.tgname = 'kindred_tracking_' || lower(event)
                AND t.tgenabled = 'A' AND t.tgfoid = to_regprocedure(format('kindred.tracking_note_%s()', place)));
            RETURN NEXT format('CREATE OR REPLACE TRIGGER %I AFTER %s ON %s%s FOR EACH STATEMENT EXECUTE FUNCTION kindred.tracking_note_%s()',
                'kindred_tracking_' || lower(event), event, name,
                CASE event WHEN 'INSERT' THEN ' REFERENCING NEW TABLE AS new_rows'
                    WHEN 'UPDATE' THEN ' REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows'
                    WHEN 'DELETE' THEN ' REFERENCING OLD TABLE AS old_rows' ELSE '' END, place);
            RETURN NEXT format('ALTER TABLE ONLY %s ENABLE ALWAYS TRIGGER %I', name, 'kindred_tracking_' || lower(event));
        END LOOP;
        IF NOT EXISTS (SELECT FROM kindred.tracking_table AS t JOIN pg_class AS c ON c.oid = t.relation JOIN pg_namespace AS n ON n.oid = c.relnamespace
            WHERE t.relation = place AND t.gap IS NULL AND t.digest = kindred.tracking_digest(place)
                AND t.root = top AND t.schema_name = n.nspname AND t.table_name = c.relname)
        THEN
            RETURN NEXT format('SELECT kindred.tracking_register(%s)', place);
        END IF;
    END LOOP;
END $$;

-- Notes that a table is tracked in its present form.
CREATE OR REPLACE FUNCTION kindred.tracking_register(relation oid) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    -- A table that was dropped and created again.
    DELETE FROM kindred.tracking_table AS t USING pg_class AS c, pg_namespace AS n
    WHERE c.oid = tracking_register.relation AND n.oid = c.relnamespace AND t.schema_name = n.nspname AND t.table_name = c.relname
        AND t.relation <> c.oid AND NOT EXISTS (SELECT FROM pg_class AS o WHERE o.oid = t.relation);
    INSERT INTO kindred.tracking_table (relation, schema_name, table_name, root, key, digest)
    SELECT c.oid, n.nspname, c.relname, kindred.tracking_root(c.oid), kindred.tracking_key(kindred.tracking_root(c.oid)),
        kindred.tracking_digest(c.oid)
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.oid = tracking_register.relation
    ON CONFLICT (relation) DO UPDATE SET schema_name = excluded.schema_name, table_name = excluded.table_name,
        root = excluded.root, key = excluded.key, digest = excluded.digest, gap = NULL, gap_at = NULL;
$$;

-- Puts in place what a table needs. Changes until now are no record's: the first record says so.
CREATE OR REPLACE FUNCTION kindred.tracking_enable(relation regclass) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET kindred.tracking_mends = 'on' AS $$
DECLARE
    place oid;
    statement text;
    obstacle text;
    is_done boolean := false;
BEGIN
    FOR place IN SELECT t FROM kindred.tracking_tree(relation) AS t ORDER BY t LOOP
        obstacle := kindred.tracking_obstacle(place);
        IF obstacle IS NOT NULL THEN
            RAISE EXCEPTION '% cannot be tracked: %', relation,
                CASE WHEN place = relation THEN 'it ' || obstacle ELSE format('%s, which shares rows with it, %s', place::regclass, obstacle) END
                USING ERRCODE = 'KT002';
        END IF;
    END LOOP;
    FOR statement IN SELECT s FROM kindred.tracking_statements(relation) AS s LOOP
        EXECUTE statement;
        is_done := true;
    END LOOP;
    IF is_done THEN
        PERFORM kindred.tracking_record(root, 'G', NULL, NULL, NULL, NULL, 'enabled')
        FROM (SELECT DISTINCT kindred.tracking_root(t) AS root FROM kindred.tracking_tree(relation) AS t) AS r;
    END IF;
END $$;

-- Takes away what a table was given; so does the tree that it belongs to.
CREATE OR REPLACE FUNCTION kindred.tracking_disable(relation regclass) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET kindred.tracking_mends = 'on' AS $$
DECLARE
    place oid;
    event text;
BEGIN
    FOR place IN SELECT t FROM kindred.tracking_tree(relation) AS t ORDER BY t LOOP
        CONTINUE WHEN NOT EXISTS (SELECT FROM kindred.tracking_table AS t WHERE t.relation = place);
        PERFORM kindred.tracking_record(kindred.tracking_root(place), 'G', NULL, NULL, NULL, NULL, 'disabled');
        FOREACH event IN ARRAY '{insert,update,delete,truncate}'::text[] LOOP
            EXECUTE format('DROP TRIGGER IF EXISTS kindred_tracking_%s ON %s', event, place::regclass);
        END LOOP;
        EXECUTE format('DROP FUNCTION IF EXISTS kindred.tracking_note_%s()', place);
        DELETE FROM kindred.tracking_table AS t WHERE t.relation = place;
    END LOOP;
END $$;
-- Change tracking: what others do to tracked tables.

-- Why changes of a registered table may be missing; NULL if none are.
CREATE OR REPLACE FUNCTION kindred.tracking_fault(relation oid) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE
        WHEN NOT EXISTS (SELECT FROM pg_class AS c WHERE c.oid = relation) THEN 'dropped'
        WHEN EXISTS (SELECT FROM pg_subscription_rel AS s WHERE s.srrelid = relation) THEN 'subscription'
        WHEN (SELECT count(*) FROM pg_trigger AS t WHERE t.tgrelid = relation AND t.tgname LIKE 'kindred\_tracking\_%'
            AND t.tgfoid = to_regprocedure(format('kindred.tracking_note_%s()', relation))) < 4 THEN 'trigger missing'
        WHEN EXISTS (SELECT FROM pg_trigger AS t WHERE t.tgrelid = relation AND t.tgname LIKE 'kindred\_tracking\_%' AND t.tgenabled <> 'A')
            THEN 'trigger disabled'
        WHEN EXISTS (SELECT FROM kindred.tracking_tree(relation) AS p
            WHERE NOT EXISTS (SELECT FROM kindred.tracking_table AS t WHERE t.relation = p)) THEN 'partition or child not tracked'
        WHEN NOT EXISTS (SELECT FROM kindred.tracking_table AS t WHERE t.relation = tracking_fault.relation
            AND t.digest = kindred.tracking_digest(relation)) THEN 'changed'
        END
$$;

-- Puts a table in order that is tracked or shares rows with one that is, and says what was wrong. A table in use is left
-- for the next time: nobody waits.
CREATE OR REPLACE FUNCTION kindred.tracking_mend(place oid, reason text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '20ms'
SET kindred.tracking_mends = 'on' AS $$
DECLARE
    statement text;
BEGIN
    -- Who has disabled a trigger has a reason.
    IF EXISTS (SELECT FROM pg_trigger AS t JOIN kindred.tracking_tree(place) AS p ON p = t.tgrelid
        WHERE t.tgname LIKE 'kindred\_tracking\_%' AND t.tgenabled = 'D')
    THEN
        RETURN false;
    END IF;
    BEGIN
        FOR statement IN SELECT s FROM kindred.tracking_statements(place) AS s LOOP EXECUTE statement; END LOOP;
    EXCEPTION WHEN OTHERS THEN
        UPDATE kindred.tracking_table AS t SET gap = coalesce(reason, 'SQLSTATE ' || SQLSTATE) WHERE t.relation = place;
        RETURN false;
    END;
    RETURN true;
END $$;

-- Looks for tables whose changes may be missing, mends what may be mended, and records a gap for each: at once, and for as
-- long as it stays each half minute. Returns what is still wrong.
CREATE OR REPLACE FUNCTION kindred.tracking_check()
RETURNS TABLE (relation oid, name text, fault text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    item record;
    found_at oid;
BEGIN
    -- Two readers at once would say everything twice.
    IF NOT pg_try_advisory_xact_lock(7739838812307940419) THEN RETURN; END IF;
    FOR item IN SELECT t.relation, t.root, t.schema_name, t.table_name, t.gap, t.gap_at, kindred.tracking_fault(t.relation) AS fault
        FROM kindred.tracking_table AS t ORDER BY t.relation
    LOOP
        CONTINUE WHEN item.fault IS NULL AND item.gap IS NULL;
        IF item.fault = 'dropped' THEN
            found_at := to_regclass(format('%I.%I', item.schema_name, item.table_name));
            IF found_at IS NOT NULL AND kindred.tracking_obstacle(found_at) IS NULL AND kindred.tracking_mend(found_at, 'created again') THEN
                PERFORM kindred.tracking_record(kindred.tracking_root(found_at), 'G', NULL, NULL, NULL, NULL, 'created again');
                EXECUTE format('DROP FUNCTION IF EXISTS kindred.tracking_note_%s()', item.relation);
                CONTINUE;
            END IF;
        ELSIF item.fault IS DISTINCT FROM 'subscription' AND kindred.tracking_mend(item.relation, item.fault)
            AND kindred.tracking_fault(item.relation) IS NULL
        THEN
            PERFORM kindred.tracking_record(kindred.tracking_root(item.relation), 'G', NULL, NULL, NULL, NULL, coalesce(item.fault, item.gap));
            CONTINUE;
        END IF;
        IF item.gap IS DISTINCT FROM item.fault OR item.gap_at IS NULL OR item.gap_at < clock_timestamp() - interval '30 seconds' AND item.fault <> 'dropped' THEN
            PERFORM kindred.tracking_record(item.root, 'G', NULL, NULL, NULL, NULL, item.fault);
            UPDATE kindred.tracking_table AS t SET gap = item.fault, gap_at = clock_timestamp() WHERE t.relation = item.relation;
        END IF;
        RETURN QUERY SELECT item.relation, format('%I.%I', item.schema_name, item.table_name), item.fault;
    END LOOP;
END $$;

-- DDL: readers are told, and tables that share rows with tracked ones are tracked, too. It must never make DDL fail.
CREATE OR REPLACE FUNCTION kindred.tracking_ddl() RETURNS event_trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    place oid;
    tree oid[];
BEGIN
    IF current_setting('kindred.tracking_mends', true) = 'on' THEN RETURN; END IF;
    FOR place IN
        SELECT DISTINCT d.objid FROM pg_event_trigger_ddl_commands() AS d
        WHERE d.classid = 'pg_class'::regclass AND d.object_type IN ('table', 'table column', 'view', 'materialized view', 'foreign table')
            AND NOT d.in_extension AND d.schema_name IS DISTINCT FROM 'pg_temp' AND d.schema_name IS DISTINCT FROM 'kindred'
    LOOP
        BEGIN
            tree := ARRAY(SELECT t FROM kindred.tracking_tree(place) AS t);
            IF EXISTS (SELECT FROM kindred.tracking_table AS t WHERE t.relation = ANY (tree))
                OR EXISTS (SELECT FROM kindred.tracking_table AS t JOIN pg_class AS c ON c.relname = t.table_name
                    JOIN pg_namespace AS n ON n.oid = c.relnamespace AND n.nspname = t.schema_name
                    WHERE c.oid = place AND NOT EXISTS (SELECT FROM pg_class AS o WHERE o.oid = t.relation))
            THEN
                IF NOT EXISTS (SELECT FROM unnest(tree) AS t WHERE kindred.tracking_obstacle(t) IS NOT NULL) THEN
                    PERFORM kindred.tracking_mend(place, 'changed');
                END IF;
            END IF;
            PERFORM kindred.tracking_record(kindred.tracking_root(place), 'S', NULL, NULL, NULL, NULL, 'ddl');
        EXCEPTION WHEN OTHERS THEN
            -- Readers find it by themselves.
        END;
    END LOOP;
END $$;

CREATE OR REPLACE FUNCTION kindred.tracking_dropped() RETURNS event_trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    place oid;
BEGIN
    FOR place IN
        SELECT DISTINCT d.objid FROM pg_event_trigger_dropped_objects() AS d
        WHERE d.classid = 'pg_class'::regclass AND d.object_type IN ('table', 'view', 'materialized view', 'foreign table', 'table column')
            AND NOT d.is_temporary AND d.schema_name IS DISTINCT FROM 'kindred'
    LOOP
        BEGIN
            PERFORM kindred.tracking_record(coalesce((SELECT t.root FROM kindred.tracking_table AS t WHERE t.relation = place), place), 'S', NULL, NULL, NULL, NULL, 'dropped');
        EXCEPTION WHEN OTHERS THEN
        END;
    END LOOP;
END $$;

DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = current_user AND rolsuper) THEN
        DROP EVENT TRIGGER IF EXISTS kindred_tracking_ddl;
        DROP EVENT TRIGGER IF EXISTS kindred_tracking_dropped;
        CREATE EVENT TRIGGER kindred_tracking_ddl ON ddl_command_end EXECUTE FUNCTION kindred.tracking_ddl();
        CREATE EVENT TRIGGER kindred_tracking_dropped ON sql_drop EXECUTE FUNCTION kindred.tracking_dropped();
        ALTER EVENT TRIGGER kindred_tracking_ddl ENABLE ALWAYS;
        ALTER EVENT TRIGGER kindred_tracking_dropped ENABLE ALWAYS;
    END IF;
END $$;
-- Change tracking: the reading statement, and what readers say of themselves.

-- The role that called a function of this schema, in which current_user is the owner of it. (What a reading calls is
-- PL/pgSQL, whose plans are kept.)
CREATE OR REPLACE FUNCTION kindred.tracking_caller() RETURNS name
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN CASE current_setting('role') WHEN 'none' THEN session_user ELSE current_setting('role')::name END;
END $$;

-- What a role may learn of a table's changes: 2 keys, 1 that there are changes, 0 nothing.
CREATE OR REPLACE FUNCTION kindred.tracking_sees(caller name, place oid) RETURNS integer
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    role pg_roles;
    class pg_class;
BEGIN
    SELECT * INTO role FROM pg_roles AS r WHERE r.rolname = caller;
    IF role.rolsuper THEN RETURN 2; END IF;
    SELECT * INTO class FROM pg_class AS c WHERE c.oid = place;
    IF NOT FOUND THEN RETURN 1; END IF;
    IF NOT has_any_column_privilege(caller, place, 'SELECT') THEN RETURN 0; END IF;
    -- Keys are data: what a policy hides, no record shows.
    IF class.relrowsecurity AND NOT role.rolbypassrls AND (class.relforcerowsecurity OR NOT pg_has_role(caller, class.relowner, 'USAGE'))
        OR NOT has_table_privilege(caller, place, 'SELECT')
    THEN
        RETURN 1;
    END IF;
    RETURN 2;
END $$;

-- Whether a cursor has seen all that a snapshot shows.
CREATE OR REPLACE FUNCTION kindred.tracking_covers(cursor pg_snapshot, snapshot pg_snapshot) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN snapshot IS NULL OR pg_snapshot_xmax(cursor) >= pg_snapshot_xmax(snapshot)
        AND NOT EXISTS (SELECT FROM pg_snapshot_xip(cursor) AS x WHERE pg_visible_in_snapshot(x, snapshot));
END $$;

-- A snapshot of which everything below a number is seen, except some.
CREATE OR REPLACE FUNCTION kindred.tracking_snapshot(xmax xid8, unseen xid8[]) RETURNS pg_snapshot
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    xip CONSTANT xid8[] := ARRAY(SELECT DISTINCT x FROM unnest(unseen) AS x WHERE x < xmax ORDER BY x);
BEGIN
    RETURN format('%s:%s:%s', coalesce(xip[1], xmax), xmax, array_to_string(xip, ','))::pg_snapshot;
END $$;

-- Which server, database and installation a connection reads; what a cursor has to agree with.
CREATE OR REPLACE FUNCTION kindred.tracking_identity()
RETURNS TABLE (version integer, compatible integer, epoch uuid, system bigint, timeline text, database oid, retention interval,
    notifies boolean)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF pg_is_in_recovery() THEN
        RAISE EXCEPTION 'a standby cannot be read: its snapshots list no transactions that run' USING ERRCODE = 'KT003',
            HINT = 'Connect to the primary.';
    END IF;
    RETURN QUERY SELECT s.version, s.compatible, s.epoch, c.system_identifier, left(pg_walfile_name(pg_current_wal_lsn()), 8),
        (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database()), s.retention,
        current_setting('max_prepared_transactions') = '0'
    FROM kindred.tracking_state AS s, pg_control_system() AS c;
END $$;

-- Says that a reader is there, so that records are written; at least as often as the retention is long.
CREATE OR REPLACE FUNCTION kindred.tracking_attend() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    state kindred.tracking_state;
    now_seconds CONSTANT bigint := extract(epoch FROM clock_timestamp());
    watch CONSTANT bigint := pg_sequence_last_value('kindred.tracking_watch'::regclass);
    wanted bigint;
BEGIN
    SELECT * INTO STRICT state FROM kindred.tracking_state;
    wanted := now_seconds + greatest(1, extract(epoch FROM state.retention)::bigint);
    SELECT greatest(wanted, max(extract(epoch FROM c.acknowledged_at + c.hold))::bigint) INTO wanted FROM kindred.tracking_consumer AS c;
    IF wanted > watch THEN PERFORM setval('kindred.tracking_watch', wanted); END IF;
    IF watch < now_seconds THEN
        -- A snapshot that is taken after all writers see the new value.
        UPDATE kindred.tracking_state AS s SET returned = pg_current_snapshot();
        DELETE FROM kindred.tracking_unread;
    END IF;
END $$;

-- A cursor from which on nothing is missed: no crash takes back what it has seen, once the call has returned.
CREATE OR REPLACE FUNCTION kindred.tracking_begin() RETURNS pg_snapshot
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    cursor pg_snapshot;
BEGIN
    PERFORM kindred.tracking_identity();
    PERFORM kindred.tracking_attend();
    cursor := pg_current_snapshot();
    PERFORM kindred.tracking_flush();
    RETURN cursor;
END $$;

-- Returns once everything is on disk that was visible before.
CREATE OR REPLACE FUNCTION kindred.tracking_flush() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM nextval('kindred.tracking_flushed'), pg_current_xact_id(), set_config('synchronous_commit', 'local', true);
END $$;

-- Says that the caller, which listens on kindred_tracking, will sleep for so long; it has to read once more before it does.
CREATE OR REPLACE FUNCTION kindred.tracking_sleep(milliseconds integer) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    RETURN setval('kindred.tracking_sleeper', greatest(pg_sequence_last_value('kindred.tracking_sleeper'::regclass),
        (extract(epoch FROM clock_timestamp()) * 1000)::bigint + milliseconds));
END $$;

-- Says that the caller is awake; others that have gone to sleep since then stay so.
CREATE OR REPLACE FUNCTION kindred.tracking_wake(token bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF pg_sequence_last_value('kindred.tracking_sleeper'::regclass) = token THEN
        PERFORM set_config('synchronous_commit', 'off', true), setval('kindred.tracking_sleeper', 0);
    END IF;
END $$;

-- THE READING STATEMENT: what became visible since a cursor, and the next cursor, as one snapshot shows both.
--
-- The first row has the next cursor in `snapshot`, and records follow in their order, whole transactions only. With `limits`
-- more records than that are given in pieces, cut between transactions in an order in which no change of a row comes before
-- an earlier one; the next piece is had with the next cursor. `is_last` says whether nothing is left.
--
-- `reason` of the first row, where the cursor is of no use: `expired` or `future`. `unsafe` says that records of it may be
-- taken back by a crash: they are good once tracking_flush() has returned.
--
-- Read is the range from the cursor's xmax on, and a list: transactions that ran in the cursor and run no longer. So a
-- transaction that stays open costs nothing.
CREATE OR REPLACE FUNCTION kindred.tracking_read(cursor pg_snapshot, limits integer DEFAULT 10000)
RETURNS TABLE (snapshot pg_snapshot, is_last boolean, unsafe boolean, seq bigint, xid xid8, at timestamptz, relation oid, op "char", depth smallint,
    keys text[], new_keys text[], columns text[], key text[], reason text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
-- The plans are made once, when the outbox may be empty.
SET jit = off SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    caller CONSTANT name := kindred.tracking_caller();
    present CONSTANT pg_snapshot := pg_current_snapshot();
    first CONSTANT xid8 := pg_snapshot_xmax(cursor);
    next pg_snapshot := present;
    state kindred.tracking_state;
    ended xid8[];
    total bigint;
    has_asynchronous boolean;
    is_flushed boolean;
    chosen xid8[];
    rest xid8[];
    was_away boolean;
BEGIN
    IF pg_current_xact_id_if_assigned() IS NOT NULL THEN
        RAISE EXCEPTION 'changes cannot be read in a transaction that has written' USING ERRCODE = '25001';
    END IF;
    SELECT array_agg(x) INTO ended FROM pg_snapshot_xip(cursor) AS x WHERE pg_visible_in_snapshot(x, present);
    -- Takes the locks of both outboxes, behind which none is emptied.
    SELECT count(*), bool_or(r.asynchronous), array_agg(r.xid) INTO total, has_asynchronous, chosen
    FROM (
        SELECT asynchronous, xid FROM kindred.tracking_outbox_0 WHERE xid >= first
        UNION ALL SELECT asynchronous, xid FROM kindred.tracking_outbox_1 WHERE xid >= first
        UNION ALL SELECT asynchronous, xid FROM kindred.tracking_outbox_0 WHERE xid = ANY (ended)
        UNION ALL SELECT asynchronous, xid FROM kindred.tracking_outbox_1 WHERE xid = ANY (ended)
        LIMIT limits + 1
    ) AS r;
    SELECT * INTO STRICT state FROM kindred.tracking_state;
    IF state.turn <> pg_sequence_last_value('kindred.tracking_turn'::regclass) THEN
        RAISE EXCEPTION 'the outbox has been emptied since the snapshot was taken' USING ERRCODE = '40001', HINT = 'Read again.';
    END IF;
    IF pg_snapshot_xmax(cursor) > pg_snapshot_xmax(present) THEN
        RETURN QUERY SELECT present, true, false, NULL::bigint, NULL::xid8, NULL::timestamptz, NULL::oid, NULL::"char", NULL::smallint,
            NULL::text[], NULL::text[], NULL::text[], NULL::text[], 'future';
        RETURN;
    END IF;
    IF NOT kindred.tracking_covers(cursor, state.horizon) THEN
        RETURN QUERY SELECT present, true, false, NULL::bigint, NULL::xid8, NULL::timestamptz, NULL::oid, NULL::"char", NULL::smallint,
            NULL::text[], NULL::text[], NULL::text[], NULL::text[], 'expired';
        RETURN;
    END IF;
    IF total > limits THEN
        -- Transactions by their last record: one that depends on another has a later one.
        WITH r AS MATERIALIZED (
            SELECT xid, max(seq) AS last, count(*) AS n FROM (
                SELECT xid, seq FROM kindred.tracking_outbox_0 WHERE xid >= first
                UNION ALL SELECT xid, seq FROM kindred.tracking_outbox_1 WHERE xid >= first
                UNION ALL SELECT xid, seq FROM kindred.tracking_outbox_0 WHERE xid = ANY (ended)
                UNION ALL SELECT xid, seq FROM kindred.tracking_outbox_1 WHERE xid = ANY (ended)
            ) AS all_records GROUP BY xid
        ), s AS (
            SELECT xid, sum(n) OVER (ORDER BY last) - n < limits AS is_chosen FROM r
        )
        SELECT array_agg(xid) FILTER (WHERE is_chosen), array_agg(xid) FILTER (WHERE NOT is_chosen) INTO chosen, rest FROM s;
    END IF;
    -- What is visible is on disk, and its numbers are never given again, if the transaction waited for that. Of all others a
    -- crash may give the numbers to transactions to come: the cursor then ends behind the last record's.
    is_flushed := pg_current_wal_insert_lsn() <= pg_current_wal_flush_lsn();
    IF rest IS NOT NULL OR NOT is_flushed AND has_asynchronous IS NOT TRUE THEN
        next := kindred.tracking_snapshot(
            greatest(first, (SELECT (x::text::bigint + 1)::text::xid8 FROM unnest(chosen) AS x ORDER BY x DESC LIMIT 1)),
            ARRAY(SELECT pg_snapshot_xip(present)) || rest);
    END IF;
    was_away := ended && ARRAY(SELECT pg_snapshot_xip(state.returned));
    RETURN QUERY SELECT next, rest IS NULL, NOT is_flushed AND has_asynchronous IS TRUE, NULL::bigint, NULL::xid8, NULL::timestamptz, NULL::oid, NULL::"char",
        NULL::smallint, NULL::text[], NULL::text[], NULL::text[], NULL::text[], NULL::text;
    IF was_away THEN
        -- They may have written no record, since nobody read when they looked.
        RETURN QUERY SELECT NULL::pg_snapshot, NULL::boolean, NULL::boolean, 0::bigint, '0'::xid8, clock_timestamp(), t.root, 'G'::"char", 0::smallint,
            NULL::text[], NULL::text[], NULL::text[], NULL::text[], 'unread'
        FROM kindred.tracking_table AS t WHERE kindred.tracking_sees(caller, t.root) > 0 GROUP BY t.root;
    END IF;
    IF total = 0 THEN RETURN; END IF;
    RETURN QUERY
        WITH r AS MATERIALIZED (
            SELECT * FROM kindred.tracking_outbox_0 WHERE xid >= first
            UNION ALL SELECT * FROM kindred.tracking_outbox_1 WHERE xid >= first
            UNION ALL SELECT * FROM kindred.tracking_outbox_0 WHERE xid = ANY (ended)
            UNION ALL SELECT * FROM kindred.tracking_outbox_1 WHERE xid = ANY (ended)
        ), s AS MATERIALIZED (
            SELECT p.relation, kindred.tracking_sees(caller, p.relation) AS sees FROM (SELECT DISTINCT relation FROM r) AS p
        )
        SELECT NULL::pg_snapshot, NULL::boolean, NULL::boolean, r.seq, r.xid, r.at, r.relation, r.op, r.depth,
            CASE WHEN s.sees = 2 THEN r.keys END, CASE WHEN s.sees = 2 THEN r.new_keys END, r.columns, r.key,
            coalesce(r.reason, CASE WHEN s.sees = 1 THEN 'policy' END)
        FROM r JOIN s ON s.relation = r.relation
        WHERE s.sees > 0 AND (rest IS NULL OR r.xid IN (SELECT unnest(chosen)))
        ORDER BY r.seq;
END $$;
-- Change tracking: emptying the outbox.

-- Empties the outbox that is not in turn, once everything in it has been readable for the retention, and gives it the turn.
-- What blocks it (a dump, a reader in a long transaction) is left alone; the answer says what was done.
CREATE OR REPLACE FUNCTION kindred.tracking_rotate() RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off SET enable_seqscan = off AS $$
DECLARE
    state kindred.tracking_state;
    other text;
    last xid8;
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN RETURN 'snapshot'; END IF;
    BEGIN
        SELECT * INTO STRICT state FROM kindred.tracking_state FOR UPDATE NOWAIT;
    EXCEPTION WHEN lock_not_available THEN
        RETURN 'busy';
    END;
    other := format('kindred.tracking_outbox_%s', 1 - state.turn % 2);
    IF state.settled_at IS NULL THEN
        -- Transactions that wrote to it hold a lock until they end, prepared ones too.
        BEGIN
            EXECUTE format('LOCK TABLE %s IN SHARE MODE NOWAIT', other);
        EXCEPTION WHEN lock_not_available THEN
            RETURN 'busy';
        END;
        EXECUTE format('SELECT xid FROM %s ORDER BY xid DESC LIMIT 1', other) INTO last;
        UPDATE kindred.tracking_state AS s SET settled_at = clock_timestamp(), settled = CASE WHEN last IS NOT NULL THEN
            kindred.tracking_snapshot((last::text::bigint + 1)::text::xid8, ARRAY(SELECT pg_snapshot_xip(pg_current_snapshot()))) END;
        RETURN 'settled';
    END IF;
    IF clock_timestamp() < state.settled_at + state.retention OR clock_timestamp() < state.turned_at + state.retention THEN RETURN 'early'; END IF;
    IF EXISTS (SELECT FROM kindred.tracking_consumer AS c
        WHERE c.epoch = state.epoch AND c.acknowledged_at + c.hold > clock_timestamp() AND NOT kindred.tracking_covers(c.cursor, state.settled))
    THEN
        RETURN 'held';
    END IF;
    BEGIN
        EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE NOWAIT', other);
    EXCEPTION WHEN lock_not_available THEN
        RETURN 'busy';
    END;
    EXECUTE format('TRUNCATE %s', other);
    UPDATE kindred.tracking_state AS s SET turn = s.turn + 1, turned_at = clock_timestamp(), settled_at = NULL, settled = NULL,
        horizon = coalesce(s.settled, s.horizon);
    PERFORM setval('kindred.tracking_turn', state.turn + 1);
    RETURN 'turned';
END $$;

-- Empties the outbox altogether, as before a dump; all cursors become too old.
CREATE OR REPLACE FUNCTION kindred.tracking_prune() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    LOCK TABLE kindred.tracking_state IN EXCLUSIVE MODE;
    LOCK TABLE kindred.tracking_outbox_0, kindred.tracking_outbox_1 IN ACCESS EXCLUSIVE MODE;
    TRUNCATE kindred.tracking_outbox_0, kindred.tracking_outbox_1;
    UPDATE kindred.tracking_state SET epoch = gen_random_uuid(), turn = turn + 1, turned_at = clock_timestamp(), settled_at = NULL, settled = NULL,
        horizon = NULL, returned = NULL;
    PERFORM setval('kindred.tracking_turn', (SELECT turn FROM kindred.tracking_state));
END $$;
-- Change tracking: cursors that are kept in the database.

-- The cursor of a consumer, which is made if there is none, and whether it is of this epoch.
CREATE OR REPLACE FUNCTION kindred.tracking_consumer_begin(consumer text, hold interval DEFAULT '7 days')
RETURNS TABLE (cursor pg_snapshot, epoch uuid, is_new boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    start CONSTANT pg_snapshot := kindred.tracking_begin();
    made integer;
BEGIN
    INSERT INTO kindred.tracking_consumer (name, epoch, cursor, hold)
    SELECT consumer, s.epoch, start, tracking_consumer_begin.hold FROM kindred.tracking_state AS s
    ON CONFLICT (name) DO NOTHING;
    GET DIAGNOSTICS made = ROW_COUNT;
    IF made = 0 THEN
        UPDATE kindred.tracking_consumer AS c SET hold = tracking_consumer_begin.hold, acknowledged_at = clock_timestamp() WHERE c.name = consumer;
    END IF;
    PERFORM kindred.tracking_attend();
    RETURN QUERY SELECT c.cursor, c.epoch, made = 1 FROM kindred.tracking_consumer AS c WHERE c.name = consumer;
END $$;

-- Moves a consumer's cursor on, in the consumer's own transaction. False if another has moved it meanwhile.
CREATE OR REPLACE FUNCTION kindred.tracking_acknowledge(consumer text, last pg_snapshot, next pg_snapshot, of_epoch uuid) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE kindred.tracking_consumer AS c SET cursor = next, epoch = of_epoch, acknowledged_at = clock_timestamp()
    WHERE c.name = consumer AND c.cursor::text = last::text;
    RETURN FOUND;
END $$;

CREATE OR REPLACE FUNCTION kindred.tracking_consumer_drop(consumer text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    DELETE FROM kindred.tracking_consumer AS c WHERE c.name = consumer;
    RETURN FOUND;
END $$;
-- Change tracking: what is there.

-- The tracked tables that the caller may learn of, and whether changes of them may be missing.
CREATE OR REPLACE FUNCTION kindred.tracking_tables()
RETURNS TABLE (relation oid, schema_name text, table_name text, root oid, key text[], fault text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT t.relation, t.schema_name, t.table_name, t.root, t.key, coalesce(kindred.tracking_fault(t.relation), t.gap)
    FROM kindred.tracking_table AS t
    WHERE kindred.tracking_sees(kindred.tracking_caller(), t.root) > 0
    ORDER BY t.schema_name COLLATE "C", t.table_name COLLATE "C"
$$;

-- State of the outbox: sizes in bytes, age of the oldest record, when records cease to be written.
CREATE OR REPLACE FUNCTION kindred.tracking_status()
RETURNS TABLE (version integer, retention interval, turn bigint, turned_at timestamptz, bytes bigint, oldest timestamptz, watched_until timestamptz,
    is_asleep boolean, has_event_triggers boolean, notifies boolean, consumers bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off SET enable_seqscan = off AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT s.version, s.retention, s.turn, s.turned_at,
        pg_total_relation_size('kindred.tracking_outbox_0') + pg_total_relation_size('kindred.tracking_outbox_1'),
        least((SELECT r.at FROM kindred.tracking_outbox_0 AS r ORDER BY r.xid LIMIT 1),
            (SELECT r.at FROM kindred.tracking_outbox_1 AS r ORDER BY r.xid LIMIT 1)),
        to_timestamp(pg_sequence_last_value('kindred.tracking_watch'::regclass)),
        pg_sequence_last_value('kindred.tracking_sleeper'::regclass) > extract(epoch FROM clock_timestamp()) * 1000,
        (SELECT count(*) = 2 FROM pg_event_trigger AS e WHERE e.evtname IN ('kindred_tracking_ddl', 'kindred_tracking_dropped') AND e.evtenabled <> 'D'),
        current_setting('max_prepared_transactions') = '0',
        (SELECT count(*) FROM kindred.tracking_consumer)
    FROM kindred.tracking_state AS s;
END $$;
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
        'tracking_consumer_drop')
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
