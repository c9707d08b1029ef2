import Kindred
import Testing

/// The ways to follow a table that the tests of DDL have, each by name and, where there are classes, typed.
enum FollowerKind: String, CaseIterable, Sendable {
    /// A live request, which names the columns `size` and `id`.
    case list
    /// A live request of a set.
    case set
    /// A live request of a view over the table.
    case view
    /// A context that follows.
    case context
    /// `changes(of:)`.
    case sequence
    /// `changes(of:consumer:)`.
    case consumer
}

/// A form of DDL on the table `thing`, and what becomes of each follower: this table states the rule, and nothing computes it.
struct DefinitionForm: Sendable, CustomTestStringConvertible {
    /// What becomes of a follower.
    enum Outcome: Sendable {
        /// Later changes are seen.
        case goesOn
        /// It ends with `.schemaChanged`, or `.classMismatch` where the words name a class, and an error that has the words.
        case ends(String)
    }

    let statements: [SQL]
    /// The followers that end, with words of the error; all others go on.
    var ends: [FollowerKind: String] = [:]
    /// The typed followers that end, too.
    var typedEnds: [FollowerKind: String] = [:]
    /// The columns of which a list shows the first that its objects have.
    var shows = ["label"]
    /// The columns of which the view shows the first.
    var viewShows = ["other"]
    /// What SQL says of these columns afterwards.
    var truth: (list: SQL, view: SQL) = (
        "SELECT id || ' ' || coalesce(label::text, '-') FROM thing WHERE size < 100 ORDER BY id",
        "SELECT id || ' ' || coalesce(other::text, '-') FROM shown ORDER BY id"
    )
    /// A later change of the rows 1, 2 and 9.
    var change: [SQL] = Self.usual
    /// Whether sequences and consumers are told `.everything` of it.
    var isTold = true
    /// Whether the answer of the list stays as it is.
    var isSilent = false

    static let usual: [SQL] = [
        "UPDATE thing SET label = 'new', other = 'seen' WHERE id = 1", "DELETE FROM thing WHERE id = 2",
        "INSERT INTO thing (id, label, size, other, code, owner_id) VALUES (9, 'nine', 9, 'o', 'c9', 1)",
    ]

    var testDescription: String { statements.map { "\($0)" }.joined(separator: "; ") }

    func outcome(of kind: FollowerKind, isTyped: Bool) -> Outcome {
        if isTyped, let words = typedEnds[kind] { return .ends(words) }
        return ends[kind].map { .ends($0) } ?? .goesOn
    }

    /// A form after which all go on.
    static func goesOn(_ statements: SQL..., isTold: Bool = true, isSilent: Bool = true) -> DefinitionForm {
        DefinitionForm(statements: statements, isTold: isTold, isSilent: isSilent)
    }

    /// What follows the table's rows.
    private static func all(_ words: String, view: String? = nil) -> [FollowerKind: String] {
        var ends = Dictionary(uniqueKeysWithValues: FollowerKind.allCases.map { ($0, words) })
        ends[.view] = view
        return ends
    }

    /// The tables, with one row that the list's condition hides.
    static let schema = """
        CREATE TYPE mood AS ENUM ('sad', 'glad');
        CREATE TYPE spot AS (x integer, y integer);
        CREATE DOMAIN short AS varchar(10);
        CREATE SCHEMA elsewhere;
        CREATE TABLE owner (id integer PRIMARY KEY, name text);
        CREATE TABLE thing (
            id integer PRIMARY KEY, label varchar(10) NOT NULL, size integer NOT NULL, other text, feeling mood, place spot,
            code short NOT NULL UNIQUE, amount integer, rest text DEFAULT 'r',
            owner_id integer REFERENCES owner);
        CREATE VIEW shown AS SELECT id, other FROM thing;
        CREATE FUNCTION limited(integer) RETURNS boolean LANGUAGE sql AS 'SELECT $1 < 100';
        INSERT INTO owner VALUES (1, 'a');
        INSERT INTO thing SELECT i, 'l' || i, CASE i WHEN 5 THEN 500 ELSE i END, 'o', 'glad', ROW (i, i)::spot, 'c' || i, i, 'r', 1
            FROM generate_series(1, 5) AS i;
        """

