-- Change tracking: the reading statement, and what readers say of themselves.

-- The role that called a function of this schema, in which current_user is the owner of it. (What a reading calls is
-- PL/pgSQL, whose plans are kept.)
CREATE OR REPLACE FUNCTION kindred.tracking_caller() RETURNS name
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off AS $$
BEGIN
    RETURN CASE current_setting('role') WHEN 'none' THEN session_user ELSE current_setting('role')::name END;
END $$;

-- Whether a role is another, or a member of it. A role that is gone has no members.
CREATE OR REPLACE FUNCTION kindred.tracking_belongs(caller name, owner name) RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off AS $$
BEGIN
    RETURN EXISTS (SELECT FROM pg_roles AS r WHERE r.rolname = owner AND pg_has_role(caller, r.oid, 'MEMBER'));
END $$;

-- The role that installed this schema; its members may do everything here.
CREATE OR REPLACE FUNCTION kindred.tracking_installer() RETURNS name
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off AS
$$ SELECT pg_get_userbyid(c.relowner) FROM pg_class AS c WHERE c.oid = 'kindred.tracking_state'::regclass $$;

-- What a role may learn of a table's changes: 2 keys, 1 that there are changes, and of which kind and columns, 0 that there are changes.
CREATE OR REPLACE FUNCTION kindred.tracking_sees(caller name, place oid) RETURNS integer
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off AS $$
DECLARE
    role pg_roles;
    class pg_class;
BEGIN
    SELECT * INTO role FROM pg_roles AS r WHERE r.rolname = caller;
    IF role.rolsuper THEN RETURN 2; END IF;
    SELECT * INTO class FROM pg_class AS c WHERE c.oid = place;
    IF NOT FOUND THEN RETURN 1; END IF;
    IF NOT has_any_column_privilege(caller, place, 'SELECT') OR NOT has_schema_privilege(caller, class.relnamespace, 'USAGE') THEN
        RETURN 0;
    END IF;
    -- Keys are data: what a policy hides, no record shows.
    IF class.relrowsecurity AND NOT role.rolbypassrls AND (class.relforcerowsecurity OR NOT pg_has_role(caller, class.relowner, 'USAGE'))
        OR NOT has_table_privilege(caller, place, 'SELECT')
    THEN
        RETURN 1;
    END IF;
    RETURN 2;
END $$;

-- A text that differs after changes of a role's rights on a table, and of the roles that it is a member of.
CREATE OR REPLACE FUNCTION kindred.tracking_rights(caller name, place oid) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off AS $$
    WITH RECURSIVE held (oid) AS (
        SELECT r.oid FROM pg_roles AS r WHERE r.rolname = caller
        UNION
        SELECT m.roleid FROM held AS h JOIN pg_auth_members AS m ON m.member = h.oid
    )
    SELECT md5(concat_ws(' ', c.xmin, n.xmin,
        (SELECT string_agg(a.xmin::text, ',' ORDER BY a.attnum) FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attnum > 0),
        (SELECT string_agg(m.xmin::text, ',' ORDER BY m.roleid, m.member, m.grantor) FROM pg_auth_members AS m
            WHERE m.member IN (SELECT h.oid FROM held AS h))))
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.oid = place
$$;

-- Whether a cursor has seen all that a snapshot shows.
CREATE OR REPLACE FUNCTION kindred.tracking_covers(cursor pg_snapshot, snapshot pg_snapshot) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp SET jit = off AS $$
BEGIN
    RETURN snapshot IS NULL OR pg_snapshot_xmax(cursor) >= pg_snapshot_xmax(snapshot)
        AND NOT EXISTS (SELECT FROM pg_snapshot_xip(cursor) AS x WHERE pg_visible_in_snapshot(x, snapshot));
END $$;

-- A snapshot of which everything below a number is seen, except some.
CREATE OR REPLACE FUNCTION kindred.tracking_snapshot(xmax xid8, unseen xid8[]) RETURNS pg_snapshot
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp SET jit = off AS $$
DECLARE
    xip CONSTANT xid8[] := ARRAY(SELECT DISTINCT x FROM unnest(unseen) AS x WHERE x < xmax ORDER BY x);
BEGIN
    RETURN format('%s:%s:%s', coalesce(xip[1], xmax), xmax, array_to_string(xip, ','))::pg_snapshot;
END $$;

-- Which server, database and installation a connection reads; what a cursor has to agree with.
CREATE OR REPLACE FUNCTION kindred.tracking_identity()
RETURNS TABLE (version integer, compatible integer, epoch uuid, system bigint, timeline text, database oid, retention interval,
    notifies boolean)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off AS $$
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
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off AS $$
DECLARE
    state kindred.tracking_state;
    now_seconds CONSTANT bigint := extract(epoch FROM clock_timestamp());
    watch CONSTANT bigint := pg_sequence_last_value('kindred.tracking_watch'::regclass);
    timeline CONSTANT bigint := (c.system_identifier & 2147483647) << 32
        | ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::bigint FROM pg_control_system() AS c;
    wanted bigint;
