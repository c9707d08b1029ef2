import Kindred
import KindredTesting
import Testing

/// Lends a database whose role owns no table, with a client that does; the role is dropped afterwards.
func withTenants(
    maximumConnections: Int = 3, requiredSettings: [String] = [],
    _ body: (_ database: Database, _ admin: PostgresClient, _ role: String) async throws -> Void
) async throws {
    try await withClient { admin in
        let role = "tenants_\(UInt32.random(in: 0..<UInt32.max))"
        try await admin.query("CREATE ROLE \(identifier: role) LOGIN")
        do {
            var configuration = admin.configuration
            configuration.user = role
            configuration.pool.maximumConnections = maximumConnections
            let database = try await Database.connect(configuration, requiredSettings: requiredSettings)
            do {
                try await body(database, admin, role)
            } catch {
                await database.close(timeout: .zero)
                throw error
            }
            await database.close()
        } catch {
            _ = try? await admin.query("DROP ROLE \(identifier: role)")
            throw error
        }
        try await admin.query("DROP ROLE \(identifier: role)")
    }
}

/// Tables of two organizations, whose rows policies keep apart by the setting `app.organization`: the second's rows all
/// say "secret" somewhere.
let organizationSchema = """
    CREATE TABLE project (
        id bigint PRIMARY KEY, organization integer NOT NULL, name text NOT NULL);
    CREATE TABLE task (
        id bigint PRIMARY KEY, organization integer NOT NULL, project_id bigint REFERENCES project ON DELETE CASCADE,
        title text NOT NULL, size integer NOT NULL DEFAULT 1);
    CREATE TABLE label (id bigint PRIMARY KEY, organization integer NOT NULL, name text NOT NULL UNIQUE);
    CREATE TABLE task_label (
        task_id bigint REFERENCES task ON DELETE CASCADE, label_id bigint REFERENCES label ON DELETE CASCADE,
        organization integer NOT NULL DEFAULT nullif(current_setting('app.organization', true), '')::integer,
        PRIMARY KEY (task_id, label_id));
    INSERT INTO project VALUES (10, 1, 'garden'), (20, 2, 'secret garden');
    INSERT INTO task VALUES (11, 1, 10, 'dig', DEFAULT), (12, 1, 10, 'sow', DEFAULT), (13, 1, 10, 'reap', DEFAULT),
        (21, 2, 20, 'secret dig', 100), (22, 2, 20, 'secret sow', 100), (23, 2, 20, 'secret reap', 100);
    INSERT INTO label VALUES (15, 1, 'urgent'), (25, 2, 'secret');
    INSERT INTO task_label VALUES (11, 15, 1), (21, 25, 2);
    -- Rows of the first that refer to rows of the second: foreign keys look past policies.
    INSERT INTO task VALUES (14, 1, 20, 'stray');
    INSERT INTO task_label VALUES (14, 25, 1);
    DO $$
    DECLARE name text;
    BEGIN
        FOREACH name IN ARRAY ARRAY['project', 'task', 'label', 'task_label'] LOOP
            EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
            EXECUTE format(
                'CREATE POLICY own ON %I USING (organization = (SELECT nullif(current_setting(%L, true), %L)::integer))',
                name, 'app.organization', '');
            EXECUTE format('GRANT ALL ON %I TO PUBLIC', name);
        END LOOP;
    END $$;
    """
