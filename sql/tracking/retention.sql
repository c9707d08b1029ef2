-- Change tracking: emptying the outbox.

-- Empties the outbox that is not in turn, once everything in it has been readable for the retention, and gives it the turn; the
-- answer says what was done. A reader calls it, and may keep its transaction open or roll it back: so no lock is taken that a
-- writer or a reader could meet, rows go by DELETE, which an older snapshot does not see, and the turn, which no rollback takes
-- back, is written last. `emptying` means: call again.
CREATE OR REPLACE FUNCTION kindred.tracking_rotate() RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off SET enable_seqscan = off AS $$
DECLARE
    state kindred.tracking_state;
    other text;
    last xid8;
    emptied bigint;
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN RETURN 'snapshot'; END IF;
    BEGIN
        SELECT * INTO STRICT state FROM kindred.tracking_state FOR UPDATE NOWAIT;
    EXCEPTION WHEN lock_not_available THEN
        RETURN 'busy';
    END;
    IF state.turn <> pg_sequence_last_value('kindred.tracking_turn'::regclass) THEN
        -- A turn was rolled back, which a sequence is not: writers write to the other outbox since. It is not emptied.
        UPDATE kindred.tracking_state AS s SET turn = pg_sequence_last_value('kindred.tracking_turn'::regclass),
            turned_at = clock_timestamp(), settled_at = NULL, settled = NULL;
        RETURN 'early';
    END IF;
    other := format('kindred.tracking_outbox_%s', 1 - state.turn % 2);
    IF state.settled_at IS NULL THEN
        -- Transactions that wrote to it hold a lock until they end, prepared ones too. One that has looked at the turn and writes
        -- only now is in no snapshot that is settled, and its records stay.
        IF EXISTS (SELECT FROM pg_locks AS l WHERE l.locktype = 'relation' AND l.relation = other::regclass
            AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
            AND l.mode IN ('RowExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock'))
        THEN
            RETURN 'busy';
        END IF;
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
    IF state.settled IS NOT NULL THEN
        EXECUTE format(
            'DELETE FROM %1$s WHERE ctid = ANY (ARRAY(SELECT r.ctid FROM %1$s AS r '
            'WHERE r.xid < pg_snapshot_xmax($1) AND pg_visible_in_snapshot(r.xid, $1) LIMIT 100000))', other) USING state.settled;
        GET DIAGNOSTICS emptied = ROW_COUNT;
        UPDATE kindred.tracking_state AS s SET horizon = s.settled WHERE s.horizon::text IS DISTINCT FROM s.settled::text;
        IF emptied = 100000 THEN RETURN 'emptying'; END IF;
    END IF;
    -- Every cursor that is good has seen the end of these writers.
    DELETE FROM kindred.tracking_return AS r USING kindred.tracking_state AS s
    WHERE r.number < pg_sequence_last_value('kindred.tracking_returns'::regclass) AND s.horizon IS NOT NULL
        AND NOT EXISTS (SELECT FROM pg_snapshot_xip(r.returned) AS x WHERE NOT pg_visible_in_snapshot(x, s.horizon));
    UPDATE kindred.tracking_state AS s SET turn = s.turn + 1, turned_at = clock_timestamp(), settled_at = NULL, settled = NULL;
    PERFORM setval('kindred.tracking_turn', state.turn + 1);
    RETURN 'turned';
END $$;

-- Begins anew where a dump has brought the records of another server or database; all cursors become too old. A reader calls it, whose
-- transaction may stay open: no writer waits.
CREATE OR REPLACE FUNCTION kindred.tracking_begin_anew() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off AS $$
BEGIN
    UPDATE kindred.tracking_state SET epoch = gen_random_uuid(), system = i.system, database = i.database,
        turned_at = clock_timestamp(), settled_at = NULL, settled = NULL, horizon = pg_current_snapshot()
    FROM kindred.tracking_identity() AS i;
    DELETE FROM kindred.tracking_outbox_0;
    DELETE FROM kindred.tracking_outbox_1;
    DELETE FROM kindred.tracking_return;
    PERFORM kindred.tracking_came_back();
END $$;

-- Empties the outbox altogether, as before a dump; all cursors become too old. For the installer: writers and readers wait for the
-- end of its transaction.
CREATE OR REPLACE FUNCTION kindred.tracking_prune() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET jit = off AS $$
BEGIN
    LOCK TABLE kindred.tracking_state IN EXCLUSIVE MODE;
    LOCK TABLE kindred.tracking_outbox_0, kindred.tracking_outbox_1 IN ACCESS EXCLUSIVE MODE;
    TRUNCATE kindred.tracking_outbox_0, kindred.tracking_outbox_1;
    UPDATE kindred.tracking_state SET epoch = gen_random_uuid(), system = i.system, database = i.database, turn = turn + 1,
        turned_at = clock_timestamp(), settled_at = NULL, settled = NULL, horizon = pg_current_snapshot(), prunes = prunes + 1
    FROM kindred.tracking_identity() AS i;
    PERFORM kindred.tracking_put_away(t.relation) FROM kindred.tracking_table AS t
    WHERE NOT EXISTS (SELECT FROM pg_class AS c WHERE c.oid = t.relation);
    -- Numbers of transactions may be those of another server.
    DELETE FROM kindred.tracking_return;
    PERFORM kindred.tracking_came_back();
    -- No rollback takes it back: it comes last.
    PERFORM setval('kindred.tracking_turn', s.turn), setval('kindred.tracking_prunes', s.prunes) FROM kindred.tracking_state AS s;
END $$;
