-- Change tracking: what a table looks like, and the query that its triggers ask.

-- The table that a partition is part of; of other tables the table itself.
CREATE OR REPLACE FUNCTION kindred.tracking_root(relation oid) RETURNS oid
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off AS
$$ SELECT coalesce(pg_partition_root(relation)::oid, relation) $$;

-- All tables that share rows with one: partitions and roots, parents and children.
CREATE OR REPLACE FUNCTION kindred.tracking_tree(relation oid) RETURNS SETOF oid
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off AS $$
    WITH RECURSIVE tree (oid) AS (
        SELECT relation
        UNION
        SELECT CASE WHEN i.inhrelid = t.oid THEN i.inhparent ELSE i.inhrelid END
        FROM tree AS t JOIN pg_inherits AS i ON t.oid IN (i.inhrelid, i.inhparent)
    )
    SELECT oid FROM tree
$$;

-- The tables whose rows a statement on a parent by inheritance changes, too; none for partitioned tables.
CREATE OR REPLACE FUNCTION kindred.tracking_children(relation oid) RETURNS SETOF oid
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off AS $$
    WITH RECURSIVE below (oid) AS (
        SELECT i.inhrelid FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhparent
        WHERE i.inhparent = relation AND c.relkind = 'r'
        UNION
        SELECT i.inhrelid FROM below AS b JOIN pg_inherits AS i ON i.inhparent = b.oid
    )
    SELECT oid FROM below
$$;