BEGIN
    IF timeline IS DISTINCT FROM pg_sequence_last_value('kindred.tracking_timeline'::regclass) THEN
        PERFORM setval('kindred.tracking_timeline', timeline);
    END IF;
    SELECT * INTO STRICT state FROM kindred.tracking_state;
    wanted := now_seconds + greatest(1, extract(epoch FROM state.retention)::bigint);
    SELECT greatest(wanted, max(extract(epoch FROM c.acknowledged_at + c.hold))::bigint) INTO wanted FROM kindred.tracking_consumer AS c;
    -- No rollback takes either back; a return that is counted and not noted is noted by the next call.
    IF watch < now_seconds THEN PERFORM nextval('kindred.tracking_returns'); END IF;
    IF wanted > watch THEN PERFORM setval('kindred.tracking_watch', wanted); END IF;
    PERFORM kindred.tracking_came_back();
END $$;

-- Notes that a reader came back after none was there, if that is counted and not noted yet. All writers see the new watch.
CREATE OR REPLACE FUNCTION kindred.tracking_came_back() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off AS $$
DECLARE
    counted CONSTANT bigint := pg_sequence_last_value('kindred.tracking_returns'::regclass);
    own CONSTANT xid8 := CASE WHEN counted > 0 THEN pg_current_xact_id() END;
    base CONSTANT bigint := own::text::bigint / 4294967296 * 4294967296;
    below bigint;
BEGIN
    IF counted = 0 OR EXISTS (SELECT FROM kindred.tracking_return AS r WHERE r.number = counted) THEN RETURN; END IF;
    BEGIN
        -- In a subtransaction, whose number is above those of all that ran before the watch moved on; the transaction's own may be
        -- older.
        INSERT INTO kindred.tracking_return (number, xid, returned) VALUES (counted, own, pg_current_snapshot())
        RETURNING tracking_return.xmin::text::bigint + base INTO below;
    EXCEPTION WHEN unique_violation THEN
        RETURN;
    END;
    IF below < own::text::bigint THEN below := below + 4294967296; END IF;
    -- A snapshot lists only those that run below the last that has ended.
    UPDATE kindred.tracking_return AS r SET returned = kindred.tracking_snapshot(below::text::xid8, array_remove(
        ARRAY(SELECT pg_snapshot_xip(pg_current_snapshot())) || ARRAY(
            SELECT x::text::xid8 FROM generate_series(pg_snapshot_xmax(pg_current_snapshot())::text::bigint, below - 1) AS x), own))
    WHERE r.number = counted AND r.xid = own;
    BEGIN
        DELETE FROM kindred.tracking_unread WHERE ctid = ANY (ARRAY(
            SELECT u.ctid FROM kindred.tracking_unread AS u FOR UPDATE SKIP LOCKED));
    EXCEPTION WHEN object_not_in_prerequisite_state THEN
        -- The table is published, and has no replica identity yet. What stays there is of a watch that is over.
    END;
END $$;

-- A cursor from which on nothing is missed: no crash takes back what it has seen, once the call has returned.
CREATE OR REPLACE FUNCTION kindred.tracking_begin() RETURNS pg_snapshot
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off AS $$
DECLARE
    cursor pg_snapshot;
BEGIN
    -- What came with a dump was told elsewhere.
    IF EXISTS (SELECT FROM kindred.tracking_identity() AS i, kindred.tracking_state AS s
        WHERE (s.system, s.database) <> (i.system, i.database))
    THEN
        PERFORM kindred.tracking_begin_anew();
    END IF;
    PERFORM kindred.tracking_attend();
    cursor := pg_current_snapshot();
    PERFORM kindred.tracking_flush();
    RETURN cursor;
END $$;

-- Returns once everything is on disk that was visible before.
CREATE OR REPLACE FUNCTION kindred.tracking_flush() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off AS $$
BEGIN
    -- A commit waits for the disk only if its transaction has written to the log: nextval does so once in 32 times.
    PERFORM setval('kindred.tracking_flushed', 1), set_config('synchronous_commit', 'local', true);
END $$;

-- Says that the caller, which listens on kindred_tracking, will sleep for so long; it has to read once more before it does.
-- A minute is the longest: writers notify for as long. The answer is the number by which the caller says that it is awake.
CREATE OR REPLACE FUNCTION kindred.tracking_sleep(milliseconds integer) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off AS $$
DECLARE
    token CONSTANT bigint := nextval('kindred.tracking_token');
    until CONSTANT timestamptz := clock_timestamp() + least(greatest(milliseconds, 0), 60000) * interval '1 millisecond';
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    DELETE FROM kindred.tracking_sleep WHERE ctid = ANY (ARRAY(
        SELECT s.ctid FROM kindred.tracking_sleep AS s WHERE s.until < clock_timestamp() FOR UPDATE SKIP LOCKED));
    INSERT INTO kindred.tracking_sleep (token, role, until) VALUES (token, kindred.tracking_caller(), until);
    PERFORM setval('kindred.tracking_sleeper', greatest(pg_sequence_last_value('kindred.tracking_sleeper'::regclass),
        (extract(epoch FROM until) * 1000)::bigint));
    RETURN token;
