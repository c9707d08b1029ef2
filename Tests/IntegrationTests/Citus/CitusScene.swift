import Foundation
import Kindred
import Testing

/// Tables that a real Citus distributes by tenant, with one row set for each of three tenants.
///
/// `KINDRED_TEST_CITUS` is the coordinator's URI, as `Tests/Citus/start` prints it. The tables of its database are made anew.
struct CitusScene {
    static let uri = ProcessInfo.processInfo.environment["KINDRED_TEST_CITUS"]

    let database: Database
    let context: DatabaseContext
    /// A connection that sees only committed rows.
    let admin: PostgresClient

    /// Lends the scene with the rows that each test begins with.
    static func with(_ body: (CitusScene) async throws -> Void) async throws {
        var configuration = try PostgresConfiguration(uri: try #require(uri))
        configuration.statementTimeout = .seconds(60)
        let admin = try await PostgresClient.connect(configuration)
        do {
            try await prepare(admin)
            let database = try await Database.connect(configuration)
            do {
                try await body(CitusScene(database: database, context: database.makeContext(), admin: admin))
            } catch {
                await database.close()
                throw error
            }
            await database.close()
        } catch {
            await admin.close()
            throw error
        }
        await admin.close()
    }

    private static func prepare(_ admin: PostgresClient) async throws {
        if try await admin.value("SELECT to_regclass('kindred_scene')::text") != "kindred_scene" {
            // Each by itself: Citus changes tables on the workers over several connections.
            for statement in schema.split(separator: ";\n") { try await admin.runScript(String(statement)) }
        }
        try await admin.runScript(rows)
    }

    private static let schema = """
        DROP TABLE IF EXISTS task_label, label, task, step, page, section, document, note, diary, member, club,
            project, country CASCADE;
        CREATE TABLE country (code text PRIMARY KEY, name text NOT NULL);
        SELECT create_reference_table('country');
        CREATE TABLE project (
            tenant_id integer, id bigserial, name text NOT NULL,
            country text REFERENCES country, PRIMARY KEY (tenant_id, id), UNIQUE (tenant_id, name));
        SELECT create_distributed_table('project', 'tenant_id');
        CREATE TABLE task (
            tenant_id integer, id bigserial, title text NOT NULL, size integer NOT NULL DEFAULT 1,
            project_id bigint, PRIMARY KEY (tenant_id, id), FOREIGN KEY (tenant_id, project_id) REFERENCES project);
        SELECT create_distributed_table('task', 'tenant_id');
        COMMENT ON CONSTRAINT task_tenant_id_project_id_fkey ON task IS '@kindred {"deleteRule": "nullify"}';
        CREATE TABLE label (tenant_id integer, id bigint, name text NOT NULL, PRIMARY KEY (tenant_id, id));
        SELECT create_distributed_table('label', 'tenant_id');
        CREATE TABLE task_label (
            tenant_id integer, task_id bigint, label_id bigint, note text, PRIMARY KEY (tenant_id, task_id, label_id),
            CONSTRAINT labels FOREIGN KEY (tenant_id, task_id) REFERENCES task,
            CONSTRAINT tasks FOREIGN KEY (tenant_id, label_id) REFERENCES label);
        SELECT create_distributed_table('task_label', 'tenant_id');
        COMMENT ON CONSTRAINT labels ON task_label IS '@kindred {"deleteRule": "cascade"}';
        COMMENT ON CONSTRAINT tasks ON task_label IS '@kindred {"deleteRule": "cascade"}';
        CREATE TABLE step (
            tenant_id integer, id bigint, project_id bigint, position integer, PRIMARY KEY (tenant_id, id),
            CONSTRAINT step_project FOREIGN KEY (tenant_id, project_id) REFERENCES project);
        SELECT create_distributed_table('step', 'tenant_id');
        COMMENT ON CONSTRAINT step_project ON step IS '@kindred {"inverse": "steps", "orderedBy": "position", "deleteRule": "cascade"}';
        CREATE TABLE page (
            tenant_id integer, id bigint, project_id bigint, PRIMARY KEY (tenant_id, id), UNIQUE (tenant_id, project_id),
            CONSTRAINT page_project FOREIGN KEY (tenant_id, project_id) REFERENCES project);
        SELECT create_distributed_table('page', 'tenant_id');
        COMMENT ON CONSTRAINT page_project ON page IS '@kindred {"deleteRule": "nullify"}';
        CREATE TABLE note (tenant_id integer, id bigint, text text, version integer NOT NULL DEFAULT 1, PRIMARY KEY (tenant_id, id));
        SELECT create_distributed_table('note', 'tenant_id');
        COMMENT ON TABLE note IS '@kindred {"optimisticLocking": "version"}';
        CREATE TABLE diary (tenant_id integer, id bigint, text text, PRIMARY KEY (tenant_id, id));
        SELECT create_distributed_table('diary', 'tenant_id');
        CREATE POLICY own ON diary USING (tenant_id = nullif(current_setting('app.organization', true), '')::integer);
        ALTER TABLE diary ENABLE ROW LEVEL SECURITY;
        CREATE TABLE club (tenant_id integer, id bigint, PRIMARY KEY (tenant_id, id));
        SELECT create_distributed_table('club', 'tenant_id');
        CREATE TABLE member (
            tenant_id integer, id bigint, club_id bigint, PRIMARY KEY (tenant_id, id),
            CONSTRAINT member_club FOREIGN KEY (tenant_id, club_id) REFERENCES club);
        SELECT create_distributed_table('member', 'tenant_id');
        COMMENT ON CONSTRAINT member_club ON member IS '@kindred {"inverse": "members", "minimumCount": 1}';
        CREATE TABLE document (tenant_id integer, id bigint, name text, deleted_at timestamptz, PRIMARY KEY (tenant_id, id));
        SELECT create_distributed_table('document', 'tenant_id');
        COMMENT ON TABLE document IS '@kindred {"softDelete": "deleted_at"}';
        CREATE TABLE section (
            tenant_id integer, id bigint, document_id bigint, deleted_at timestamptz, PRIMARY KEY (tenant_id, id),
            CONSTRAINT section_document FOREIGN KEY (tenant_id, document_id) REFERENCES document);
        SELECT create_distributed_table('section', 'tenant_id');
        COMMENT ON TABLE section IS '@kindred {"softDelete": "deleted_at"}';
        COMMENT ON CONSTRAINT section_document ON section IS '@kindred {"inverse": "sections", "deleteRule": "cascade"}';
        CREATE TABLE kindred_scene (made boolean)
        """

    private static let rows = """
        TRUNCATE task_label, label, task, step, page, section, document, note, diary, member, club,
            project, country;
        INSERT INTO country VALUES ('AT', 'Austria'), ('CH', 'Switzerland');
        INSERT INTO project SELECT t, i, 'project ' || i, 'AT' FROM generate_series(1, 3) AS t, generate_series(1, 3) AS i;
        INSERT INTO task SELECT t, i, 'task ' || i, i, 1 + i % 3 FROM generate_series(1, 3) AS t, generate_series(1, 6) AS i;
        SELECT setval('task_id_seq', 1000), setval('project_id_seq', 1000);
        INSERT INTO label SELECT t, i, 'label ' || i FROM generate_series(1, 3) AS t, generate_series(1, 3) AS i;
        INSERT INTO task_label SELECT t, i, 1 FROM generate_series(1, 3) AS t, generate_series(1, 6) AS i;
        INSERT INTO step SELECT t, i, 1, i FROM generate_series(1, 3) AS t, generate_series(1, 4) AS i;
        INSERT INTO page SELECT t, i, i FROM generate_series(1, 3) AS t, generate_series(1, 2) AS i;
        INSERT INTO note SELECT t, i, 'note', 1 FROM generate_series(1, 3) AS t, generate_series(1, 3) AS i;
        INSERT INTO diary SELECT t, i, 'diary' FROM generate_series(1, 3) AS t, generate_series(1, 3) AS i;
        INSERT INTO club SELECT t, i FROM generate_series(1, 3) AS t, generate_series(1, 2) AS i;
        INSERT INTO member SELECT t, i, 1 + i % 2 FROM generate_series(1, 3) AS t, generate_series(1, 4) AS i;
        INSERT INTO document SELECT t, i, 'document ' || i FROM generate_series(1, 3) AS t, generate_series(1, 3) AS i;
        INSERT INTO section SELECT t, i, 1 + i % 3 FROM generate_series(1, 3) AS t, generate_series(1, 6) AS i;
        """
}

// Rows of one tenant, or of all.
extension CitusScene {
    func objects(_ entity: String, tenant: Int? = 1) async throws -> [DatabaseObject] {
        let all = try context.fetch(entity).sorted("tenant_id").sorted("id")
        return try await (tenant.map { try all.where("tenant_id == %@", $0) } ?? all).all()
    }