    // MARK: Columns

    static let columns: [DefinitionForm] = [
        .goesOn("ALTER TABLE thing ADD COLUMN extra integer"),
        .goesOn("ALTER TABLE thing ADD COLUMN extra text NOT NULL DEFAULT 'x'"),
        .goesOn("ALTER TABLE thing ADD COLUMN extra uuid DEFAULT gen_random_uuid()"),
        .goesOn("ALTER TABLE thing ADD COLUMN extra integer GENERATED ALWAYS AS (size * 2) STORED"),
        .goesOn(
            "ALTER TABLE thing ADD COLUMN extra integer GENERATED ALWAYS AS (size * 2) STORED",
            "ALTER TABLE thing ALTER COLUMN extra DROP EXPRESSION"),
        .goesOn("ALTER TABLE thing ADD COLUMN extra spot"),
        .goesOn("ALTER TABLE thing DROP COLUMN rest", isSilent: false),
        DefinitionForm(
            statements: ["ALTER TABLE thing DROP COLUMN label"],
            typedEnds: [.list: "public.thing.label is missing"],
            shows: ["label", "code"],
            truth: (
                "SELECT id || ' ' || code FROM thing WHERE size < 100 ORDER BY id",
                "SELECT id || ' ' || coalesce(other::text, '-') FROM shown ORDER BY id"
            ),
            change: [
                "UPDATE thing SET other = 'seen', code = 'new' WHERE id = 1", "DELETE FROM thing WHERE id = 2",
                "INSERT INTO thing (id, size, other, code, owner_id) VALUES (9, 9, 'o', 'c9', 1)",
            ]),
        DefinitionForm(
            statements: ["ALTER TABLE thing RENAME COLUMN label TO title"],
            typedEnds: [.list: "public.thing.label is missing"],
            shows: ["title", "label"],
            truth: (
                "SELECT id || ' ' || title FROM thing WHERE size < 100 ORDER BY id",
                "SELECT id || ' ' || coalesce(other::text, '-') FROM shown ORDER BY id"
            ),
            change: [
                "UPDATE thing SET other = 'seen', title = 'new' WHERE id = 1", "DELETE FROM thing WHERE id = 2",
                "INSERT INTO thing (id, title, size, other, code, owner_id) VALUES (9, 'n', 9, 'o', 'c9', 1)",
            ]),
        DefinitionForm(
            statements: ["ALTER TABLE thing DROP COLUMN size"], ends: [.list: "size"],
            typedEnds: [.list: "size"],
            change: [
                "UPDATE thing SET other = 'seen' WHERE id = 1", "DELETE FROM thing WHERE id = 2",
                "INSERT INTO thing (id, label, other, code, owner_id) VALUES (9, 'n', 'o', 'c9', 1)",
            ]),
        DefinitionForm(
            statements: ["ALTER TABLE thing RENAME COLUMN size TO extent"], ends: [.list: "size"],
            typedEnds: [.list: "size"],
            change: [
                "UPDATE thing SET other = 'seen' WHERE id = 1", "DELETE FROM thing WHERE id = 2",
                "INSERT INTO thing (id, label, extent, other, code, owner_id) VALUES (9, 'n', 9, 'o', 'c9', 1)",
            ]),
        .goesOn("ALTER TABLE thing RENAME COLUMN rest TO remainder", isSilent: false),
        .goesOn("ALTER TABLE thing ALTER COLUMN label TYPE varchar(99)"),
        .goesOn("ALTER TABLE thing ALTER COLUMN label TYPE text"),
        .goesOn("ALTER TABLE thing ALTER COLUMN label TYPE varchar(10) COLLATE \"C\""),
        .goesOn("ALTER TABLE thing ALTER COLUMN size TYPE bigint"),
        .goesOn("ALTER TABLE thing ALTER COLUMN amount TYPE text USING amount::text", isSilent: false),
        .goesOn("ALTER TABLE thing ALTER COLUMN amount TYPE boolean USING amount > 2", isSilent: false),
        .goesOn("ALTER TABLE thing ALTER COLUMN feeling TYPE text USING feeling::text"),
        .goesOn("ALTER TABLE thing ALTER COLUMN code TYPE text"),
        DefinitionForm(
            statements: ["ALTER TABLE thing ALTER COLUMN size TYPE text USING size::text"], ends: [.list: "size"],
            typedEnds: [.list: "size"]),
        .goesOn(
            "ALTER TABLE thing ALTER COLUMN label DROP NOT NULL", "ALTER TABLE thing ALTER COLUMN label SET NOT NULL"),
        DefinitionForm(
            statements: ["ALTER TABLE thing ALTER COLUMN label DROP NOT NULL"],
            typedEnds: [.list: "public.thing.label may be NULL"],
            isSilent: true),
        .goesOn("ALTER TABLE thing ALTER COLUMN other SET DEFAULT 'd'"),
        .goesOn("ALTER TABLE thing ALTER COLUMN rest DROP DEFAULT"),
        .goesOn("ALTER TABLE thing ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY"),
        .goesOn("ALTER TABLE thing ALTER COLUMN label SET STATISTICS 10"),
        .goesOn("ALTER TABLE thing ALTER COLUMN label SET STORAGE EXTERNAL"),
        .goesOn("ALTER TABLE thing ALTER COLUMN label SET (n_distinct = 5)"),
        .goesOn("ALTER TABLE thing ADD COLUMN extra short"),
        .goesOn("ALTER TABLE thing ADD COLUMN extra serial"),
        .goesOn("ALTER TABLE thing ADD COLUMN extra integer REFERENCES owner"),
    ]

