-- Change tracking: what others do to tracked tables.

-- Why changes of a registered table may be missing; NULL if none are.
CREATE OR REPLACE FUNCTION kindred.tracking_fault(relation oid) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off AS $$
    SELECT CASE
        WHEN NOT EXISTS (SELECT FROM pg_class AS c WHERE c.oid = relation) THEN 'dropped'
        WHEN kindred.tracking_obstacle(relation) IS NOT NULL THEN 'untrackable'
        WHEN (SELECT count(*) FROM pg_trigger AS t WHERE t.tgrelid = relation AND t.tgname LIKE 'kindred\_tracking\_%'
            AND t.tgfoid = to_regprocedure(format('kindred.tracking_note_%s()', relation))) < 4 THEN 'trigger missing'
        WHEN EXISTS (SELECT FROM pg_trigger AS t WHERE t.tgrelid = relation AND t.tgname LIKE 'kindred\_tracking\_%' AND t.tgenabled <> 'A')
            THEN 'trigger disabled'
        WHEN EXISTS (SELECT FROM kindred.tracking_tree(relation) AS p
            WHERE NOT EXISTS (SELECT FROM kindred.tracking_table AS t WHERE t.relation = p)) THEN 'partition or child not tracked'
        WHEN NOT EXISTS (SELECT FROM kindred.tracking_table AS t WHERE t.relation = tracking_fault.relation
            AND t.digest = kindred.tracking_digest(relation)) THEN 'changed'
        END
$$;

