import Kindred
import KindredTesting

/// Projects and tasks that are marked as deleted, tasks with wide and lazy columns, labels of which archived ones are
/// hidden, and members whose addresses are unique among the shown members.
///
/// Each project has four tasks; 4, 8 and 12 are deleted, and each third one is done.
let combinedSchema = """
    CREATE TABLE project (id integer PRIMARY KEY, name text NOT NULL, plan text, deleted_at timestamptz);
    CREATE TABLE task (
        id integer PRIMARY KEY, title text NOT NULL, body text, log text, cost integer NOT NULL DEFAULT 1,
        position integer NOT NULL, done boolean NOT NULL DEFAULT false,
        project_id integer CONSTRAINT project REFERENCES project ON DELETE CASCADE, deleted_at timestamptz);
    CREATE TABLE label (id integer PRIMARY KEY, name text NOT NULL, color text, archived boolean NOT NULL DEFAULT false);
    CREATE TABLE task_label (
        task_id integer CONSTRAINT labels REFERENCES task ON DELETE CASCADE,
        label_id integer CONSTRAINT tasks REFERENCES label ON DELETE CASCADE, PRIMARY KEY (task_id, label_id));
    CREATE TABLE member (
        id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, email text NOT NULL, name text NOT NULL, photo text,
        project_id integer NOT NULL CONSTRAINT project REFERENCES project ON DELETE CASCADE, deleted_at timestamptz);
    CREATE UNIQUE INDEX ON member (email) WHERE deleted_at IS NULL;
    COMMENT ON TABLE project IS '@kindred {"softDelete": "deleted_at"}';
    COMMENT ON TABLE task IS '@kindred {"softDelete": "deleted_at"}';
    COMMENT ON TABLE member IS '@kindred {"softDelete": "deleted_at"}';
    COMMENT ON TABLE label IS '@kindred {"filter": "archived == false"}';
    COMMENT ON COLUMN task.log IS '@kindred {"lazy": true}';
    COMMENT ON COLUMN task.cost IS '@kindred {"lazy": true}';
    COMMENT ON CONSTRAINT project ON task IS '@kindred {"inverse": "tasks"}';
    COMMENT ON CONSTRAINT project ON member IS '@kindred {"inverse": "members"}';
    INSERT INTO project SELECT i, 'project ' || i, 'plan ' || i FROM generate_series(1, 3) AS i;
    INSERT INTO task SELECT i, 'task ' || i, 'body ' || i, 'log ' || i, i, 100 - i, i % 3 = 0, (i - 1) / 4 + 1,
        CASE WHEN i % 4 = 0 THEN '2020-01-01'::timestamptz END FROM generate_series(1, 12) AS i;
    INSERT INTO label VALUES (1, 'red', 'f00', false), (2, 'blue', '00f', true), (3, 'green', '0f0', false);
    INSERT INTO task_label SELECT t, l FROM generate_series(1, 12) AS t, generate_series(1, 3) AS l;
    INSERT INTO member (email, name, photo, project_id, deleted_at) VALUES
        ('a@x.org', 'old', 'p', 1, '2020-01-01'), ('a@x.org', 'new', 'p', 1, NULL), ('b@x.org', 'gone', 'p', 1, '2020-01-01');
    """

extension DatabaseContext {
    /// The projects in their order, with a part of their tasks.
    func projects(
        with part: (RelationshipPart<DatabaseObject>) -> RelationshipPart<DatabaseObject>
    ) async throws -> [DatabaseObject] {
        try await fetch("project").sorted("id").prefetch("tasks", part).all()
    }
}

extension [DatabaseObject] {
    /// The keys of what a request of each object's set finds.
    func keys(
        of set: String, _ request: (ToMany<DatabaseObject>) throws -> FetchRequest<DatabaseObject>
    ) async throws -> [[PostgresValue?]] {
        var keys: [[PostgresValue?]] = []
        for object in self { keys.append(try await request(try await object.set(forKey: set)).all().keys) }
        return keys
    }
}

/// A part of a set, as it is loaded, asked for, and told by SQL.
struct CombinedCase: Sendable {
    let owner: String
    let part: @Sendable (RelationshipPart<DatabaseObject>) -> RelationshipPart<DatabaseObject>
    let asked: @Sendable (FetchRequest<DatabaseObject>) throws -> FetchRequest<DatabaseObject>
    let sql: String

