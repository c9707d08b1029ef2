import KindredPostgres
import KindredSchema

/// Calls of the helper schema's functions.
enum TrackingStatements {
    static let isInstalled: SQL = """
        SELECT EXISTS (SELECT FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
            WHERE n.nspname = 'kindred' AND c.relname = 'tracking_state')
        """

    /// The installed version, and the oldest version of the library that can use it.
    static let version: SQL = "SELECT s.version, s.compatible FROM kindred.tracking_state AS s"

    /// Tables in use are not waited for: writers would wait behind.
    static let lockTimeout: SQL = "SELECT pg_catalog.set_config('lock_timeout', '5s', true)"

    static let prune: SQL = "SELECT kindred.tracking_prune()"

    static let status: SQL = """
        SELECT s.version, pg_catalog.date_part('epoch', s.retention), s.bytes,
            pg_catalog.date_part('epoch', pg_catalog.clock_timestamp() - s.oldest),
            s.watched_until > pg_catalog.clock_timestamp(), s.has_event_triggers, s.notifies, s.consumers
        FROM kindred.tracking_status() AS s
        """

    static let tables: SQL = """
        SELECT t.schema_name, t.table_name, t.relation = t.root, t.key, t.fault FROM kindred.tracking_tables() AS t
        """

    static func setRetention(seconds: Double) -> SQL {
        "UPDATE kindred.tracking_state SET retention = pg_catalog.make_interval(secs => \(seconds))"
    }

    static func grant(_ role: String) -> SQL { "SELECT kindred.tracking_grant(\(role)::pg_catalog.name)" }

    static func enable(_ table: QualifiedName) -> SQL {
        "SELECT kindred.tracking_enable(\(existing(table)))"
    }

    static func disable(_ table: QualifiedName) -> SQL {
        "SELECT kindred.tracking_disable(\(existing(table)))"
    }

    /// The statements that `enable` runs.
    static func statements(for table: QualifiedName) -> SQL {
        "SELECT s FROM kindred.tracking_statements(\(existing(table))) AS s"
    }

    /// The table, which the server refuses if it was dropped since its name was looked up.
    private static func existing(_ table: QualifiedName) -> SQL {
        """
        pg_catalog.format('%I.%I', \(table.schema)::pg_catalog.text, \(table.name)::pg_catalog.text)::pg_catalog.regclass
        """
    }
}