    func object(_ entity: String, _ id: Int, tenant: Int = 1) async throws -> DatabaseObject {
        try await context.fetch(entity).where("tenant_id == %@ AND id == %@", tenant, id).one()
    }

    func set(_ name: String, of entity: String, _ id: Int = 1) async throws -> ToMany<DatabaseObject> {
        try await object(entity, id).set(forKey: name)
    }

    /// Expects the rows of a query as text, as another connection sees them.
    func expect(
        _ rows: [String], _ sql: SQL, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let found = try await admin.values(sql).map { $0?.description ?? "NULL" }
        #expect(found == rows, sourceLocation: sourceLocation)
    }
}

extension CitusScene {
    /// Expects the steps of the first project in their order.
    func expectSteps(_ steps: [String], sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await expect(
            steps, "SELECT id FROM step WHERE tenant_id = 1 AND project_id = 1 ORDER BY position",
            sourceLocation: sourceLocation)
    }
}

/// One call of the library over distributed tables.
struct CitusCall: Sendable, CustomTestStringConvertible {
    let name: String
    let body: @Sendable (CitusScene) async throws -> Void

    init(_ name: String, _ body: @escaping @Sendable (CitusScene) async throws -> Void) {
        (self.name, self.body) = (name, body)
    }

    /// A call that only reads, and tells whether the result is right.
    init(reading name: String, _ isRight: @escaping @Sendable (CitusScene) async throws -> Bool) {
        self.init(name) { scene in
            let isRight = try await isRight(scene)
            #expect(isRight, "\(name)")
        }
    }

    var testDescription: String { name }
}