    // MARK: Tables

    static let tables: [DefinitionForm] = [
        .goesOn("ALTER TABLE thing ADD CHECK (size > 0)"),
        .goesOn("ALTER TABLE thing ADD UNIQUE (label)"),
        .goesOn("ALTER TABLE thing RENAME CONSTRAINT thing_pkey TO thing_key"),
        .goesOn("ALTER TABLE thing SET (fillfactor = 70)"),
        .goesOn("ALTER TABLE thing REPLICA IDENTITY FULL"),
        .goesOn("ALTER TABLE thing ENABLE ROW LEVEL SECURITY"),
        .goesOn("ALTER TABLE thing OWNER TO CURRENT_USER"),
        .goesOn("CREATE TABLE part (id integer PRIMARY KEY, thing_id integer REFERENCES thing)", isTold: false),
        .goesOn("CREATE INDEX ON thing (size)", isTold: false),
        .goesOn("CREATE TABLE stranger (id integer PRIMARY KEY)", "DROP TABLE stranger", isTold: false),
        .goesOn("COMMENT ON TABLE thing IS 'x'"),
        .goesOn("ALTER TABLE thing SET (autovacuum_enabled = false)"),
        .goesOn(
            "ALTER TABLE thing ADD CONSTRAINT small CHECK (size > 0) NOT VALID",
            "ALTER TABLE thing VALIDATE CONSTRAINT small"),
        .goesOn("ALTER TABLE thing ALTER CONSTRAINT thing_owner_id_fkey DEFERRABLE"),
        .goesOn("ALTER TABLE thing DROP CONSTRAINT thing_code_key"),
        .goesOn("ALTER TABLE thing CLUSTER ON thing_pkey"),
        .goesOn("ALTER TABLE thing SET UNLOGGED"),
        .goesOn("ALTER TABLE thing FORCE ROW LEVEL SECURITY"),
        .goesOn("ALTER TABLE thing ENABLE ROW LEVEL SECURITY", "ALTER TABLE thing DISABLE ROW LEVEL SECURITY"),
        .goesOn("ALTER TABLE thing RENAME TO stuff", "ALTER TABLE stuff RENAME TO thing"),
        .goesOn("CREATE UNIQUE INDEX ON thing (label)", isTold: false),
        .goesOn("CREATE STATISTICS sizes ON size, amount FROM thing", isTold: false),
        .goesOn(
            "CREATE FUNCTION quiet() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
            "CREATE TRIGGER quiet BEFORE UPDATE ON thing FOR EACH ROW EXECUTE FUNCTION quiet()", isTold: false),
        .goesOn("GRANT SELECT ON thing TO PUBLIC", isTold: false),
        .goesOn("REVOKE ALL ON thing FROM PUBLIC", isTold: false),
        .goesOn("COMMENT ON COLUMN thing.label IS 'x'"),
        .goesOn(
            "DROP TABLE thing CASCADE",
            """
            CREATE TABLE thing (
                id integer PRIMARY KEY, label varchar(10) NOT NULL, size integer NOT NULL, other text,
                code short NOT NULL UNIQUE, owner_id integer REFERENCES owner)
            """, "CREATE VIEW shown AS SELECT id, other FROM thing",
            "INSERT INTO thing SELECT i, 'l' || i, i, 'p', 'c' || i, 1 FROM generate_series(1, 4) AS i", isSilent: false
        ),
        .goesOn("DROP TRIGGER kindred_tracking_update ON thing"),
        .goesOn("ALTER TABLE thing DISABLE TRIGGER USER"),
        DefinitionForm(
            statements: ["ALTER TABLE thing DROP CONSTRAINT thing_owner_id_fkey"], ends: [.set: "owner"], isSilent: true
        ),
        DefinitionForm(
            statements: ["ALTER TABLE thing DROP CONSTRAINT thing_pkey, ADD PRIMARY KEY (code)"],
            ends: Self.all("has another key: (code) in place of (id)", view: "public.shown has another key: none")),
        DefinitionForm(
            statements: ["ALTER TABLE thing DROP CONSTRAINT thing_pkey, DROP CONSTRAINT thing_code_key"],
            ends: Self.all("has another key: none in place of (id)", view: "public.shown has another key: none")),
        DefinitionForm(
            statements: ["ALTER TABLE thing RENAME TO stuff"], ends: Self.all("public.thing is named public.stuff now"),
            change: [
                "UPDATE stuff SET label = 'new', other = 'seen' WHERE id = 1", "DELETE FROM stuff WHERE id = 2",
            ]),
        DefinitionForm(
            statements: ["ALTER TABLE thing SET SCHEMA elsewhere"],
            ends: Self.all("public.thing is named elsewhere.thing now"),
            change: [
                "UPDATE elsewhere.thing SET other = 'seen' WHERE id = 1", "DELETE FROM elsewhere.thing WHERE id = 2",
            ]),
        DefinitionForm(
            statements: ["ALTER SCHEMA public RENAME TO former"],
            ends: Self.all("public.thing is named former.thing now", view: "public.shown is named former.shown now"),
            change: []),
        DefinitionForm(
            statements: ["DROP TABLE thing CASCADE"],
            ends: Self.all("public.thing is gone", view: "public.shown is gone"), change: []),
        DefinitionForm(
            statements: ["DROP VIEW shown", "ALTER TABLE thing RENAME TO stuff", "CREATE VIEW thing AS TABLE stuff"],
            ends: [
                .context: "is a view now", .sequence: "is a view now", .consumer: "is a view now",
                .view: "public.shown is gone",
            ], change: []),
    ]

