import Kindred
import KindredTesting
import Testing

/// A table of notes, and a table without policies, for tenants that the setting `app.tenant` keeps apart.
let notesOfTenants = """
    CREATE TABLE topic (id integer PRIMARY KEY, name text NOT NULL);
    CREATE TABLE note (
        id integer PRIMARY KEY, tenant integer NOT NULL, topic_id integer REFERENCES topic ON DELETE CASCADE, text text,
        rank integer NOT NULL DEFAULT 0);
    ALTER TABLE note ENABLE ROW LEVEL SECURITY;
    CREATE POLICY own ON note USING (tenant = (SELECT nullif(current_setting('app.tenant', true), '')::integer));
    GRANT ALL ON topic, note TO PUBLIC;
    INSERT INTO topic VALUES (1, 'one'), (2, 'two');
    INSERT INTO note VALUES (1, 1, 1, 'a'), (2, 1, 1, 'b'), (3, 1, 2, 'c'), (11, 2, 1, 'x'), (12, 2, 1, 'y');
    """

/// Lends a database whose connections see all rows, and whose contexts take a role to which policies apply.
func withLiveTenants(
    _ body: (_ tenants: LiveTenants, _ other: PostgresClient) async throws -> Void
) async throws {
    try await withLive("topic", "note") { database, _, other in
        let role = "tenants_\(UInt32.random(in: 0..<UInt32.max))"
        try await other.query("CREATE ROLE \(identifier: role)")
        let result: Result<Void, any Error>
        do {
            try await body(LiveTenants(database: database, role: role), other)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await database.close(timeout: .zero)
        try await other.query("DROP OWNED BY \(identifier: role)")
        try await other.query("DROP ROLE \(identifier: role)")
        try result.get()
    }
}

/// A database with a role for the contexts of its tenants.
struct LiveTenants: Sendable {
    let database: Database
    let role: String

    func context(of tenant: Int, tracking: ContextTracking = .none) throws -> DatabaseContext {
        try database.makeContext(settings: ["app.tenant": tenant], role: role, tracking: tracking)
    }

    func notes(of tenant: Int) async throws -> LiveRequest<DatabaseObject>.AsyncIterator {
        try await context(of: tenant).fetch("note").sorted("id").live().makeAsyncIterator()
    }
}
