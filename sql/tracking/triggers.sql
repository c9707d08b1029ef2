-- Change tracking: the trigger functions.

-- Which form a table has; the same for as long as its queries are. It is said to be IMMUTABLE so that a trigger's plan has
-- the answer and not the question: PostgreSQL makes the plan anew after each change of the table. A check at each call
-- would cost 110 us where the whole trigger costs 100.
CREATE OR REPLACE FUNCTION kindred.tracking_digest(relation oid) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp SET jit = off AS $$
    -- The first number is that of the form of tracking_function and tracking_query.
    SELECT md5(concat_ws(' ', 1, kindred.tracking_root(relation), kindred.tracking_key(kindred.tracking_root(relation)),
        (SELECT array_agg(c ORDER BY c) FROM kindred.tracking_children(relation) AS c),
        array_agg(ROW(a.attname, a.atttypid) ORDER BY a.attnum)))
    FROM pg_attribute AS a WHERE a.attrelid = relation AND a.attnum > 0 AND NOT a.attisdropped
$$;

-- Why a table cannot be tracked; NULL if it can.
CREATE OR REPLACE FUNCTION kindred.tracking_obstacle(relation oid) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off AS $$
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
-- Names of columns stand in the body, so it is quoted as a literal: a name may have any mark between dollars.
CREATE OR REPLACE FUNCTION kindred.tracking_function(relation oid) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off AS $$
    SELECT format('CREATE OR REPLACE FUNCTION kindred.tracking_note_%s() RETURNS pg_catalog.trigger '
        'LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off AS %L', relation, kindred.tracking_body(relation))
$$;

-- The body of that function.
CREATE OR REPLACE FUNCTION kindred.tracking_body(relation oid) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off AS $function$
DECLARE
    -- With children, each of them is named, too.
    others text := (SELECT string_agg(format('PERFORM kindred.tracking_record(%s::oid, op, NULL, NULL, NULL, key, reason);', c), ' ' ORDER BY c)
        FROM kindred.tracking_children(relation) AS c);
BEGIN
    RETURN format($text$
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
    IF n = 0 AND fits AND TG_RELID = %1$s THEN RETURN NULL; END IF;
    IF fits IS NOT TRUE OR TG_RELID <> %1$s THEN
        -- The table has changed since this was written, or it comes from a dump and has another number.
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
    -- PREPARE TRANSACTION refuses a transaction that has notified, and a full queue makes the commit of one that has fail.
    IF pg_sequence_last_value('kindred.tracking_sleeper'::regclass) > 0 THEN
        IF pg_sequence_last_value('kindred.tracking_sleeper'::regclass) > date_part('epoch', clock_timestamp()) * 1000
            AND current_setting('max_prepared_transactions') = '0' AND pg_notification_queue_usage() < 0.5
        THEN
            PERFORM pg_notify('kindred_tracking', '');
        END IF;
    END IF;
    RETURN NULL;
END $text$,
        relation, kindred.tracking_digest(relation), kindred.tracking_query(relation, 'INSERT'),
        kindred.tracking_query(relation, 'DELETE'), kindred.tracking_query(relation, 'UPDATE ONE'),
        kindred.tracking_query(relation, 'UPDATE'), kindred.tracking_root(relation),
        coalesce('IF fits AND op IN (''U'', ''D'') THEN ' || replace(replace(others, 'key, ', 'NULL, '), 'reason', 'NULL') || ' END IF;', ''));
END $function$;

-- Writes a record; what trigger functions do themselves where it is the usual case.
CREATE OR REPLACE FUNCTION kindred.tracking_record(place oid, op "char", keys text[], new_keys text[], columns text[], key text[], reason text)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off AS $$
DECLARE
    watch CONSTANT bigint := pg_sequence_last_value('kindred.tracking_watch'::regclass);
BEGIN
    IF watch < date_part('epoch', clock_timestamp()) THEN
        -- No reader is there: one record is enough.
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
