import Kindred
import Testing

/// Documents with wide columns, and notes whose text is lazy.
let documentSchema = """
    CREATE TABLE project (id integer PRIMARY KEY, name text NOT NULL, plan text);
    CREATE TABLE document (
        id integer PRIMARY KEY, title text NOT NULL, content text NOT NULL, summary text, size integer NOT NULL DEFAULT 0,
        revision integer NOT NULL DEFAULT 1, project_id integer CONSTRAINT project REFERENCES project);
    CREATE TABLE note (
        id integer PRIMARY KEY, title text NOT NULL, body text, document_id integer CONSTRAINT document REFERENCES document);
    COMMENT ON CONSTRAINT project ON document IS '@kindred {"inverse": "documents"}';
    COMMENT ON CONSTRAINT document ON note IS '@kindred {"inverse": "notes"}';
    COMMENT ON COLUMN note.body IS '@kindred {"lazy": true} What was said';
    INSERT INTO project SELECT i, 'Project ' || i, 'Plan ' || i FROM generate_series(1, 3) AS i;
    INSERT INTO document (id, title, content, summary, project_id)
        SELECT i, 'Title ' || i, 'Content ' || i, CASE WHEN i % 2 = 0 THEN 'Summary ' || i END, i % 3 + 1
        FROM generate_series(1, 12) AS i;
    INSERT INTO note SELECT i, 'Note ' || i, 'Body ' || i, i % 12 + 1 FROM generate_series(1, 24) AS i;
    """

extension DatabaseObject {
    /// Whether an attribute is in memory.
    func has(_ key: String) -> Bool { dictionary[key] != nil }

    /// An attribute's value, loaded if it is not in memory.
    func loaded(_ key: String) async throws -> PostgresValue? { try await value(forKey: key)?.attribute }
}
