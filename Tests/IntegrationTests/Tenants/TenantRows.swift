import Kindred
import KindredTesting
import Testing

/// Tables of several tenants, kept apart by a column; all texts of the second tenant say "secret".
///
/// There are rows of the first that refer to rows of the second, and a pair of the second's that names a task of the first.
let tenantSchema = """
    CREATE TABLE country (code text PRIMARY KEY, name text NOT NULL);
    CREATE TABLE project (
        id bigint PRIMARY KEY, tenant_id integer NOT NULL, name text NOT NULL, country_id text REFERENCES country,
        UNIQUE (tenant_id, id), UNIQUE (name));
    CREATE TABLE task (
        id bigint PRIMARY KEY, tenant_id integer NOT NULL, project_id bigint REFERENCES project, title text NOT NULL,
        size integer NOT NULL DEFAULT 1);
    CREATE TABLE label (id bigint PRIMARY KEY, tenant_id integer NOT NULL, name text NOT NULL);
    CREATE TABLE task_label (
        task_id bigint REFERENCES task ON DELETE CASCADE, label_id bigint REFERENCES label ON DELETE CASCADE,
        tenant_id integer NOT NULL, PRIMARY KEY (task_id, label_id));
    CREATE TABLE note (
        tenant_id integer, number integer, project_id bigint, text text NOT NULL, PRIMARY KEY (tenant_id, number),
        FOREIGN KEY (tenant_id, project_id) REFERENCES project (tenant_id, id));
    INSERT INTO country VALUES ('AT', 'Austria'), ('CH', 'Switzerland');
    INSERT INTO project VALUES (10, 1, 'garden', 'AT'), (20, 2, 'secret garden', 'AT');
    INSERT INTO task VALUES (11, 1, 10, 'dig', 1), (12, 1, 10, 'sow', 1), (13, 1, 10, 'reap', 1),
        (21, 2, 20, 'secret dig', 100), (22, 2, 20, 'secret sow', 100), (23, 2, 10, 'secret reap', 100);
    INSERT INTO label VALUES (15, 1, 'urgent'), (16, 1, 'late'), (25, 2, 'secret');
    INSERT INTO task_label VALUES (11, 15, 1), (21, 25, 2), (12, 15, 2);
    INSERT INTO note VALUES (1, 1, 10, 'gate'), (2, 1, 20, 'secret gate'), (2, 2, 20, 'secret fence');
    INSERT INTO task VALUES (14, 1, 20, 'stray', 1);
    INSERT INTO task_label VALUES (14, 25, 1), (14, 16, 1);
    """

/// The rows of all tenants but one, as another connection sees them.
func foreignRows(of tenant: Int, _ other: PostgresClient) async throws -> [PostgresValue?] {
    try await other.values(
        """
        SELECT 'project' || t::text FROM project AS t WHERE tenant_id <> \(tenant)
        UNION ALL SELECT 'task' || t::text FROM task AS t WHERE tenant_id <> \(tenant)
        UNION ALL SELECT 'label' || t::text FROM label AS t WHERE tenant_id <> \(tenant)
        UNION ALL SELECT 'pair' || t::text FROM task_label AS t WHERE tenant_id <> \(tenant)
        UNION ALL SELECT 'note' || t::text FROM note AS t WHERE tenant_id <> \(tenant) ORDER BY 1
        """)
}

extension Database {
    /// A context of a tenant by the column `tenant_id`.
    func context(ofTenant tenant: Int) throws -> DatabaseContext {
        try makeContext(tenant: ["tenant_id": tenant], setting: "app.tenant_id")
    }
}

/// Runs a body with a context of the first tenant, outside of a transaction and in one; afterwards the rows of the second are
/// as before.
func withTenantContext(
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: (_ context: DatabaseContext, _ database: Database, _ other: PostgresClient) async throws -> Void
) async throws {
    struct Undone: Error {}
    try await withDatabase { database, _, other in
        let before = try await foreignRows(of: 1, other)
        do {
            let context = try database.context(ofTenant: 1)
            try await context.transaction { () async throws in
                try await body(context, database, other)
                throw Undone()
            }
        } catch is Undone {}
        #expect(try await foreignRows(of: 1, other) == before, sourceLocation: sourceLocation)
        try await body(try database.context(ofTenant: 1), database, other)
        #expect(try await foreignRows(of: 1, other) == before, sourceLocation: sourceLocation)
    }
}

/// Expects that all objects are the first tenant's.
func expectOwnRows(
    _ objects: [DatabaseObject], _ count: Int, sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(objects.count == count, sourceLocation: sourceLocation)
    #expect(objects.allSatisfy { $0["tenant_id"] == 1 }, sourceLocation: sourceLocation)
}

/// Expects an error that names nothing of another tenant; within a transaction in a savepoint, which it ends.
func expectTenantError(
    _ code: KindredError.Code, _ context: DatabaseContext, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Void
) async {
    let error = await expectError(code, sourceLocation: sourceLocation) {
        try await context.transaction { () async throws in try await body() }
    }
    let text = error.map { String(reflecting: $0) } ?? ""
    #expect(!text.contains("secret"), "\(text)", sourceLocation: sourceLocation)
    context.rollback()
}
