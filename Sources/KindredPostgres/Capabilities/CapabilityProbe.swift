/// Statements that succeed where a server has a capability; the last may answer whether it works.
///
/// They are run in a transaction that is rolled back, so that nothing of them remains.
struct CapabilityProbe {
    let statements: [String]
    /// Whether they begin with a temporary table, which not every role may have.
    var needsTable = false
    /// The statements that tell the same from the catalog, for such roles; empty if none do.
    var withoutTable: [String] = []

    /// A table with two numbers.
    static let table =
        "CREATE TEMPORARY TABLE kindred_probe (id pg_catalog.int4 PRIMARY KEY, other pg_catalog.int4)"

    private static let insertion = "INSERT INTO pg_temp.kindred_probe VALUES (1, 2), (2, 2)"

    private init(_ statements: [String]) { self.statements = statements }

    private init(table statements: [String], withoutTable: [String] = []) {
        (self.statements, needsTable, self.withoutTable) = ([Self.table] + statements, true, withoutTable)
    }

    init(_ capability: ServerCapability) {
        self =
            switch capability {
            case .listen:
                Self([
                    "LISTEN kindred_probe",
                    """
                    SELECT EXISTS (SELECT FROM pg_catalog.pg_listening_channels() AS c \
                    WHERE c OPERATOR(pg_catalog.=) 'kindred_probe')
                    """,
                ])
            case .statementTriggers: Self.statementTrigger
            case .eventTriggers:
                Self([
                    """
                    CREATE FUNCTION pg_temp.kindred_probe() RETURNS pg_catalog.event_trigger LANGUAGE plpgsql AS \
                    'BEGIN END'
                    """,
                    "CREATE EVENT TRIGGER kindred_probe ON ddl_command_end EXECUTE FUNCTION pg_temp.kindred_probe()",
                ])
            case .deferrableKeys:
                Self(table: [
                    """
                    ALTER TABLE pg_temp.kindred_probe ADD FOREIGN KEY (other) REFERENCES pg_temp.kindred_probe DEFERRABLE
                    """,
                    "SET CONSTRAINTS ALL DEFERRED",
                    "INSERT INTO pg_temp.kindred_probe VALUES (1, 3)",
                ])
            case .savepoints:
                Self([
                    "SAVEPOINT kindred_probe", "SELECT pg_catalog.set_config('kindred.probe', 'inside', true)",
                    "ROLLBACK TO SAVEPOINT kindred_probe",
                    "SELECT coalesce(pg_catalog.current_setting('kindred.probe', true), '') OPERATOR(pg_catalog.<>) 'inside'",
                ])
            case .skipLocked:
                Self(
                    table: ["SELECT id FROM pg_temp.kindred_probe FOR NO KEY UPDATE SKIP LOCKED"],
                    withoutTable: ["SELECT FROM (SELECT 1) AS one FOR NO KEY UPDATE SKIP LOCKED"])
            case .xmin:
                Self(
                    table: [
                        Self.insertion,
                        """
                        SELECT xmin::pg_catalog.text OPERATOR(pg_catalog.<>) '0' FROM pg_temp.kindred_probe LIMIT 1
                        """,
                    ],
                    withoutTable: [
                        "SELECT xmin::pg_catalog.text OPERATOR(pg_catalog.<>) '0' FROM pg_catalog.pg_class LIMIT 1"
                    ])
            case .advisoryLocks: Self.advisoryLock
            // The COPY is no statement that answers with rows.
            case .binaryCopy: Self([])
            case .pipelines: Self((0..<3).map { "SELECT \($0) AS kindred_pipeline" })
            case .positions:
                Self([
                    PostgresTransactionID.question.text.text,
                    """
                    SELECT CASE WHEN pg_catalog.pg_is_in_recovery() THEN pg_catalog.pg_last_wal_replay_lsn() \
                    ELSE pg_catalog.pg_current_wal_flush_lsn() END IS NOT NULL
                    """,
                ])
            }
    }

    /// A trigger that counts the rows which its statement has changed.
    private static let statementTrigger = Self(table: [
        """
        CREATE FUNCTION pg_temp.kindred_probe() RETURNS pg_catalog.trigger LANGUAGE plpgsql AS 'BEGIN \
        PERFORM pg_catalog.set_config(''kindred.probe'', (SELECT pg_catalog.count(*) FROM changed)::pg_catalog.text, true); \
        RETURN NULL; END'
        """,
        """
        CREATE TRIGGER kindred_probe AFTER INSERT ON pg_temp.kindred_probe REFERENCING NEW TABLE AS changed \
        FOR EACH STATEMENT EXECUTE FUNCTION pg_temp.kindred_probe()
        """,
        insertion,
        "SELECT coalesce(pg_catalog.current_setting('kindred.probe', true), '') OPERATOR(pg_catalog.=) '2'",
    ])

    /// The locks of a session and of a transaction, by a number that no other process takes.
    ///
    /// Some servers grant them, and hold nothing. The session's ends with the connection.
    private static let advisoryLock: Self = {
        let number = "7739838900000000000 OPERATOR(pg_catalog.+) pg_catalog.pg_backend_pid()"
        return Self([
            "SELECT pg_catalog.pg_try_advisory_xact_lock(\(number))",
            "SELECT pg_catalog.pg_try_advisory_lock(\(number))",
            """
            SELECT EXISTS (SELECT FROM pg_catalog.pg_locks AS l WHERE l.locktype OPERATOR(pg_catalog.=) 'advisory' \
            AND l.pid OPERATOR(pg_catalog.=) pg_catalog.pg_backend_pid() AND l.granted)
            """,
        ])
    }()
}