    static let all = [
        CombinedCase(
            owner: "project", part: { $0.where("done == %@", false).sorted("position").sorted("id").limit(3) },
            asked: { try $0.where("done == %@", false).sorted("position").sorted("id").limit(3) },
            sql: """
                SELECT id FROM task WHERE project_id = %1 AND NOT done AND deleted_at IS NULL ORDER BY position, id LIMIT 3
                """),
        CombinedCase(
            owner: "project", part: { $0.unfiltered().sorted("position", ascending: false).sorted("id") },
            asked: { try $0.unfiltered().sorted("position", ascending: false).sorted("id") },
            sql: "SELECT id FROM task WHERE project_id = %1 ORDER BY position DESC, id"),
        CombinedCase(
            owner: "project", part: { $0.sorted("id") }, asked: { try $0.sorted("id") },
            sql: "SELECT id FROM task WHERE project_id = %1 AND deleted_at IS NULL ORDER BY id"),
        CombinedCase(
            owner: "project", part: { $0.where("log == 'a'").sorted("id").limit(2) },
            asked: { try $0.where("log == 'a'").sorted("id").limit(2) },
            sql: """
                SELECT id FROM task WHERE project_id = %1 AND log = 'a' AND deleted_at IS NULL ORDER BY id LIMIT 2
                """),
        CombinedCase(
            owner: "project", part: { $0.where("ANY labels.name == 'red'").sorted("id") },
            asked: { try $0.where("ANY labels.name == 'red'").sorted("id") },
            sql: """
                SELECT id FROM task AS t WHERE project_id = %1 AND deleted_at IS NULL AND EXISTS (SELECT FROM task_label AS p
                JOIN label AS l ON l.id = p.label_id WHERE p.task_id = t.id AND l.name = 'red' AND NOT l.archived) ORDER BY id
                """),
        CombinedCase(
            owner: "project", part: { $0.where("ANY labels.name == 'red'").unfiltered().sorted("id").limit(3) },
            asked: { try $0.unfiltered().where("ANY labels.name == 'red'").sorted("id").limit(3) },
            sql: """
                SELECT id FROM task AS t WHERE project_id = %1 AND EXISTS (SELECT FROM task_label AS p
                JOIN label AS l ON l.id = p.label_id WHERE p.task_id = t.id AND l.name = 'red') ORDER BY id LIMIT 3
                """),
        CombinedCase(
            owner: "label", part: { $0.where("done == %@", false).sorted("position").sorted("id").limit(4) },
            asked: { try $0.where("done == %@", false).sorted("position").sorted("id").limit(4) },
            sql: """
                SELECT t.id FROM task_label AS p JOIN task AS t ON t.id = p.task_id
                WHERE p.label_id = %1 AND NOT t.done AND t.deleted_at IS NULL ORDER BY t.position, t.id LIMIT 4
                """),
        CombinedCase(
            owner: "label", part: { $0.unfiltered().sorted("id") }, asked: { try $0.unfiltered().sorted("id") },
            sql: "SELECT task_id FROM task_label WHERE label_id = %1 ORDER BY 1"),
    ]
}

/// A project of `combinedSchema`, as `kindred generate` writes it.
final class CombinedProject: DatabaseObject, @unchecked Sendable {}

extension CombinedProject: TypedObject {
    static let mapping = EntityMapping(
        schema: "public",
        name: "project",
        [
            .attribute(\CombinedProject.id, "id", "integer"),
            .attribute(\CombinedProject.name, "name", "text"),
            .attribute(\CombinedProject.plan, "plan", "text"),
            .attribute(\CombinedProject.deletedAt, "deleted_at", "timestamp with time zone", name: "deletedAt"),
            .toMany(\CombinedProject.tasks, "public_task_project", name: "tasks"),
        ]
    )

    var id: Int {
        get { readProperty(0) }
        set { writeProperty(0, newValue) }
    }

    var name: String {
        get { readProperty(1) }
        set { writeProperty(1, newValue) }
    }

    var plan: String? {
        get { readProperty(2) }
        set { writeProperty(2, newValue) }
    }

    var deletedAt: PostgresTimestamp? {
        get { readProperty(3) }
        set { writeProperty(3, newValue) }
    }

    var tasks: ToMany<CombinedTask> { toManyProperty(4) }
}

/// A task, with handles for its lazy columns.
final class CombinedTask: DatabaseObject, @unchecked Sendable {}

extension CombinedTask: TypedObject {
    static let mapping = EntityMapping(
        schema: "public",
        name: "task",
        [
            .attribute(\CombinedTask.id, "id", "integer"),
            .attribute(\CombinedTask.title, "title", "text"),
            .attribute(\CombinedTask.body, "body", "text"),
            .attribute(\CombinedTask.log, "log", "text"),
            .attribute(\CombinedTask.cost, "cost", "integer"),
            .attribute(\CombinedTask.position, "position", "integer"),
            .attribute(\CombinedTask.done, "done", "boolean"),
            .attribute(\CombinedTask.projectID, "project_id", "integer", name: "projectID"),
            .attribute(\CombinedTask.deletedAt, "deleted_at", "timestamp with time zone", name: "deletedAt"),
            .toOne(\CombinedTask.project, "public_task_project", name: "project"),
        ]
    )

    var id: Int {
        get { readProperty(0) }
        set { writeProperty(0, newValue) }
    }

    var title: String {
        get { readProperty(1) }
        set { writeProperty(1, newValue) }
    }

    var body: String? {
        get { readProperty(2) }
        set { writeProperty(2, newValue) }
    }

    var log: LazyAttribute<String?> { lazyProperty(3) }

    var cost: LazyAttribute<Int> { lazyProperty(4) }

    var position: Int {
        get { readProperty(5) }
        set { writeProperty(5, newValue) }
    }

    var done: Bool {
        get { readProperty(6) }
        set { writeProperty(6, newValue) }
    }

    var projectID: Int? {
        get { readProperty(7) }
        set { writeProperty(7, newValue) }
    }

    var deletedAt: PostgresTimestamp? {
        get { readProperty(8) }
        set { writeProperty(8, newValue) }
    }

    var project: ToOne<CombinedProject?> { toOneProperty(9) }

    /// The values of a new row, as `kindred generate` writes them.
    static func new(id: Int, title: String, log: String? = nil, cost: Int? = nil, position: Int) -> NewValues<
        CombinedTask
    > {
        var values = NewValues<CombinedTask>()
        values.setProperty(0, id)
        values.setProperty(1, title)
        values.setProperty(3, log)
        values.setProperty(4, cost)
        values.setProperty(5, position)
        return values
    }
}
