-- Change tracking: cursors that are kept in the database. Records wait for them, so that each belongs to a role.

-- Refuses a consumer to a role that is no member of its owner, before anything of it is locked or changed. A role that readers name
-- as the owner has to be one of which they are members.
CREATE OR REPLACE FUNCTION kindred.tracking_consumer_require(consumer text, owner name DEFAULT NULL) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off AS $$
DECLARE
    caller CONSTANT name := kindred.tracking_caller();
BEGIN
    IF owner IS NOT NULL AND NOT kindred.tracking_belongs(caller, owner) THEN
        RAISE EXCEPTION 'role % is no member of role %, and cannot make it the owner of consumer "%"', quote_ident(caller),
            quote_ident(owner), consumer USING ERRCODE = 'KT004';
    END IF;
    IF EXISTS (SELECT FROM kindred.tracking_consumer AS c
        WHERE c.name = consumer AND c.owner IS NOT NULL AND NOT kindred.tracking_belongs(caller, c.owner))
    THEN
        RAISE EXCEPTION 'consumer "%" belongs to another role than %', consumer, quote_ident(caller) USING ERRCODE = 'KT004',
            HINT = 'Take another name, or have the role that installed change tracking call tracking_consumer_give.';
    END IF;
END $$;

-- The cursor of a consumer, which is made if there is none, and where it is of. A hold that is longer than the longest is cut.
CREATE OR REPLACE FUNCTION kindred.tracking_consumer_begin(consumer text, hold interval DEFAULT '7 days', owner name DEFAULT NULL)
RETURNS TABLE (cursor pg_snapshot, epoch uuid, system bigint, database oid)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off AS $$
#variable_conflict use_column
DECLARE
    start pg_snapshot;
BEGIN
    PERFORM kindred.tracking_consumer_require(consumer, tracking_consumer_begin.owner);
    start := kindred.tracking_begin();
    INSERT INTO kindred.tracking_consumer AS c (name, epoch, cursor, system, database, owner, hold, asked_hold)
    SELECT consumer, i.epoch, start, i.system, i.database, coalesce(tracking_consumer_begin.owner, kindred.tracking_caller()),
        greatest('0', least(tracking_consumer_begin.hold, s.longest_hold)), tracking_consumer_begin.hold
    FROM kindred.tracking_identity() AS i, kindred.tracking_state AS s
    -- Of one that belongs to nobody yet the hold is not shortened.
    ON CONFLICT (name) DO UPDATE SET acknowledged_at = clock_timestamp(),
        hold = CASE WHEN c.owner IS NULL THEN greatest(c.hold, excluded.hold) ELSE excluded.hold END,
        asked_hold = CASE WHEN c.owner IS NULL THEN greatest(c.asked_hold, excluded.asked_hold) ELSE excluded.asked_hold END
    -- Made by another role since it was looked for.
    WHERE c.owner IS NULL OR kindred.tracking_belongs(kindred.tracking_caller(), c.owner);
    IF NOT FOUND THEN PERFORM kindred.tracking_consumer_require(consumer); END IF;
    PERFORM kindred.tracking_attend();
    RETURN QUERY SELECT c.cursor, c.epoch, c.system, c.database FROM kindred.tracking_consumer AS c WHERE c.name = consumer;
END $$;

-- Moves a consumer's cursor on, in the consumer's own transaction. False if another has moved it meanwhile.
CREATE OR REPLACE FUNCTION kindred.tracking_acknowledge(consumer text, last pg_snapshot, next pg_snapshot, of_epoch uuid) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off AS $$
BEGIN
    PERFORM kindred.tracking_consumer_require(consumer);
    -- A batch that is acknowledged after a later one takes nothing back.
    UPDATE kindred.tracking_consumer AS c SET
        cursor = CASE WHEN c.epoch = of_epoch AND kindred.tracking_covers(c.cursor, next) THEN c.cursor ELSE next END,
        epoch = of_epoch, system = i.system, database = i.database, acknowledged_at = clock_timestamp(),
        owner = coalesce(c.owner, kindred.tracking_caller())
    FROM kindred.tracking_identity() AS i WHERE c.name = consumer AND c.cursor::text = last::text
        AND (c.owner IS NULL OR kindred.tracking_belongs(kindred.tracking_caller(), c.owner));
    RETURN FOUND;
END $$;

-- Of a consumer that belongs to nobody yet only the installer gets rid.
CREATE OR REPLACE FUNCTION kindred.tracking_consumer_drop(consumer text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off AS $$
BEGIN
    IF NOT kindred.tracking_belongs(kindred.tracking_caller(), kindred.tracking_installer()) THEN
        PERFORM kindred.tracking_consumer_require(consumer);
        IF EXISTS (SELECT FROM kindred.tracking_consumer AS c WHERE c.name = consumer AND c.owner IS NULL) THEN
            RAISE EXCEPTION 'consumer "%" belongs to no role until one acknowledges', consumer USING ERRCODE = 'KT004';
        END IF;
    END IF;
    DELETE FROM kindred.tracking_consumer AS c WHERE c.name = consumer;
    RETURN FOUND;
END $$;

-- Hands a consumer to another role; for the installer.
CREATE OR REPLACE FUNCTION kindred.tracking_consumer_give(consumer text, role regrole) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET jit = off AS $$
BEGIN
    UPDATE kindred.tracking_consumer AS c SET owner = pg_get_userbyid(role) WHERE c.name = consumer;
    RETURN FOUND;
END $$;
