import Kindred
import KindredTesting
import Testing

/// Projects with tasks of people, tasks with labels, and memberships that have a role and a rank.
let partSchema = """
    CREATE TABLE person (id integer PRIMARY KEY, name text NOT NULL);
    CREATE TABLE project (id integer PRIMARY KEY, name text NOT NULL);
    CREATE TABLE task (
        id integer PRIMARY KEY, title text NOT NULL, position integer NOT NULL, done boolean NOT NULL DEFAULT false,
        project_id integer CONSTRAINT project REFERENCES project ON DELETE SET NULL,
        person_id integer CONSTRAINT assignee REFERENCES person);
    CREATE TABLE membership (
        project_id integer CONSTRAINT members REFERENCES project ON DELETE CASCADE,
        person_id integer CONSTRAINT projects REFERENCES person ON DELETE CASCADE,
        role text NOT NULL DEFAULT 'guest', rank integer NOT NULL DEFAULT 0, PRIMARY KEY (project_id, person_id));
    CREATE TABLE label (id integer PRIMARY KEY, name text NOT NULL);
    CREATE TABLE task_label (
        task_id integer CONSTRAINT labels REFERENCES task ON DELETE CASCADE,
        label_id integer CONSTRAINT tasks REFERENCES label ON DELETE CASCADE, PRIMARY KEY (task_id, label_id));
    COMMENT ON CONSTRAINT project ON task IS '@kindred {"inverse": "tasks"}';
    COMMENT ON CONSTRAINT assignee ON task IS '@kindred {"inverse": "assigned"}';
    INSERT INTO person SELECT i, 'person ' || i FROM generate_series(1, 6) AS i;
    INSERT INTO project SELECT i, 'project ' || i FROM generate_series(1, 4) AS i;
    INSERT INTO task SELECT i, 'task ' || i, 100 - i, i % 3 = 0, (i - 1) / 10 + 1, i % 5 + 1 FROM generate_series(1, 40) AS i;
    INSERT INTO membership SELECT p, q, CASE WHEN q <= p THEN 'admin' ELSE 'guest' END, (p + q * 5) % 7
        FROM generate_series(1, 4) AS p, generate_series(1, 6) AS q;
    INSERT INTO label SELECT i, 'label ' || i FROM generate_series(1, 5) AS i;
    INSERT INTO task_label SELECT t, l FROM generate_series(1, 40) AS t, generate_series(1, 5) AS l WHERE (t + l) % 3 > 0;
    """

/// The open tasks of a project in their order, the first three.
let openTasks = "SELECT id FROM task WHERE project_id = %1 AND NOT done ORDER BY position LIMIT 3"

extension RelationshipPart {
    /// The first three open tasks in their order.
    var openTasks: RelationshipPart { self.where("done == %@", false).sorted("position").limit(3) }
}

extension ToMany {
    /// The same part of a set.
    func openTasks() throws -> FetchRequest<Member> {
        try self.where("done == %@", false).sorted("position").limit(3)
    }
}

extension PostgresClient {
    /// The keys that a query with `%1` gives for an owner.
    func keys(_ query: String, of owner: DatabaseObject) async throws -> [PostgresValue?] {
        let id = owner["id"]?.description ?? ""
        return try await values(SQL(unsafeRaw: query.replacing("%1", with: id)))
    }
}

extension [DatabaseObject] {
    var keys: [PostgresValue?] { map { $0["id"] } }
}
