import Foundation
import KindredSchemaDifferences
import KindredTesting
import TestSupport
import Testing

/// A database, and what `pg_dump` writes of it, differ in nothing.
@Suite struct DumpTests {
    private func differencesWithDump() async throws -> SchemaDifferences {
        let uri = try TestDatabase.current.uri
        let dump = try await Self.output(of: "pg_dump", ["--schema-only", "--no-owner", uri])
        let source = SchemaSource.sql(dump, name: "dump.sql")
        return try await SchemaDifferences.between(try SchemaSource(argument: uri), source)
    }

    /// Runs a program that is installed, and returns its output.
    private static func output(of program: String, _ arguments: [String]) async throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [program] + arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return String(decoding: data, as: UTF8.self)
    }

    @Test(.enabled(if: Chinook.sql != nil, "chinook.sql is not at hand"), .database(.sql(Chinook.sql ?? "")))
    func chinook() async throws {
        let differences = try await differencesWithDump()
        #expect(differences.isEmpty, "\(differences.sql) \(differences.unmanaged)")
    }

    @Test(.database(.file("../../../sql/demo.sql"))) func demo() async throws {
        let differences = try await differencesWithDump()
        #expect(differences.isEmpty, "\(differences.sql) \(differences.unmanaged)")
    }

    /// Expressions that are known to be written in another way after each reading, and things of every kind.
    @Test(
        .database(
            #"""
            CREATE SCHEMA "a;b";
            CREATE TYPE "a;b".mood AS ENUM ('it''s', '\');
            CREATE DOMAIN code AS varchar(5) CHECK (VALUE IN ('a', 'b')) CHECK (VALUE ~ '^\w+$');
            CREATE TYPE pair AS (first integer, second text COLLATE "C");
            CREATE FUNCTION twice(integer) RETURNS integer LANGUAGE sql IMMUTABLE RETURN $1 * 2;
            CREATE TABLE thing (
                id integer GENERATED ALWAYS AS IDENTITY (START WITH 7 CYCLE), status varchar(10) DEFAULT 'new' NOT NULL,
                mood "a;b".mood[] DEFAULT '{"\\"}', double integer GENERATED ALWAYS AS (twice(7)) STORED, code code, pair pair,
                span tstzrange, at timestamptz DEFAULT '2024-01-01 00:00:00+00', PRIMARY KEY (id) INCLUDE (status),
                CHECK (status IN ('new', 'old')), CHECK (status = ANY ('{a,new}')),
                EXCLUDE USING gist (span WITH &&) WHERE (id > 3) DEFERRABLE INITIALLY DEFERRED);
            CREATE UNIQUE INDEX "odd ON ONLY index" ON thing (lower(status) COLLATE "C" DESC NULLS LAST) INCLUDE (at)
                WHERE status IN ('x', 'y');
            CREATE TABLE part (id integer, day date, ref integer REFERENCES thing, PRIMARY KEY (id, day))
                PARTITION BY RANGE (day);
            CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
            CREATE TABLE part_rest PARTITION OF part DEFAULT PARTITION BY HASH (id);
            CREATE TABLE part_hash PARTITION OF part_rest FOR VALUES WITH (MODULUS 1, REMAINDER 0);
            CREATE INDEX ON part (ref);
            CREATE TABLE child (more text) INHERITS (thing);
            ALTER TABLE thing ADD CONSTRAINT late CHECK (id < 100) NOT VALID;
            ALTER TABLE child ADD FOREIGN KEY (id) REFERENCES thing NOT VALID;
            CREATE VIEW young WITH (security_barrier) AS SELECT id, status FROM thing WHERE status IN ('new', 'x');
            CREATE VIEW grouped AS SELECT id, status, count(*) FROM thing GROUP BY id;
            CREATE MATERIALIZED VIEW counted AS SELECT status, count(*) AS n FROM young GROUP BY 1;
            CREATE UNIQUE INDEX ON counted (status);
            CREATE FUNCTION changed() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
            CREATE TRIGGER changes BEFORE UPDATE OF status ON thing FOR EACH ROW EXECUTE FUNCTION changed();
            ALTER TABLE thing DISABLE TRIGGER changes;
            ALTER TABLE part ENABLE ROW LEVEL SECURITY;
            CREATE POLICY mine ON part FOR SELECT TO PUBLIC USING (id > 0);
            COMMENT ON COLUMN young.status IS 'it''s \ new';
            COMMENT ON CONSTRAINT thing_pkey ON thing IS 'key';
            """#))
    func everyKind() async throws {
        let differences = try await differencesWithDump()
        #expect(differences.isEmpty, "\(differences.sql) \(differences.unmanaged)")
    }
}
