import CommandSupport
import Foundation
import Kindred
import KindredCommand
import KindredLive
import KindredTesting

/// The tables of the tests of versions: one, a partitioned one, and a parent by inheritance.
let versionedTables = """
    CREATE TABLE person (id integer PRIMARY KEY, name text);
    CREATE TABLE reading (id integer PRIMARY KEY, text text) PARTITION BY RANGE (id);
    CREATE TABLE reading_1 PARTITION OF reading FOR VALUES FROM (0) TO (1000);
    CREATE TABLE document (id integer PRIMARY KEY);
    CREATE TABLE letter (address text, PRIMARY KEY (id)) INHERITS (document);
    """

/// Version 1 of the helper schema, as it was first landed.
func installVersionOne(_ client: PostgresClient) async throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "version-1.sql")
    try await client.runScript(String(contentsOf: file, encoding: .utf8))
}

/// Installs version 1 in the test's database, and lends a reader that has its place.
func withVersionOne(
    _ tables: String...,
    body: (_ database: Database, _ other: PostgresClient, _ reader: inout ChangeReader) async throws -> Void
) async throws {
    try await withDatabase { database, _, other in
        try await installVersionOne(other)
        for table in tables { try await other.query("SELECT kindred.tracking_enable(\(table)::text::regclass)") }
        var reader = try await ChangeReader(other)
        try await body(database, other, &reader)
    }
}

extension PostgresClient {
    /// The functions, tables, columns and constraints of the helper schema; without the tables' trigger functions.
    func helperSchema() async throws -> [String] {
        let rows = try await query(
            """
            SELECT concat_ws(' ', p.proname, pg_get_function_identity_arguments(p.oid), pg_get_function_result(p.oid),
                md5(p.prosrc), p.proconfig::text, p.prosecdef, p.provolatile, p.proacl::text, obj_description(p.oid, 'pg_proc'))
            FROM pg_proc AS p
            WHERE p.pronamespace = 'kindred'::regnamespace AND p.proname NOT LIKE 'tracking\\_note\\_%'
            UNION ALL
            SELECT concat_ws(' ', c.relname, c.relkind, c.relpersistence, a.attname, format_type(a.atttypid, a.atttypmod),
                a.attnotnull, pg_get_expr(d.adbin, d.adrelid), obj_description(c.oid, 'pg_class'))
            FROM pg_class AS c
            LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
            LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
            WHERE c.relnamespace = 'kindred'::regnamespace
            UNION ALL
            SELECT concat_ws(' ', c.conrelid::regclass, c.conname, pg_get_constraintdef(c.oid))
            FROM pg_constraint AS c WHERE c.connamespace = 'kindred'::regnamespace
            UNION ALL
            SELECT concat_ws(' ', e.evtname, e.evtevent, e.evtenabled, e.evtfoid::regproc) FROM pg_event_trigger AS e
            ORDER BY 1
            """)
        return try rows.map { try $0.decode(0, as: String.self) ?? "" }
    }

    /// The rows that an upgrade keeps, and the trigger functions.
    func trackedRows() async throws -> [String] {
        let rows = try await query(
            """
            SELECT s::text FROM kindred.tracking_state AS s
            UNION ALL SELECT t::text FROM kindred.tracking_table AS t
            UNION ALL SELECT c::text FROM kindred.tracking_consumer AS c
            UNION ALL SELECT r::text FROM kindred.tracking_outbox_0 AS r
            UNION ALL SELECT concat_ws(' ', p.proname, p.proacl::text, p.prosrc) FROM pg_proc AS p
                WHERE p.pronamespace = 'kindred'::regnamespace AND p.proname LIKE 'tracking\\_note\\_%'
            ORDER BY 1
            """)
        return try rows.map { try $0.decode(0, as: String.self) ?? "" }
    }

    /// The tables whose trigger functions are older than the installed version.
    func tablesWithOldFunctions() async throws -> [PostgresValue?] {
        try await values(
            """
            SELECT t.table_name FROM kindred.tracking_table AS t
            JOIN pg_proc AS p ON p.oid = to_regprocedure(format('kindred.tracking_note_%s()', t.relation))
            WHERE p.prosrc <> kindred.tracking_body(t.relation)
                OR t.digest <> kindred.tracking_digest(t.relation)
            ORDER BY t.table_name
            """)
    }

    func installedVersion() async throws -> PostgresValue? {
        try await value("SELECT version FROM kindred.tracking_state")
    }
}

/// Runs the tool on the test's database.
let runTool = DatabaseCommand()
