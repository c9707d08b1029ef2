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
    IF state.turn <> pg_sequence_last_value('kindred.tracking_turn'::regclass) THEN
        -- A turn was rolled back, which a sequence is not: writers write to the other outbox since. It is not emptied.
        UPDATE kindred.tracking_state AS s SET turn = pg_sequence_last_value('kindred.tracking_turn'::regclass),
            turned_at = clock_timestamp(), settled_at = NULL, settled = NULL;
        RETURN 'early';
    END IF;
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
    UPDATE kindred.tracking_state SET epoch = gen_random_uuid(), system = i.system, database = i.database, turn = turn + 1,
        turned_at = clock_timestamp(), settled_at = NULL, settled = NULL, horizon = pg_current_snapshot(), returned = NULL
    FROM kindred.tracking_identity() AS i;
    PERFORM setval('kindred.tracking_turn', (SELECT turn FROM kindred.tracking_state));
END $$;