END $$;

-- Says that the caller is awake; others stay asleep. Nobody is woken by another role, nor by a transaction that does not see who
-- sleeps: writers then notify until the time is over.
CREATE OR REPLACE FUNCTION kindred.tracking_wake(token bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off AS $$
DECLARE
    own timestamptz;
    others timestamptz;
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    DELETE FROM kindred.tracking_sleep AS s WHERE s.token = tracking_wake.token
        AND kindred.tracking_belongs(kindred.tracking_caller(), s.role) RETURNING s.until INTO own;
    IF own IS NULL OR current_setting('transaction_isolation') <> 'read committed'
        AND clock_timestamp() > transaction_timestamp() + interval '1 second'
    THEN
        RETURN;
    END IF;
    SELECT max(s.until) INTO others FROM kindred.tracking_sleep AS s WHERE s.until > clock_timestamp();
    IF pg_sequence_last_value('kindred.tracking_sleeper'::regclass) <= (extract(epoch FROM own) * 1000)::bigint THEN
        PERFORM setval('kindred.tracking_sleeper', coalesce((extract(epoch FROM others) * 1000)::bigint, 0));
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
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off
-- The plans are made once, when the outbox may be empty.
SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan AS $$
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
    is_waiting boolean;
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
    IF state.prunes <> pg_sequence_last_value('kindred.tracking_prunes'::regclass) THEN
        RAISE EXCEPTION 'the outbox has been emptied since the snapshot was taken' USING ERRCODE = '40001', HINT = 'Read again.';
    END IF;
    IF pg_sequence_last_value('kindred.tracking_returns'::regclass) > 0 AND NOT EXISTS (SELECT FROM kindred.tracking_return AS r
        WHERE r.number = pg_sequence_last_value('kindred.tracking_returns'::regclass))
    THEN
        RAISE EXCEPTION 'the snapshot does not show that a reader has come back' USING ERRCODE = '40001',
            HINT = 'Call tracking_attend(), and read again.';
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
    was_away := EXISTS (SELECT FROM kindred.tracking_return AS r, pg_snapshot_xip(r.returned) AS x
        WHERE NOT pg_visible_in_snapshot(x, cursor) AND pg_visible_in_snapshot(x, present));
    is_waiting := NOT is_flushed AND (has_asynchronous IS TRUE OR was_away);
    IF rest IS NOT NULL OR NOT is_flushed AND NOT is_waiting THEN
        next := kindred.tracking_snapshot(
            greatest(first, (SELECT (x::text::bigint + 1)::text::xid8 FROM unnest(chosen) AS x ORDER BY x DESC LIMIT 1)),
            ARRAY(SELECT pg_snapshot_xip(present)) || rest);
    END IF;
    RETURN QUERY SELECT next, rest IS NULL, is_waiting, NULL::bigint, NULL::xid8, NULL::timestamptz, NULL::oid, NULL::"char",
        NULL::smallint, NULL::text[], NULL::text[], NULL::text[], NULL::text[], NULL::text;
    IF was_away THEN
        -- They may have written no record, since no reader was there when they looked.
        RETURN QUERY SELECT NULL::pg_snapshot, NULL::boolean, NULL::boolean, 0::bigint, '0'::xid8, clock_timestamp(), s.root, 'G'::"char", 0::smallint,
            NULL::text[], NULL::text[], CASE WHEN s.sees = 0 THEN ARRAY[kindred.tracking_rights(caller, s.root)] END, NULL::text[],
            CASE WHEN s.sees = 0 THEN 'access' ELSE 'unread' END
        FROM (SELECT p.root, kindred.tracking_sees(caller, p.root) AS sees FROM (SELECT DISTINCT t.root FROM kindred.tracking_table AS t) AS p)
            AS s;
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
        UNION ALL
        SELECT NULL::pg_snapshot, NULL::boolean, NULL::boolean, min(r.seq), '0'::xid8, max(r.at), r.relation, 'G'::"char", 0::smallint,
            NULL::text[], NULL::text[], ARRAY[kindred.tracking_rights(caller, r.relation)], NULL::text[], 'access'
        FROM r JOIN s ON s.relation = r.relation
        WHERE s.sees = 0 AND (rest IS NULL OR r.xid IN (SELECT unnest(chosen)))
        GROUP BY r.relation
        ORDER BY 4;
END $$;