    // MARK: Types, views and policies

    static let others: [DefinitionForm] = [
        .goesOn("ALTER TYPE mood ADD VALUE 'calm'"),
        DefinitionForm(
            statements: ["ALTER TYPE mood RENAME VALUE 'glad' TO 'happy'"], shows: ["feeling"],
            truth: (
                "SELECT id || ' ' || coalesce(feeling::text, '-') FROM thing WHERE size < 100 ORDER BY id",
                "SELECT id || ' ' || coalesce(other::text, '-') FROM shown ORDER BY id"
            )),
        .goesOn("ALTER TYPE mood RENAME TO temper"),
        .goesOn("DROP TYPE mood CASCADE", isSilent: false),
        .goesOn("ALTER TYPE spot ADD ATTRIBUTE z integer CASCADE", isSilent: false),
        .goesOn("ALTER TYPE spot RENAME ATTRIBUTE x TO a CASCADE", isSilent: false),
        .goesOn("ALTER TYPE spot DROP ATTRIBUTE y CASCADE", isSilent: false),
        .goesOn("ALTER DOMAIN short ADD CHECK (VALUE <> 'no')"),
        .goesOn("ALTER DOMAIN short RENAME TO brief"),
        .goesOn(
            "CREATE COLLATION plain (provider = icu, locale = 'und')",
            "ALTER TABLE thing ALTER COLUMN label TYPE text COLLATE plain"),
        .goesOn("CREATE OR REPLACE VIEW shown AS SELECT id, other, size FROM thing", isTold: false),
        .goesOn("CREATE OR REPLACE VIEW shown AS SELECT id, other FROM thing WHERE limited(size)", isTold: false),
        .goesOn(
            "CREATE OR REPLACE VIEW shown AS SELECT id, other FROM thing WHERE limited(size)",
            "CREATE OR REPLACE FUNCTION limited(integer) RETURNS boolean LANGUAGE sql AS 'SELECT $1 < 4'", isTold: false
        ),
        DefinitionForm(
            statements: ["DROP VIEW shown", "CREATE VIEW shown AS SELECT id::bigint, size::text AS other FROM thing"],
            ends: [.view: "public.shown"], isTold: false, isSilent: true),
        DefinitionForm(
            statements: ["ALTER VIEW shown RENAME COLUMN other TO note"], viewShows: ["note", "other"],
            truth: (
                "SELECT id || ' ' || coalesce(label::text, '-') FROM thing WHERE size < 100 ORDER BY id",
                "SELECT id || ' ' || coalesce(note::text, '-') FROM shown ORDER BY id"
            ), isTold: false, isSilent: true),
        DefinitionForm(
            statements: ["ALTER VIEW shown RENAME TO seen"], ends: [.view: "public.shown is named public.seen now"],
            isTold: false, isSilent: true),
        DefinitionForm(
            statements: ["DROP VIEW shown"], ends: [.view: "public.shown is gone"], isTold: false, isSilent: true),
        .goesOn("CREATE POLICY partly ON thing USING (size < 3)"),
        .goesOn("CREATE POLICY partly ON thing USING (limited(size))", "DROP POLICY partly ON thing"),
        .goesOn("CREATE FUNCTION stray() RETURNS integer LANGUAGE sql AS 'SELECT 1'", isTold: false),
        .goesOn("CREATE MATERIALIZED VIEW kept AS TABLE thing", "DROP MATERIALIZED VIEW kept", isTold: false),
        .goesOn("CREATE SEQUENCE numbers", isTold: false),
        .goesOn("CREATE SCHEMA further", isTold: false),
        .goesOn("CREATE TYPE stray AS ENUM ('a')", "DROP TYPE stray", isTold: false),
        .goesOn("ALTER TYPE mood OWNER TO CURRENT_USER"),
        .goesOn("ALTER TYPE mood SET SCHEMA elsewhere"),
        .goesOn("ALTER DOMAIN short SET DEFAULT 'd'"),
        .goesOn("ALTER VIEW shown SET (security_barrier = true)", isTold: false),
        .goesOn("ALTER VIEW shown ALTER COLUMN other SET DEFAULT 'd'", isTold: false),
        .goesOn("ALTER FUNCTION limited(integer) RENAME TO bounded", isTold: false),
        .goesOn("CREATE POLICY partly ON thing USING (size < 3)", "ALTER POLICY partly ON thing USING (true)"),
    ]
}
