import KindredDDL
import KindredPostgres
import KindredSchemaDifferences
import KindredTesting
import Testing

/// Columns of the catalog that the library does not know, such as a newer server's, are compared by their values.
@Suite(
    .database(
        .sql(
            """
            CREATE TABLE t (id integer PRIMARY KEY);
            ALTER TABLE t ENABLE ROW LEVEL SECURITY;
            CREATE POLICY p ON t USING (true);
            CREATE SEQUENCE s;
            """)))
struct UnknownColumnTests {
    /// Gives the database's own catalog columns that no version of PostgreSQL has.
    private static let columns = """
        SET allow_system_table_mods = on;
        ALTER TABLE pg_catalog.pg_policy ADD COLUMN polnew text DEFAULT 'a';
        ALTER TABLE pg_catalog.pg_sequence ADD COLUMN seqnew boolean DEFAULT false;
        ALTER TABLE pg_catalog.pg_policy ADD COLUMN polcount bigint DEFAULT 1;
        """

    @Test func aDifferenceInOneIsNamed() async throws {
        try await withClient { client in
            let without = try await SnapshotReader.read(from: client)
            #expect(without.items.values.allSatisfy { !$0.settings.contains(where: \.isUnknown) })
            try await client.runScript(Self.columns)
            let before = try await SnapshotReader.read(from: client)
            // Only one of two servers has them.
            #expect(Unmanaged.lines(without, before).isEmpty && Unmanaged.lines(before, without).isEmpty)
            #expect(Unmanaged.lines(before, before).isEmpty)
            try await client.runScript(
                """
                SET allow_system_table_mods = on;
                UPDATE pg_catalog.pg_policy SET polnew = 'b', polcount = 2;
                UPDATE pg_catalog.pg_sequence SET seqnew = true;
                """)
            let after = try await SnapshotReader.read(from: client)
            #expect(
                Unmanaged.lines(before, after) == [
                    "The catalog column seqnew of the sequence public.s differs.",
                    "The catalog column polnew of the policy public.t.p differs.",
                ])
        }
    }

    /// A script's side is made on another server, which does not have them.
    @Test func aSideWithoutThemDoesNotDiffer() async throws {
        try await withClient { try await $0.runScript(Self.columns) }
        let script = """
            CREATE TABLE t (id integer PRIMARY KEY);
            ALTER TABLE t ENABLE ROW LEVEL SECURITY;
            CREATE POLICY p ON t USING (true);
            CREATE SEQUENCE s;
            """
        let differences = try await SchemaDifferences.between(
            .database(try PostgresConfiguration(uri: try TestDatabase.current.uri)), .sql(script, name: "script"))
        #expect(differences.isEmpty, "\(differences.unmanaged)")
    }

    private func withClient(_ body: (PostgresClient) async throws -> Void) async throws {
        let client = try await PostgresClient.connect(try PostgresConfiguration(uri: try TestDatabase.current.uri))
        try await body(client)
        await client.close()
    }
}
