import KindredPostgres
import KindredSchema
import KindredTesting
import Testing

/// PostgreSQL answers the library's questions to the catalog, whatever other roles have created in the search path.
@Suite(
    .database(
        .sql(
            """
            CREATE TYPE mood AS ENUM ('low', 'high');
            CREATE DOMAIN code AS varchar(8);
            CREATE TYPE place AS (x integer, y text);
            CREATE TABLE maker (id bigint PRIMARY KEY, name varchar(40) UNIQUE, mood mood, codes code[], at place);
            CREATE TABLE thing (id bigint PRIMARY KEY, maker bigint NOT NULL REFERENCES maker);
            CREATE UNIQUE INDEX ON thing (maker) WHERE id > 7;
            COMMENT ON CONSTRAINT thing_maker_fkey ON thing IS '@kindred {"name": "producer"}';
            CREATE VIEW named AS SELECT id, name FROM maker;
            """)))
struct CatalogSafetyTests {
    /// Functions and operators with the names and arguments of PostgreSQL's own, which end every statement that uses
    /// one, and types and tables with names of the catalog.
    private static let traps = """
        CREATE SCHEMA evil;
        DO $$
        DECLARE
            o record;
            f record;
        BEGIN
            FOR o IN
                SELECT DISTINCT oprname, oprleft::regtype AS l, oprright::regtype AS r, oprresult::regtype AS result
                FROM pg_operator
                WHERE oprkind = 'b' AND oprname IN ('=', '<>', '>=', '>', '&', '~~', '!~~')
                    AND oprleft IN (
                        'oid'::regtype, 'int2'::regtype, 'int4'::regtype, 'int8'::regtype, 'name'::regtype,
                        '"char"'::regtype, 'text'::regtype, 'bool'::regtype, 'anyarray'::regtype)
                UNION
                SELECT n, l::regtype, r::regtype, 'bool'::regtype
                FROM unnest(ARRAY['=', '<>', '>=', '>']) AS n, unnest(ARRAY['oid', 'int2', 'int4']) AS l,
                    unnest(ARRAY['oid', 'int2', 'int4']) AS r
                UNION
                SELECT n, l::regtype, l::regtype, 'bool'::regtype
                FROM unnest(ARRAY['=', '<>', '~~', '!~~']) AS n, unnest(ARRAY['name', '"char"', 'regclass', 'text']) AS l
            LOOP
                EXECUTE format(
                    'CREATE OR REPLACE FUNCTION evil.%I(%s, %s) RETURNS %s LANGUAGE plpgsql AS
                        $f$ BEGIN RAISE ''an operator of somebody else''; END $f$',
                    'trap ' || o.result, o.l, o.r, o.result);
                EXECUTE format(
                    'CREATE OPERATOR evil.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = evil.%I)',
                    o.oprname, o.l, o.r, 'trap ' || o.result);
            END LOOP;
            FOR f IN
                SELECT p.proname, pg_get_function_identity_arguments(p.oid) AS arguments, p.prorettype::regtype AS result,
                    p.proretset
                FROM pg_proc AS p
                WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind = 'f' AND p.provariadic = 0
                    AND p.proname IN (
                        'current_schemas', 'has_table_privilege', 'has_schema_privilege', 'has_column_privilege',
                        'has_any_column_privilege', 'format_type', 'pg_get_expr', 'pg_relation_is_updatable', 'unnest',
                        'to_regtype', 'pg_xact_status', 'pg_is_in_recovery', 'pg_walfile_name', 'substr', 'set_config',
                        'pg_current_wal_insert_lsn', 'pg_current_xact_id_if_assigned')
            LOOP
                EXECUTE format(
                    'CREATE FUNCTION evil.%I(%s) RETURNS %s %s LANGUAGE plpgsql AS
                        $f$ BEGIN RAISE ''a function of somebody else''; END $f$',
                    f.proname, f.arguments, CASE WHEN f.proretset THEN 'SETOF' END, f.result);
            END LOOP;
        END $$;
        CREATE TABLE evil.pg_class (oid oid);
        CREATE TABLE evil.pg_attribute (oid oid);
        CREATE TABLE evil.pg_type (oid oid);
        CREATE TABLE evil.pg_constraint (oid oid);
        CREATE TYPE evil.text AS (x integer);
        CREATE TYPE evil.int8 AS (x integer);
        CREATE TYPE evil.oid AS (x integer);
        CREATE TYPE evil.xid8 AS (x integer);
        CREATE TYPE evil.regclass AS (x integer);
        """

    @Test func theCatalogIsReadPastFunctionsOperatorsAndTypesOfOthers() async throws {
        var expected: DatabaseSchema?
        try await withClient { client in
            expected = try await SchemaReader.read(from: client)
            try await client.runScript(Self.traps)
        }
        try await withClient(configure: { $0.settings["search_path"] = "evil, pg_catalog, public" }) { client in
            // The traps do work.
            for sql: SQL in ["SELECT 1 = 1", "SELECT to_regtype('int4')", "SELECT oid FROM pg_class LIMIT 1"] {
                let rows = try? await client.query(sql)
                #expect(rows?.count ?? 0 == 0)
            }
            let schema = try await SchemaReader.read(from: client)
            #expect(schema.entities.filter { $0.name.schema == "public" } == expected?.entities)
            #expect(schema.entities.count { $0.name.schema == "public" } == 3)
            try await client.loadTypes()
            try await client.withTransaction { _ in
                let inside = try await SchemaReader.read(from: client)
                #expect(inside.entities == schema.entities)
            }
            let codec = PostgresCodec {
                .string($0.text ?? "")
            } encode: {
                Array($0.description.utf8)
            }
            try await client.register(codec, forTypeNamed: "public.mood")
            try await client.withTransaction(tracksCommit: true) { _ in
                try await client.query("INSERT INTO public.maker (id) VALUES (1)")
            }
        }
    }
}
