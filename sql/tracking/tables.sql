-- Change tracking: tables and sequences.

-- What changes seldom; one row. What triggers have to know at once is kept in sequences, see below.
CREATE TABLE IF NOT EXISTS kindred.tracking_state (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    version integer NOT NULL,
    -- The oldest version of the library that can read what this version writes.
    compatible integer NOT NULL,
    -- Cursors are good for one epoch: from the installation, or the last time that the outbox was emptied, on.
    epoch uuid NOT NULL DEFAULT gen_random_uuid(),
    -- Whose numbers of transactions the outbox has; a dump takes it to other servers and databases.
    system bigint NOT NULL,
    database oid NOT NULL,
    -- How long a record stays after it could be read; it may be up to twice as long.
    retention interval NOT NULL DEFAULT '1 hour',
    -- How long a consumer may have records wait for it, at most.
    longest_hold interval NOT NULL DEFAULT '30 days',
    -- The turn as readers' snapshots see it, and when it began.
    turn bigint NOT NULL DEFAULT 0,
    turned_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- When, and in which snapshot, all writers of the outbox that is not in turn were found to have ended.
    settled_at timestamptz,
    settled pg_snapshot,
    -- How often all was emptied by TRUNCATE, which older snapshots see.
    prunes bigint NOT NULL DEFAULT 0,
    -- What was emptied: a cursor that has not seen all of it is too old.
    horizon pg_snapshot
);

