-- Change tracking: enabling and disabling tables.

-- The statements that are missing for a table to be tracked; none if all is in place. They name what they use with its schema, as
-- those of tracking_removals do: people run them, too, in sessions with any search path.
CREATE OR REPLACE FUNCTION kindred.tracking_statements(relation oid) RETURNS SETOF text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off AS $$
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
            RETURN NEXT kindred.tracking_function(place);
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
                AND t.root = top AND t.schema_name = n.nspname AND t.table_name = c.relname AND t.owner = pg_get_userbyid(c.relowner))
        THEN
            RETURN NEXT format('SELECT kindred.tracking_register(%s::pg_catalog.oid)', place);
        END IF;
    END LOOP;
END $$;

-- Notes that a table is tracked in its present form.
CREATE OR REPLACE FUNCTION kindred.tracking_register(relation oid) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off AS $$
    -- A table that was dropped and created again.
    DELETE FROM kindred.tracking_table AS t USING pg_class AS c, pg_namespace AS n
    WHERE c.oid = tracking_register.relation AND n.oid = c.relnamespace AND t.schema_name = n.nspname AND t.table_name = c.relname
        AND t.relation <> c.oid AND NOT EXISTS (SELECT FROM pg_class AS o WHERE o.oid = t.relation);
    INSERT INTO kindred.tracking_table (relation, schema_name, table_name, owner, root, key, digest)
    SELECT c.oid, n.nspname, c.relname, pg_get_userbyid(c.relowner), kindred.tracking_root(c.oid),
        kindred.tracking_key(kindred.tracking_root(c.oid)), kindred.tracking_digest(c.oid)
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.oid = tracking_register.relation
    ON CONFLICT (relation) DO UPDATE SET schema_name = excluded.schema_name, table_name = excluded.table_name,
        owner = excluded.owner, root = excluded.root, key = excluded.key, digest = excluded.digest, gap = NULL, gap_at = NULL;
$$;

-- One session at a time installs, enables and disables: another finds what this one has made. It waits for that for a minute, however
-- short the caller's time is for tables in use.
CREATE OR REPLACE FUNCTION kindred.tracking_enter() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET jit = off SET lock_timeout = '1min' AS $$
BEGIN
    PERFORM FROM kindred.tracking_gate AS g WHERE g.name = 'definition' FOR UPDATE;
END $$;

-- Puts in place what a table needs. Changes until now are no record's: the first record says so.
CREATE OR REPLACE FUNCTION kindred.tracking_enable(relation regclass) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET jit = off AS $$
DECLARE
    place oid;
    statement text;
    obstacle text;
    is_done boolean := false;
BEGIN
    PERFORM kindred.tracking_enter();
    FOR place IN SELECT t FROM kindred.tracking_tree(relation) AS t ORDER BY t LOOP
        obstacle := kindred.tracking_obstacle(place);
        IF obstacle IS NOT NULL THEN
            RAISE EXCEPTION '% cannot be tracked: %', relation,
                CASE WHEN place = relation THEN 'it ' || obstacle ELSE format('%s, which shares rows with it, %s', place::regclass, obstacle) END
                USING ERRCODE = 'KT002';
        END IF;
    END LOOP;
    INSERT INTO kindred.tracking_mending VALUES (pg_current_xact_id()) ON CONFLICT DO NOTHING;
    FOR statement IN SELECT s FROM kindred.tracking_statements(relation) AS s LOOP
        EXECUTE statement;
        is_done := true;
    END LOOP;
    DELETE FROM kindred.tracking_mending WHERE xid = pg_current_xact_id();
    IF is_done THEN
        PERFORM kindred.tracking_record(root, 'G', NULL, NULL, NULL, NULL, 'enabled')
        FROM (SELECT DISTINCT kindred.tracking_root(t) AS root FROM kindred.tracking_tree(relation) AS t) AS r;
    END IF;
END $$;

-- What takes away what a table was given, and with it its tree; nothing where nothing is recorded.
CREATE OR REPLACE FUNCTION kindred.tracking_removals(relation regclass) RETURNS SETOF text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off AS $$
DECLARE
    place oid;
    event text;
BEGIN
    FOR place IN SELECT t FROM kindred.tracking_tree(relation) AS t ORDER BY t LOOP
        CONTINUE WHEN NOT EXISTS (SELECT FROM kindred.tracking_table AS t WHERE t.relation = place);
        -- Readers are told that changes will be missing.
        RETURN NEXT format('SELECT kindred.tracking_record(%s::pg_catalog.oid, ''G'', NULL, NULL, NULL, NULL, ''disabled'')',
            kindred.tracking_root(place));
        FOREACH event IN ARRAY '{insert,update,delete,truncate}'::text[] LOOP
            RETURN NEXT format('DROP TRIGGER IF EXISTS kindred_tracking_%s ON %s', event, place::regclass);
        END LOOP;
        RETURN NEXT format('DROP FUNCTION IF EXISTS kindred.tracking_note_%s()', place);
        RETURN NEXT format('DELETE FROM kindred.tracking_table AS t WHERE t.relation OPERATOR(pg_catalog.=) %s', place);
    END LOOP;
END $$;

CREATE OR REPLACE FUNCTION kindred.tracking_disable(relation regclass) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET jit = off AS $$
DECLARE
    statement text;
BEGIN
    PERFORM kindred.tracking_enter();
    INSERT INTO kindred.tracking_mending VALUES (pg_current_xact_id()) ON CONFLICT DO NOTHING;
    FOR statement IN SELECT s FROM kindred.tracking_removals(relation) AS s LOOP EXECUTE statement; END LOOP;
    DELETE FROM kindred.tracking_mending WHERE xid = pg_current_xact_id();
END $$;

-- Forgets a table that was dropped, with its partitions.
CREATE OR REPLACE FUNCTION kindred.tracking_put_away(place oid) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET jit = off AS $$
DECLARE
    gone oid;
BEGIN
    FOR gone IN DELETE FROM kindred.tracking_table AS t WHERE place IN (t.relation, t.root)
        AND NOT EXISTS (SELECT FROM pg_class AS c WHERE c.oid = t.relation) RETURNING t.relation
    LOOP
        EXECUTE format('DROP FUNCTION IF EXISTS kindred.tracking_note_%s()', gone);
    END LOOP;
END $$;

-- The same by its name, in place of tracking_disable, which a table that is gone has no number for.
CREATE OR REPLACE FUNCTION kindred.tracking_forget(schema_name text, table_name text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET jit = off AS $$
BEGIN
    PERFORM kindred.tracking_enter();
    PERFORM kindred.tracking_put_away(t.relation) FROM kindred.tracking_table AS t
    WHERE t.schema_name = tracking_forget.schema_name AND t.table_name = tracking_forget.table_name
        AND NOT EXISTS (SELECT FROM pg_class AS c WHERE c.oid = t.relation);
END $$;