-- Puts a table in order that is tracked or shares rows with one that is, and says what was wrong. A table in use is left
-- for the next time, so that no writer waits for it.
CREATE OR REPLACE FUNCTION kindred.tracking_mend(place oid, reason text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off SET lock_timeout = '20ms' AS $$
DECLARE
    statement text;
BEGIN
    -- A trigger that was disabled stays disabled: that had a reason.
    IF EXISTS (SELECT FROM pg_trigger AS t JOIN kindred.tracking_tree(place) AS p ON p = t.tgrelid
        WHERE t.tgname LIKE 'kindred\_tracking\_%' AND t.tgenabled = 'D')
    THEN
        RETURN false;
    END IF;
    -- Statements of this schema are no DDL to tell of.
    INSERT INTO kindred.tracking_mending VALUES (pg_current_xact_id()) ON CONFLICT DO NOTHING;
    BEGIN
        FOR statement IN SELECT s FROM kindred.tracking_statements(place) AS s LOOP EXECUTE statement; END LOOP;
    EXCEPTION WHEN OTHERS THEN
        DELETE FROM kindred.tracking_mending WHERE xid = pg_current_xact_id();
        UPDATE kindred.tracking_table AS t SET gap = coalesce(reason, 'SQLSTATE ' || SQLSTATE) WHERE t.relation = place;
        RETURN false;
    END;
    DELETE FROM kindred.tracking_mending WHERE xid = pg_current_xact_id();
    RETURN true;
END $$;

-- Tells readers of the tables that DDL has changed, where a superuser's event triggers note them in a schema of their own (events.sql).
-- Two readers may tell the same, which harms nothing.
CREATE OR REPLACE FUNCTION kindred.tracking_tell() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off AS $$
DECLARE
    item record;
BEGIN
    -- In a schema of that name stands what its owner likes: only a superuser's is read.
    IF NOT EXISTS (SELECT FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
        JOIN pg_roles AS s ON s.oid = n.nspowner JOIN pg_roles AS t ON t.oid = c.relowner
        WHERE n.nspname = 'kindred_ddl' AND c.relname = 'tracking_change' AND c.relkind = 'r' AND s.rolsuper AND t.rolsuper
            AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT'))
    THEN
        RETURN;
    END IF;
    FOR item IN EXECUTE 'SELECT c.relation, ''ddl '' || c.xid::text AS fault FROM kindred_ddl.tracking_change AS c
        WHERE c.at > clock_timestamp() - interval ''12 hours'' AND NOT EXISTS (SELECT FROM kindred.tracking_told AS g
            WHERE g.relation = c.relation AND g.fault = ''ddl '' || c.xid::text)'
    LOOP
        PERFORM kindred.tracking_record(coalesce((SELECT t.root FROM kindred.tracking_table AS t WHERE t.relation = item.relation),
            kindred.tracking_root(item.relation), item.relation), 'S', NULL, NULL, NULL, NULL, 'ddl');
        INSERT INTO kindred.tracking_told (relation, fault, at) VALUES (item.relation, item.fault, clock_timestamp());
    END LOOP;
END $$;

-- Looks for tables whose changes may be missing, and records a gap for each: at once, and for as long as it stays every ten seconds.
-- For the installer it mends what may be mended; a reader's transaction, which may stay open, takes no lock that another needs.
-- Returns what is still wrong.
CREATE OR REPLACE FUNCTION kindred.tracking_check()
RETURNS TABLE (relation oid, name text, fault text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off AS $$
#variable_conflict use_column
DECLARE
    item record;
    found_at oid;
    is_mended boolean;
    mends boolean := kindred.tracking_belongs(kindred.tracking_caller(), kindred.tracking_installer());
BEGIN
    PERFORM kindred.tracking_tell();
    IF mends THEN
        -- Two at once would be in each other's way.
        PERFORM FROM kindred.tracking_gate AS g WHERE g.name = 'mending' FOR UPDATE SKIP LOCKED;
        mends := FOUND;
    END IF;
    IF mends THEN
        DELETE FROM kindred.tracking_told WHERE ctid = ANY (ARRAY(SELECT g.ctid FROM kindred.tracking_told AS g
            WHERE g.at < clock_timestamp() - interval '1 day' FOR UPDATE SKIP LOCKED));
        -- A table that was given to another role is the same table.
        UPDATE kindred.tracking_table AS t SET owner = pg_get_userbyid(c.relowner)
        FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE c.oid = t.relation AND n.nspname = t.schema_name AND c.relname = t.table_name AND t.owner <> pg_get_userbyid(c.relowner);
    END IF;
    FOR item IN SELECT t.relation, t.root, t.schema_name, t.table_name, t.owner, t.gap, t.gap_at, kindred.tracking_fault(t.relation) AS fault
        FROM kindred.tracking_table AS t ORDER BY t.relation
    LOOP
        CONTINUE WHEN item.fault IS NULL AND item.gap IS NULL;
        IF NOT mends THEN
            CONTINUE WHEN item.fault IS NULL;
            IF item.gap IS DISTINCT FROM item.fault AND NOT EXISTS (SELECT FROM kindred.tracking_told AS g
                    WHERE g.relation = item.relation AND g.fault = item.fault)
                OR item.fault <> 'dropped' AND coalesce(item.gap_at, '-infinity') < clock_timestamp() - interval '9 seconds'
                    AND NOT EXISTS (SELECT FROM kindred.tracking_told AS g WHERE g.relation = item.relation
                        AND g.fault = item.fault AND g.at > clock_timestamp() - interval '9 seconds')
            THEN
                PERFORM kindred.tracking_record(item.root, 'G', NULL, NULL, NULL, NULL, item.fault);
                DELETE FROM kindred.tracking_told WHERE ctid = ANY (ARRAY(SELECT g.ctid FROM kindred.tracking_told AS g
                    WHERE g.relation = item.relation AND g.fault NOT LIKE 'ddl %' FOR UPDATE SKIP LOCKED));
                INSERT INTO kindred.tracking_told (relation, fault, at) VALUES (item.relation, item.fault, clock_timestamp());
            END IF;
            RETURN QUERY SELECT item.relation, format('%I.%I', item.schema_name, item.table_name), item.fault;
            CONTINUE;
        END IF;
        IF item.fault = 'dropped' THEN
            -- What another role has made there is another table.
            found_at := (SELECT c.oid FROM pg_class AS c
                WHERE c.oid = to_regclass(format('%I.%I', item.schema_name, item.table_name)) AND pg_get_userbyid(c.relowner) = item.owner);
            IF found_at IS NOT NULL AND kindred.tracking_obstacle(found_at) IS NULL AND kindred.tracking_mend(found_at, 'created again') THEN
                PERFORM kindred.tracking_record(kindred.tracking_root(found_at), 'G', NULL, NULL, NULL, NULL, 'created again');
                EXECUTE format('DROP FUNCTION IF EXISTS kindred.tracking_note_%s()', item.relation);
                CONTINUE;
            END IF;
            -- Whoever makes it again does so soon.
            IF found_at IS NULL AND item.gap = 'dropped'
                AND item.gap_at < clock_timestamp() - (SELECT s.retention FROM kindred.tracking_state AS s)
            THEN
                PERFORM kindred.tracking_put_away(item.relation);
                CONTINUE;
            END IF;
        ELSIF item.fault IS DISTINCT FROM 'untrackable' THEN
            is_mended := kindred.tracking_mend(item.relation, item.fault);
            -- By itself: a statement does not see what it has called.
            IF is_mended AND kindred.tracking_fault(item.relation) IS NULL THEN
                PERFORM kindred.tracking_record(kindred.tracking_root(item.relation), 'G', NULL, NULL, NULL, NULL,
                    coalesce(item.fault, item.gap));
                CONTINUE;
            END IF;
        END IF;
        IF item.gap IS DISTINCT FROM item.fault OR item.gap_at IS NULL
            OR item.gap_at < clock_timestamp() - interval '9 seconds' AND item.fault <> 'dropped'
        THEN
            PERFORM kindred.tracking_record(item.root, 'G', NULL, NULL, NULL, NULL, item.fault);
            UPDATE kindred.tracking_table AS t SET gap = item.fault, gap_at = clock_timestamp() WHERE t.relation = item.relation;
        END IF;
        RETURN QUERY SELECT item.relation, format('%I.%I', item.schema_name, item.table_name), item.fault;
    END LOOP;
END $$;

-- DDL: readers are told, and tables that share rows with tracked ones are tracked, too. It must never make DDL fail.
CREATE OR REPLACE FUNCTION kindred.tracking_ddl() RETURNS event_trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off AS $$
DECLARE
    place oid;
    tree oid[];
BEGIN
    IF EXISTS (SELECT FROM kindred.tracking_mending AS m WHERE m.xid = pg_current_xact_id_if_assigned()) THEN RETURN; END IF;
    FOR place IN
        SELECT DISTINCT c FROM pg_event_trigger_ddl_commands() AS d
        CROSS JOIN LATERAL kindred.tracking_concerned(d.classid, d.objid) AS c
        WHERE d.objid <> 'kindred'::regnamespace
            AND NOT d.in_extension AND d.schema_name IS DISTINCT FROM 'pg_temp' AND d.schema_name IS DISTINCT FROM 'kindred'
    LOOP
        BEGIN
            tree := ARRAY(SELECT t FROM kindred.tracking_tree(place) AS t);
            IF EXISTS (SELECT FROM kindred.tracking_table AS t WHERE t.relation = ANY (tree))
                OR EXISTS (SELECT FROM kindred.tracking_table AS t JOIN pg_class AS c ON c.relname = t.table_name
                    JOIN pg_namespace AS n ON n.oid = c.relnamespace AND n.nspname = t.schema_name
                    WHERE c.oid = place AND pg_get_userbyid(c.relowner) = t.owner
                        AND NOT EXISTS (SELECT FROM pg_class AS o WHERE o.oid = t.relation))
            THEN
                IF NOT EXISTS (SELECT FROM unnest(tree) AS t WHERE kindred.tracking_obstacle(t) IS NOT NULL) THEN
                    PERFORM kindred.tracking_mend(place, 'changed');
                END IF;
            END IF;
            PERFORM kindred.tracking_record(kindred.tracking_root(place), 'S', NULL, NULL, NULL, NULL, 'ddl');
        EXCEPTION WHEN OTHERS THEN
            -- Readers find it by themselves.
        END;
    END LOOP;
END $$;

CREATE OR REPLACE FUNCTION kindred.tracking_dropped() RETURNS event_trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off AS $$
DECLARE
    place oid;
BEGIN
    FOR place IN
        SELECT DISTINCT CASE WHEN d.classid = 'pg_class'::regclass THEN d.objid
            ELSE to_regclass(format('%I.%I', d.address_names[1], d.address_names[2]))::oid END
        FROM pg_event_trigger_dropped_objects() AS d
        WHERE (d.classid = 'pg_class'::regclass AND d.object_type IN ('table', 'view', 'materialized view', 'foreign table', 'table column')
                OR (d.object_type IN ('policy', 'rule') OR d.object_type = 'trigger' AND d.address_names[3] LIKE 'kindred\_tracking\_%')
                    AND to_regclass(format('%I.%I', d.address_names[1], d.address_names[2])) IS NOT NULL)
            AND NOT d.is_temporary AND d.schema_name IS DISTINCT FROM 'kindred'
    LOOP
        BEGIN
            PERFORM kindred.tracking_record(coalesce((SELECT t.root FROM kindred.tracking_table AS t WHERE t.relation = place), place), 'S', NULL, NULL, NULL, NULL, 'dropped');
        EXCEPTION WHEN OTHERS THEN
        END;
    END LOOP;
END $$;

DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = current_user AND rolsuper) THEN
        DROP EVENT TRIGGER IF EXISTS kindred_tracking_ddl;
        DROP EVENT TRIGGER IF EXISTS kindred_tracking_dropped;
        CREATE EVENT TRIGGER kindred_tracking_ddl ON ddl_command_end EXECUTE FUNCTION kindred.tracking_ddl();
        CREATE EVENT TRIGGER kindred_tracking_dropped ON sql_drop EXECUTE FUNCTION kindred.tracking_dropped();
        ALTER EVENT TRIGGER kindred_tracking_ddl ENABLE ALWAYS;
        ALTER EVENT TRIGGER kindred_tracking_dropped ENABLE ALWAYS;
    END IF;
END $$;
