-- Change tracking: announcements of row locks, made by the transactions that hold them.

-- An announcement holds as long as its transaction runs: a transaction's number is never given again, but for a crash, which
-- empties the table. So nothing has to be cleaned up for the sake of truth.
CREATE UNLOGGED TABLE IF NOT EXISTS kindred.tracking_lock (
    -- The transaction that has the lock, and the process that runs it.
    xid xid8 NOT NULL,
    pid integer NOT NULL,
    relation oid NOT NULL,
    -- The row, as the URI of an object ID.
    object text NOT NULL,
    announced_by name NOT NULL,
    note text NOT NULL,
    since timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- No role keeps another's note from being made.
    PRIMARY KEY (xid, object, announced_by)
);

-- Refuses a role that may not know of a table's rows: keys are data.
CREATE OR REPLACE FUNCTION kindred.tracking_require(place oid) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off AS $$
BEGIN
    IF kindred.tracking_sees(kindred.tracking_caller(), place) < 2 THEN
        RAISE EXCEPTION 'role % may not learn of all rows of %', quote_ident(kindred.tracking_caller()), place::regclass
            USING ERRCODE = '42501', HINT = 'It needs SELECT on the table, and no policy may hide rows from it.';
    END IF;
END $$;

-- Says that a transaction, which another connection runs, works on a row. False if it has said so before.
CREATE OR REPLACE FUNCTION kindred.tracking_announce(place oid, object text, holder xid8, holder_pid integer, note text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off AS $$
#variable_conflict use_column
DECLARE
    is_new boolean;
BEGIN
    PERFORM kindred.tracking_require(place), set_config('synchronous_commit', 'off', true);
    IF pg_xact_status(holder) IS DISTINCT FROM 'in progress' THEN
        RAISE EXCEPTION 'the transaction % has ended', holder USING ERRCODE = '25000';
    END IF;
    -- Every role sees who holds the lock of a transaction's number, and as whom its session began.
    IF NOT EXISTS (SELECT FROM pg_locks AS l JOIN pg_stat_activity AS a ON a.pid = l.pid
        WHERE l.locktype = 'transactionid' AND l.transactionid = holder::xid AND l.mode = 'ExclusiveLock' AND l.granted
            AND l.pid = holder_pid AND a.datname = current_database()
            AND (l.pid = pg_backend_pid() OR pg_has_role(session_user, a.usesysid, 'MEMBER')))
    THEN
        RAISE EXCEPTION 'process % does not run the transaction % for role %', holder_pid, holder, quote_ident(session_user)
            USING ERRCODE = '42501';
    END IF;
    DELETE FROM kindred.tracking_lock WHERE ctid = ANY (ARRAY(
        SELECT l.ctid FROM kindred.tracking_lock AS l WHERE pg_xact_status(l.xid) IS DISTINCT FROM 'in progress' FOR UPDATE SKIP LOCKED));
    INSERT INTO kindred.tracking_lock (xid, pid, relation, object, announced_by, note)
    VALUES (holder, holder_pid, place, tracking_announce.object, kindred.tracking_caller(), tracking_announce.note)
    ON CONFLICT (xid, object, announced_by) DO UPDATE SET note = excluded.note
    RETURNING tracking_lock.xmax = 0 INTO is_new;
    PERFORM pg_notify('kindred_tracking_locks', '');
    RETURN is_new;
END $$;

-- Takes announcements back; those of a transaction that has ended hold no more even before.
CREATE OR REPLACE FUNCTION kindred.tracking_withdraw(holder xid8, objects text[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off AS $$
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true), pg_notify('kindred_tracking_locks', '');
    DELETE FROM kindred.tracking_lock AS l
    WHERE l.xid = holder AND l.object = ANY (objects) AND kindred.tracking_belongs(kindred.tracking_caller(), l.announced_by);
END $$;

-- The announcements that hold now, of one table.
CREATE OR REPLACE FUNCTION kindred.tracking_locks(place oid)
RETURNS TABLE (object text, xid xid8, pid integer, announced_by name, note text, since timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off AS $$
#variable_conflict use_column
BEGIN
    PERFORM kindred.tracking_require(place);
    RETURN QUERY SELECT l.object, l.xid, l.pid, l.announced_by, l.note, l.since FROM kindred.tracking_lock AS l
    WHERE l.relation = place AND pg_xact_status(l.xid) = 'in progress' ORDER BY l.since, l.object;
END $$;
