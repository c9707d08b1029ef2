/// Three tables whose rows have versions, one of each kind, and the table that they refer to.
let lockingSchema = """
    CREATE TABLE owner (id integer PRIMARY KEY, name text);
    CREATE TABLE counted (
        id integer PRIMARY KEY, name text, value integer NOT NULL DEFAULT 0,
        owner_id integer REFERENCES owner ON DELETE SET NULL, version integer NOT NULL);
    CREATE TABLE timed (
        id integer PRIMARY KEY, name text, value integer NOT NULL DEFAULT 0,
        owner_id integer REFERENCES owner, changed_at timestamptz(3) NOT NULL DEFAULT now());
    CREATE TABLE system (
        id integer PRIMARY KEY, name text, value integer NOT NULL DEFAULT 0,
        owner_id integer REFERENCES owner ON DELETE SET NULL);
    CREATE TABLE passport (
        id integer PRIMARY KEY, owner_id integer UNIQUE REFERENCES owner, version bigint NOT NULL DEFAULT 1);
    COMMENT ON COLUMN counted.version IS '@kindred {"version": true}';
    COMMENT ON COLUMN timed.changed_at IS '@kindred {"version": true} When it was last changed';
    COMMENT ON TABLE system IS '@kindred {"optimisticLocking": "xmin"}';
    COMMENT ON COLUMN passport.version IS '@kindred {"version": true}';
    COMMENT ON CONSTRAINT timed_owner_id_fkey ON timed IS '@kindred {"deleteRule": "nullify"}';
    INSERT INTO owner SELECT i, 'owner ' || i FROM generate_series(1, 3) AS i;
    INSERT INTO counted SELECT i, 'name ' || i, 0, 1, 1 FROM generate_series(1, 4) AS i;
    INSERT INTO timed (id, name, owner_id) SELECT i, 'name ' || i, 1 FROM generate_series(1, 4) AS i;
    INSERT INTO system SELECT i, 'name ' || i, 0, 1 FROM generate_series(1, 4) AS i;
    INSERT INTO passport (id, owner_id) VALUES (1, 1), (2, 2);
    """

/// The tables with versions, and the attribute that has them.
enum Versioned: String, CaseIterable, Sendable {
    case counted, timed, system

    var key: String {
        switch self {
        case .counted: "version"
        case .timed: "changed_at"
        case .system: "xmin"
        }
    }
}
