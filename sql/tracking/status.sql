-- Change tracking: what is there.

-- The tracked tables that the caller may learn of, and whether changes of them may be missing.
CREATE OR REPLACE FUNCTION kindred.tracking_tables()
RETURNS TABLE (relation oid, schema_name text, table_name text, root oid, key text[], fault text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off AS $$
    SELECT t.relation, t.schema_name, t.table_name, t.root, t.key, coalesce(kindred.tracking_fault(t.relation), t.gap)
    FROM kindred.tracking_table AS t
    WHERE kindred.tracking_sees(kindred.tracking_caller(), t.root) > 0
    ORDER BY t.schema_name COLLATE "C", t.table_name COLLATE "C"
$$;

-- State of the outbox: sizes in bytes, age of the oldest record, when records cease to be written.
CREATE OR REPLACE FUNCTION kindred.tracking_status()
RETURNS TABLE (version integer, retention interval, turn bigint, turned_at timestamptz, bytes bigint, oldest timestamptz, watched_until timestamptz,
    is_asleep boolean, has_event_triggers boolean, notifies boolean, consumers bigint, longest_hold interval, cut_holds text[])
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
        (SELECT count(*) FROM kindred.tracking_consumer), s.longest_hold,
        -- Those that have asked for more, as far as they are the caller's business.
        ARRAY(SELECT c.name FROM kindred.tracking_consumer AS c WHERE c.asked_hold > c.hold
            AND (kindred.tracking_belongs(kindred.tracking_caller(), c.owner)
                OR kindred.tracking_belongs(kindred.tracking_caller(), kindred.tracking_installer()))
            ORDER BY c.name COLLATE "C")
    FROM kindred.tracking_state AS s;
END $$;