-- The columns that name a row: the primary key; without one, of the UNIQUE constraints and unique indexes over NOT NULL columns the
-- replica identity, else a constraint, then the one over the fewest columns, then the first by name.
CREATE OR REPLACE FUNCTION kindred.tracking_key(relation oid) RETURNS text[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off AS $$
    SELECT coalesce(
        (SELECT k.names
         FROM (
            SELECT c.conkey AS columns, c.contype = 'p' AS is_primary, coalesce(i.indisreplident, false) AS is_identity,
                true AS is_constraint, c.conname::text AS name
            FROM pg_constraint AS c LEFT JOIN pg_index AS i ON i.indexrelid = c.conindid
            WHERE c.conrelid = tracking_key.relation AND c.contype IN ('p', 'u')
            UNION ALL
            SELECT (i.indkey::int2[])[0:i.indnkeyatts - 1], false, i.indisreplident, false, n.relname::text
            FROM pg_index AS i JOIN pg_class AS n ON n.oid = i.indexrelid
            WHERE i.indrelid = tracking_key.relation AND i.indisunique AND i.indisvalid AND i.indimmediate AND NOT i.indisexclusion
                AND i.indexprs IS NULL AND i.indpred IS NULL
                AND NOT EXISTS (SELECT FROM pg_constraint AS c WHERE c.conindid = i.indexrelid AND c.contype IN ('p', 'u'))
                -- It tells values apart as the columns do.
                AND NOT EXISTS (
                    SELECT FROM ROWS FROM (unnest(i.indkey::int2[]), unnest(i.indclass::oid[]), unnest(i.indcollation::oid[]))
                        AS e (number, class, collated)
                    JOIN pg_opclass AS o ON o.oid = e.class
                    JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = e.number
                    WHERE e.collated <> a.attcollation OR NOT o.opcdefault AND NOT EXISTS (
                        SELECT FROM pg_amop AS p JOIN pg_amop AS q ON q.amopopr = p.amopopr
                        JOIN pg_opclass AS d ON d.opcfamily = q.amopfamily
                        WHERE p.amopfamily = o.opcfamily AND p.amoplefttype = o.opcintype AND p.amoprighttype = o.opcintype
                            AND p.amopstrategy = 3 AND q.amopstrategy = 3 AND q.amopmethod = o.opcmethod
                            AND d.opcmethod = o.opcmethod AND d.opcdefault AND d.opcintype = o.opcintype))
         ) AS c
         CROSS JOIN LATERAL (
            SELECT array_agg(a.attname::text ORDER BY n.place) AS names, bool_and(a.attnotnull) AS is_not_null
            FROM unnest(c.columns) WITH ORDINALITY AS n (number, place)
            JOIN pg_attribute AS a ON a.attrelid = tracking_key.relation AND a.attnum = n.number
         ) AS k
         WHERE k.is_not_null
         ORDER BY NOT c.is_primary, NOT c.is_identity, NOT c.is_constraint, cardinality(c.columns), c.name COLLATE "C" LIMIT 1), '{}')
$$;

-- A value as text that does not depend on the settings of the session that writes.
CREATE OR REPLACE FUNCTION kindred.tracking_text(value anyelement) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off SET DateStyle = 'ISO, YMD' SET IntervalStyle = 'postgres'
SET TimeZone = 'UTC' SET extra_float_digits = 1 SET bytea_output = 'hex' SET lc_monetary = 'C' AS
$$ SELECT format('%s', value) $$;

-- The query that a trigger asks its transition tables: number of rows (at most 1,001), keys, keys after an
-- update that changed some, changed columns. `event` is INSERT, DELETE, UPDATE, or UPDATE ONE, for one row and faster: without
-- the number.
CREATE OR REPLACE FUNCTION kindred.tracking_query(relation oid, event text) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off AS $$
DECLARE
    key text[] := kindred.tracking_key(kindred.tracking_root(relation));
    -- Key and columns as SQL; of rows "old" and "new", under names that no column has.
    old_key text;
    new_key text;
    differs text;
    names text;
    any_names text;
    few CONSTANT text := '(SELECT count(*) AS n FROM (SELECT FROM %I LIMIT 1001) AS few) AS "kindred count"';
BEGIN
    -- Transition tables do not say which child a row is of.
    IF key = '{}' OR event <> 'INSERT' AND EXISTS (SELECT FROM kindred.tracking_children(relation)) THEN
        RETURN 'SELECT n, NULL::text[] AS keys, NULL::text[] AS new_keys, NULL::text[] AS columns FROM '
            || format(few, CASE event WHEN 'DELETE' THEN 'old_rows' ELSE 'new_rows' END);
    END IF;
    SELECT string_agg(replace(t.form, '?', format('"kindred old".%I', k.name)), ', ' ORDER BY k.place),
        string_agg(replace(t.form, '?', format('"kindred new".%I', k.name)), ', ' ORDER BY k.place),
        format('record_image_ne(ROW(%s), ROW(%s))', string_agg(format('"kindred old".%I', k.name), ', ' ORDER BY k.place),
            string_agg(format('"kindred new".%I', k.name), ', ' ORDER BY k.place))
    INTO STRICT old_key, new_key, differs
    FROM unnest(key) WITH ORDINALITY AS k (name, place)
    JOIN pg_attribute AS a ON a.attrelid = tracking_query.relation AND a.attname = k.name
    CROSS JOIN LATERAL (
        SELECT CASE
            WHEN a.atttypid IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype, 'oid'::regtype, 'text'::regtype,
                'varchar'::regtype, 'uuid'::regtype, 'numeric'::regtype, 'name'::regtype, 'bool'::regtype) THEN '?::text'
            ELSE 'kindred.tracking_text(?)' END AS form
    ) AS t;
    IF event IN ('INSERT', 'DELETE') THEN
        -- Of several columns' keys, one array for all rows.
        RETURN format(
            'SELECT n, CASE WHEN n <= 1000 THEN %1$s END AS keys, NULL::text[] AS new_keys, NULL::text[] AS columns '
            'FROM (SELECT count(*) AS n, array_agg(%2$s) AS k FROM (SELECT * FROM %3$I LIMIT 1001) AS %4$I) AS "kindred rows"',
            CASE cardinality(key) WHEN 1 THEN 'k' ELSE 'ARRAY(SELECT unnest(k))' END,
            format(CASE cardinality(key) WHEN 1 THEN '%s' ELSE 'ARRAY[%s]' END,
                CASE event WHEN 'DELETE' THEN old_key ELSE new_key END),
            CASE event WHEN 'DELETE' THEN 'old_rows' ELSE 'new_rows' END,
            CASE event WHEN 'DELETE' THEN 'kindred old' ELSE 'kindred new' END);
    END IF;
    SELECT string_agg(format('CASE WHEN record_image_ne(ROW("kindred old".%1$I), ROW("kindred new".%1$I)) THEN %1$L END', a.attname), ', '
            ORDER BY a.attnum),
        string_agg(format('CASE WHEN bool_or(record_image_ne(ROW("kindred old".%1$I), ROW("kindred new".%1$I))) THEN %1$L END', a.attname),
            ', ' ORDER BY a.attnum)
    INTO names, any_names
    FROM pg_attribute AS a WHERE a.attrelid = tracking_query.relation AND a.attnum > 0 AND NOT a.attisdropped;
    IF event = 'UPDATE ONE' THEN
        -- Of more than one row each old one is joined with each new one, and the first two rows tell.
        RETURN format(
            'SELECT ARRAY[%1$s] AS keys, CASE WHEN %2$s THEN ARRAY[%3$s] END AS new_keys, array_remove(ARRAY[%4$s], NULL) AS columns '
            'FROM old_rows AS "kindred old", new_rows AS "kindred new"', old_key, differs, new_key, names);
    END IF;
    -- Old and new rows come in the same order. A row whose move to another partition a trigger prevented has no new one.
    RETURN format(
        'SELECT CASE WHEN is_few THEN changed ELSE n END AS n, CASE WHEN is_few THEN %1$s END AS keys, '
        'CASE WHEN is_few AND moved THEN %2$s END AS new_keys, CASE WHEN is_few THEN columns END AS columns FROM ('
        'SELECT greatest(o, n) AS n, n <= 1000 AND o = n AS is_few FROM '
        '(SELECT count(*) AS o FROM (SELECT FROM old_rows LIMIT 1001) AS few) AS "kindred old count", %3$s) AS "kindred counts", '
        'LATERAL (SELECT count(*) AS changed, array_agg(%4$s) AS old_keys, array_agg(%5$s) AS new_keys, bool_or(%6$s) AS moved, '
        'array_remove(ARRAY[%7$s], NULL) AS columns FROM '
        '(SELECT row_number() OVER () AS "kindred place", * FROM old_rows LIMIT 1001) AS "kindred old" JOIN '
        '(SELECT row_number() OVER () AS "kindred place", * FROM new_rows LIMIT 1001) AS "kindred new" USING ("kindred place") '
        'WHERE "kindred counts".is_few AND "kindred old" OPERATOR(pg_catalog.*<>) "kindred new") AS "kindred rows"',
        CASE cardinality(key) WHEN 1 THEN 'old_keys' ELSE 'ARRAY(SELECT unnest(old_keys))' END,
        CASE cardinality(key) WHEN 1 THEN '"kindred rows".new_keys' ELSE 'ARRAY(SELECT unnest("kindred rows".new_keys))' END,
        format(few, 'new_rows'),
        format(CASE cardinality(key) WHEN 1 THEN '%s' ELSE 'ARRAY[%s]' END, old_key),
        format(CASE cardinality(key) WHEN 1 THEN '%s' ELSE 'ARRAY[%s]' END, new_key), differs, any_names);
END $$;