-- The tables whose changes are recorded, partitions and children by inheritance too.
CREATE TABLE IF NOT EXISTS kindred.tracking_table (
    relation oid PRIMARY KEY,
    -- Its name, so that a table that is dropped and created again is known.
    schema_name text NOT NULL,
    table_name text NOT NULL,
    -- Who owned it, by name as a dump takes it along: what another role makes under the table's name is not put in order.
    owner name NOT NULL,
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

-- The tables for which it is recorded that no reader is there; empty while a reader is there.
CREATE TABLE IF NOT EXISTS kindred.tracking_unread (relation oid NOT NULL, since bigint NOT NULL);

-- What readers noted that came back after none was there; each for itself, so that none waits for another's transaction.
CREATE TABLE IF NOT EXISTS kindred.tracking_return (
    -- Which return it was, as the sequence tracking_returns counts them.
    number bigint NOT NULL,
    -- The transaction that noted it.
    xid xid8 NOT NULL,
    -- Writers that ran in this snapshot may have written no record.
    returned pg_snapshot NOT NULL,
    PRIMARY KEY (number, xid)
);

-- Transactions in which this schema changes tables: that is no DDL to tell of. A setting every role may make.
CREATE TABLE IF NOT EXISTS kindred.tracking_mending (xid xid8 PRIMARY KEY);

-- The gaps that readers have told of: rows that nobody waits for, in a transaction however long.
CREATE UNLOGGED TABLE IF NOT EXISTS kindred.tracking_told (
    relation oid NOT NULL,
    fault text NOT NULL,
    at timestamptz NOT NULL
);

-- Readers that sleep, and until when; each is woken by its own role alone.
CREATE UNLOGGED TABLE IF NOT EXISTS kindred.tracking_sleep (
    token bigint PRIMARY KEY,
    role name NOT NULL,
    until timestamptz NOT NULL
);

-- The cursors of consumers that go on where they were.
CREATE TABLE IF NOT EXISTS kindred.tracking_consumer (
    name text PRIMARY KEY,
    epoch uuid NOT NULL,
    cursor pg_snapshot NOT NULL,
    -- Where the cursor is of: a dump takes it to other servers and databases, whose numbers of transactions are others.
    system bigint NOT NULL,
    database oid NOT NULL,
    -- The role whose members may use it; NULL for one of an older version that no role has acknowledged since.
    owner name,
    -- How long records wait for it after it was last heard of, and how long it has asked for.
    hold interval NOT NULL,
    asked_hold interval NOT NULL,
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
                -- I, U, D: rows were inserted, updated, deleted; T: truncated; G: gap; A: changes while no reader was there;
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
        -- The statement would lock out writers even where the index is there.
        IF to_regclass(format('kindred.tracking_outbox_%s_xid', i)) IS NULL THEN
            EXECUTE format('CREATE INDEX tracking_outbox_%1$s_xid ON kindred.tracking_outbox_%1$s (xid)', i);
        END IF;
    END LOOP;
END $$;

CREATE SEQUENCE IF NOT EXISTS kindred.tracking_seq;

-- What every writer has to know at once: a sequence's value is the same in every snapshot, also in that of a transaction
-- with REPEATABLE READ that began an hour ago, is never rolled back, and costs a microsecond.

-- Which outbox is written: the one of the turn's last bit.
CREATE SEQUENCE IF NOT EXISTS kindred.tracking_turn MINVALUE 0 START 0;
-- How often all was emptied, as every snapshot sees it.
CREATE SEQUENCE IF NOT EXISTS kindred.tracking_prunes MINVALUE 0 START 0;
-- Until when records are wanted, in seconds since 1970: readers and waiting consumers move it on.
CREATE SEQUENCE IF NOT EXISTS kindred.tracking_watch MINVALUE 0 START 0;
-- Until when a reader sleeps that is to be woken, in milliseconds since 1970; 0 while none does.
CREATE SEQUENCE IF NOT EXISTS kindred.tracking_sleeper MINVALUE 0 START 0;
-- The numbers of tracking_sleep.
CREATE SEQUENCE IF NOT EXISTS kindred.tracking_token;
-- How often a reader came back after none was there. It is counted before the watch moves on; whether it was noted, too, is seen by
-- tracking_return: a transaction that is rolled back takes its note back, and not what it did to a sequence.
CREATE SEQUENCE IF NOT EXISTS kindred.tracking_returns MINVALUE 0 START 0;
-- A number to write, so that a commit has something to flush.
CREATE SEQUENCE IF NOT EXISTS kindred.tracking_flushed;
-- The timeline to which the primary writes: a standby that shows it has replayed what was written there. Above it stand 31 bits of the
-- system's identifier, as a dump takes the number to other servers.
CREATE SEQUENCE IF NOT EXISTS kindred.tracking_timeline MINVALUE 0 START 0;

-- A publication FOR ALL TABLES has ours, too, and then no row of a table is deleted that cannot be named. A table that writers use
-- is left for the next installation: what deletes from it goes on without.
DO $$
DECLARE
    item record;
BEGIN
    FOR item IN SELECT c.oid::regclass AS name FROM pg_class AS c
        WHERE c.relnamespace = 'kindred'::regnamespace AND c.relname IN ('tracking_outbox_0', 'tracking_outbox_1', 'tracking_unread')
            AND c.relreplident <> 'f'
    LOOP
        BEGIN
            EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE NOWAIT', item.name);
            EXECUTE format('ALTER TABLE %s REPLICA IDENTITY FULL', item.name);
        EXCEPTION WHEN lock_not_available THEN
        END;
    END LOOP;
    -- Until version 3 the last return was in the state.
    IF EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = 'kindred.tracking_state'::regclass AND a.attname = 'returned'
        AND NOT a.attisdropped)
    THEN
        INSERT INTO kindred.tracking_return (number, xid, returned)
        SELECT 0, pg_current_xact_id(), s.returned FROM kindred.tracking_state AS s WHERE s.returned IS NOT NULL;
        ALTER TABLE kindred.tracking_state DROP COLUMN returned;
    END IF;
END $$;

INSERT INTO kindred.tracking_state (version, compatible, system, database)
SELECT current_setting('kindred.tracking_version')::integer, 1, c.system_identifier, d.oid
FROM pg_control_system() AS c, pg_database AS d WHERE d.datname = current_database()
    -- Where nothing changes, a reader's transaction that holds the row is not waited for, as ON CONFLICT would.
    AND NOT EXISTS (SELECT FROM kindred.tracking_state);
UPDATE kindred.tracking_state SET version = current_setting('kindred.tracking_version')::integer, compatible = 1
WHERE version <> current_setting('kindred.tracking_version')::integer OR compatible <> 1;

SELECT setval('kindred.tracking_turn', 0) WHERE pg_sequence_last_value('kindred.tracking_turn'::regclass) IS NULL;
SELECT setval('kindred.tracking_prunes', 0) WHERE pg_sequence_last_value('kindred.tracking_prunes'::regclass) IS NULL;
SELECT setval('kindred.tracking_returns', 0) WHERE pg_sequence_last_value('kindred.tracking_returns'::regclass) IS NULL;
SELECT setval('kindred.tracking_sleeper', 0) WHERE pg_sequence_last_value('kindred.tracking_sleeper'::regclass) IS NULL;
SELECT setval('kindred.tracking_watch', extract(epoch FROM clock_timestamp() + retention)::bigint)
FROM kindred.tracking_state WHERE pg_sequence_last_value('kindred.tracking_watch'::regclass) IS NULL;
