import EmbeddedPostgres
import KindredPostgres
import Testing

/// The schema that an embedded server prints by its own `pg_dump`.
@Suite struct SchemaDumpTests {
    @Test func itHasNeitherCommentsNorOwnersNorTheSchemaOfTheLibrary() async throws {
        let server = try await EmbeddedPostgres.shared()
        let name = "kindred dump? \(UInt64.random(in: 0...UInt64.max))"
        let maintenance = try await PostgresClient.connect(try PostgresConfiguration(uri: server.uri))
        try await maintenance.query("CREATE DATABASE \(identifier: name) TEMPLATE template0")
        do {
            let client = try await PostgresClient.connect(try PostgresConfiguration(uri: server.uri(database: name)))
            try await client.runScript(
                """
                CREATE TABLE t (id integer); COMMENT ON TABLE t IS 'words'; INSERT INTO t VALUES (4711);
                CREATE SCHEMA kindred; CREATE TABLE kindred.own (id integer);
                """)
            await client.close()
            let dump = try #require(try await server.schemaDump(of: name))
            #expect(dump.contains("CREATE TABLE public.t (\n    id integer\n);"))
            for word in ["words", "4711", "OWNER TO", "kindred.own"] { #expect(!dump.contains(word), "\(word)") }
        } catch {
            Issue.record("\(error)")
        }
        try await maintenance.query("DROP DATABASE \(identifier: name) WITH (FORCE)")
        await maintenance.close()
        let error = await #expect(throws: EmbeddedPostgresError.self) { try await server.schemaDump(of: name) }
        #expect(error?.code == .launchFailed && error?.message.contains("does not exist") == true)
    }
}
