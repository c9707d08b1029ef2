import Kindred
import KindredTesting

/// Projects with tasks, which are marked as deleted, and labels, of which archived ones are not shown.
enum FilterWorld {
    static let schema = """
        CREATE TABLE project (id integer PRIMARY KEY, name text NOT NULL, deleted_at timestamptz);
        COMMENT ON TABLE project IS '@kindred {"softDelete": "deleted_at"}';
        CREATE TABLE task (
            id integer PRIMARY KEY, title text NOT NULL, points integer NOT NULL DEFAULT 1,
            project_id integer REFERENCES project ON DELETE CASCADE, deleted_at timestamptz);
        COMMENT ON TABLE task IS '@kindred {"softDelete": "deleted_at"}';
        CREATE TABLE label (id integer PRIMARY KEY, name text NOT NULL, archived boolean NOT NULL DEFAULT false);
        COMMENT ON TABLE label IS '@kindred {"filter": "archived == false"}';
        CREATE TABLE task_label (
            task_id integer REFERENCES task ON DELETE CASCADE, label_id integer REFERENCES label ON DELETE CASCADE,
            PRIMARY KEY (task_id, label_id));
        INSERT INTO project VALUES (1, 'a', NULL), (2, 'b', NULL), (3, 'gone', '2020-01-01');
        INSERT INTO task VALUES
            (1, 'one', 1, 1, NULL), (2, 'two', 2, 1, '2020-01-01'), (3, 'three', 4, 1, NULL), (4, 'four', 8, 2, NULL),
            (5, 'five', 16, 2, '2020-01-01'), (6, 'six', 32, 3, NULL), (7, 'seven', 64, NULL, '2020-01-01');
        INSERT INTO label VALUES (1, 'red', false), (2, 'blue', true), (3, 'green', false);
        INSERT INTO task_label VALUES (1, 1), (1, 2), (2, 1), (3, 3), (6, 1);
        """
}

extension FetchRequest {
    /// The values of `id`, in their order.
    var ids: [PostgresValue?] {
        get async throws { try await sorted("id").all().map { $0["id"] } }
    }
}

extension ToMany {
    /// The members' values of `id`, in their order.
    var ids: [Int64] {
        get async throws {
            try await objects.compactMap { if case .integer(let id)? = $0["id"] { id } else { nil } }.sorted()
        }
    }
}

extension DatabaseContext {
    /// The object of an ID, whether it is shown or not.
    func any(_ entity: String, _ id: Int) async throws -> DatabaseObject {
        try await fetch(entity).unfiltered().where("id = %@", id).one()
    }
}
