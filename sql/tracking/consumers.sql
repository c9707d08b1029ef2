-- Change tracking: cursors that are kept in the database.

-- The cursor of a consumer, which is made if there is none, and where it is of.
CREATE OR REPLACE FUNCTION kindred.tracking_consumer_begin(consumer text, hold interval DEFAULT '7 days')
RETURNS TABLE (cursor pg_snapshot, epoch uuid, system bigint, database oid)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    start CONSTANT pg_snapshot := kindred.tracking_begin();
BEGIN
    INSERT INTO kindred.tracking_consumer (name, epoch, cursor, system, database, hold)
    SELECT consumer, i.epoch, start, i.system, i.database, tracking_consumer_begin.hold FROM kindred.tracking_identity() AS i
    ON CONFLICT (name) DO UPDATE SET hold = excluded.hold, acknowledged_at = clock_timestamp();
    PERFORM kindred.tracking_attend();
    RETURN QUERY SELECT c.cursor, c.epoch, c.system, c.database FROM kindred.tracking_consumer AS c WHERE c.name = consumer;
END $$;

-- Moves a consumer's cursor on, in the consumer's own transaction. False if another has moved it meanwhile.
CREATE OR REPLACE FUNCTION kindred.tracking_acknowledge(consumer text, last pg_snapshot, next pg_snapshot, of_epoch uuid) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- A batch that is acknowledged after a later one takes nothing back.
    UPDATE kindred.tracking_consumer AS c SET
        cursor = CASE WHEN c.epoch = of_epoch AND kindred.tracking_covers(c.cursor, next) THEN c.cursor ELSE next END,
        epoch = of_epoch, system = i.system, database = i.database, acknowledged_at = clock_timestamp()
    FROM kindred.tracking_identity() AS i WHERE c.name = consumer AND c.cursor::text = last::text;
    RETURN FOUND;
END $$;

CREATE OR REPLACE FUNCTION kindred.tracking_consumer_drop(consumer text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    DELETE FROM kindred.tracking_consumer AS c WHERE c.name = consumer;
    RETURN FOUND;
END $$;
