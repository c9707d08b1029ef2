import Kindred
import KindredPostgres
import KindredSchema

/// Calls of the helper schema's functions.
///
/// Superusers send them, too, so that every operator, function and type is named with its schema: the database's owner
/// chooses its search path.
enum TrackingStatements {
    static let isInstalled: SQL = """
        SELECT EXISTS (SELECT FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n
            ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
            WHERE n.nspname OPERATOR(pg_catalog.=) 'kindred' AND c.relname OPERATOR(pg_catalog.=) 'tracking_state')
        """

    static let isSuperuser: SQL = """
        SELECT r.rolsuper FROM pg_catalog.pg_roles AS r WHERE r.rolname OPERATOR(pg_catalog.=) current_user
        """

    /// The installed version, and the oldest version of the library that can use it; for each version, and each reader.
    static let version: SQL = "SELECT i.version, i.compatible FROM kindred.tracking_identity() AS i"

    /// Tables in use are not waited for: writers would wait behind.
    static let lockTimeout: SQL = "SELECT pg_catalog.set_config('lock_timeout', '5s', true)"

    /// Limits the statements that follow in the transaction, unless the session has lower limits.
    ///
    /// - Parameters:
    ///   - lock: how long a statement waits for a lock.
    ///   - question: how long a statement takes; nil for the session's own limit.
    static func limits(lock: Duration, question: Duration?) -> SQL {
        func limit(_ name: String, _ limit: Duration) -> SQL {
            let milliseconds = "\(max(1, Int64(limit / .milliseconds(1))))ms"
            return """
                pg_catalog.set_config(\(name), CASE
                    WHEN pg_catalog.current_setting(\(name))::pg_catalog.interval
                        BETWEEN '1us'::pg_catalog.interval AND \(milliseconds)::pg_catalog.text::pg_catalog.interval
                    THEN pg_catalog.current_setting(\(name)) ELSE \(milliseconds) END, true)
                """
        }
        let locks = limit("lock_timeout", lock)
        return question.map { "SELECT \(locks), \(limit("statement_timeout", $0))" } ?? "SELECT \(locks)"
    }

    /// Gives the statements that follow in the transaction the session's own limits.
    static let ownLimits: SQL = """
        SELECT pg_catalog.set_config(s.name, s.reset_val, true) FROM pg_catalog.pg_settings AS s
        WHERE s.name OPERATOR(pg_catalog.=) 'lock_timeout' OR s.name OPERATOR(pg_catalog.=) 'statement_timeout'
        """

    /// Names the role whose objects the script may use.
    static func setOwner(_ role: String) -> SQL {
        "SELECT pg_catalog.set_config('kindred.tracking_owner', \(role), true)"
    }

    static let prune: SQL = "SELECT kindred.tracking_prune()"

    /// The state of the outbox; columns that older versions lack are taken from JSON.
    static let status: SQL = """
        SELECT s.version, pg_catalog.date_part('epoch', s.retention), s.bytes,
            pg_catalog.date_part('epoch', pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) s.oldest),
            s.watched_until OPERATOR(pg_catalog.>) pg_catalog.clock_timestamp(), s.has_event_triggers, s.notifies, s.consumers,
            pg_catalog.date_part(
                'epoch', (pg_catalog.to_jsonb(s) OPERATOR(pg_catalog.->>) 'longest_hold')::pg_catalog.interval),
            ARRAY(SELECT pg_catalog.jsonb_array_elements_text(pg_catalog.to_jsonb(s) OPERATOR(pg_catalog.->) 'cut_holds'))
        FROM kindred.tracking_status() AS s
        """

    static let tables: SQL = """
        SELECT t.schema_name, t.table_name, t.relation OPERATOR(pg_catalog.=) t.root, t.key, t.fault
        FROM kindred.tracking_tables() AS t
        """

    // MARK: Reading

    /// A cursor from which on nothing is missed, and the stream that it is of.
    static let begin: SQL = """
        SELECT kindred.tracking_begin()::pg_catalog.text, i.epoch::pg_catalog.text, i.system, i.timeline,
            i.database::pg_catalog.int8, i.version, i.compatible, i.notifies, pg_catalog.date_part('epoch', i.retention)
        FROM kindred.tracking_identity() AS i
        """

    /// The place of the transaction's snapshot, and the stream that it is of.
    static let here: SQL = """
        SELECT pg_catalog.pg_current_snapshot()::pg_catalog.text, i.epoch::pg_catalog.text, i.system, i.timeline,
            i.database::pg_catalog.int8
        FROM kindred.tracking_identity() AS i
        """

    /// The stream that the connection reads is told with each piece: a pool may have connected to another server meanwhile.
    static func read(from cursor: String, limit: Int32) -> SQL {
        """
        SELECT r.snapshot::pg_catalog.text, r.is_last, r.unsafe, r.reason, i.epoch::pg_catalog.text, i.system, i.timeline,
            i.database::pg_catalog.int8, r.xid::pg_catalog.text::pg_catalog.int8, r.relation::pg_catalog.int8,
            r.op::pg_catalog.text, r.depth, r.keys, r.new_keys, r.columns, r.key,
            pg_catalog.date_part('epoch', pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) r.at), i.version, i.compatible
        FROM kindred.tracking_read(\(cursor)::pg_catalog.text::pg_catalog.pg_snapshot, \(limit)::pg_catalog.int4) AS r
        LEFT JOIN kindred.tracking_identity() AS i ON r.snapshot IS NOT NULL
        """
    }

    static let flush: SQL = "SELECT kindred.tracking_flush()"

    static func sleep(milliseconds: Int32) -> SQL {
        "SELECT kindred.tracking_sleep(\(milliseconds)::pg_catalog.int4)"
    }

    static func wake(_ token: Int64) -> SQL { "SELECT kindred.tracking_wake(\(token)::pg_catalog.int8)" }

    static let attend: SQL = "SELECT kindred.tracking_attend()"

    static let rotate: SQL = "SELECT kindred.tracking_rotate()"

    static let check: SQL = "SELECT c.name, c.fault FROM kindred.tracking_check() AS c"

    static let hasEventTriggers: SQL = "SELECT s.has_event_triggers FROM kindred.tracking_status() AS s"

    /// The tracked tables with the columns of keys in records, with the installed version; one row without a table if none is tracked.
    static let trackedTables: SQL = """
        SELECT t.root::pg_catalog.int8, t.key, i.version, i.compatible, t.schema_name::pg_catalog.text,
            t.table_name::pg_catalog.text
        FROM kindred.tracking_identity() AS i
        LEFT JOIN kindred.tracking_tables() AS t ON t.relation OPERATOR(pg_catalog.=) t.root
        """

    /// Which tables hide rows or keys from the role.
    static func hidden(_ tables: [UInt32]) -> SQL {
        """
        SELECT c.oid::pg_catalog.int8, pg_catalog.row_security_active(c.oid),
            NOT pg_catalog.has_table_privilege(c.oid, 'SELECT')
        FROM pg_catalog.pg_class AS c
        WHERE c.oid::pg_catalog.int8 OPERATOR(pg_catalog.=) ANY (\(tables.map { Int64($0) })::pg_catalog.int8[])
        """
    }

    /// Whether tables that no model has concern tables that one has: by a foreign key, as a child or partition, as a view, or by an
    /// annotation.
    static func concern(_ tables: [UInt32], known: [UInt32]) -> SQL {
        """
        SELECT EXISTS (
            SELECT FROM pg_catalog.unnest(\(tables.map { Int64($0) })::pg_catalog.int8[]) AS u (number)
            CROSS JOIN LATERAL (SELECT u.number::pg_catalog.oid AS oid) AS t
            CROSS JOIN LATERAL (
                SELECT k.confrelid AS oid FROM pg_catalog.pg_constraint AS k
                    WHERE k.conrelid OPERATOR(pg_catalog.=) t.oid AND k.contype OPERATOR(pg_catalog.=) 'f'
                UNION ALL
                SELECT i.inhparent FROM pg_catalog.pg_inherits AS i WHERE i.inhrelid OPERATOR(pg_catalog.=) t.oid
                UNION ALL
                SELECT d.refobjid FROM pg_catalog.pg_rewrite AS r JOIN pg_catalog.pg_depend AS d
                    ON d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_rewrite'::pg_catalog.regclass
                        AND d.objid OPERATOR(pg_catalog.=) r.oid
                        AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
                    WHERE r.ev_class OPERATOR(pg_catalog.=) t.oid
            ) AS o
            WHERE o.oid::pg_catalog.int8 OPERATOR(pg_catalog.=) ANY (\(known.map { Int64($0) })::pg_catalog.int8[])
            UNION ALL
            SELECT FROM pg_catalog.pg_description AS d
            WHERE d.classoid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
                AND d.objoid::pg_catalog.int8 OPERATOR(pg_catalog.=) ANY (\(tables.map { Int64($0) })::pg_catalog.int8[])
                AND d.description OPERATOR(pg_catalog.~~) '%@kindred%')
        """
    }

    /// Whether tables were emptied or written anew since the snapshot of the transaction: their rows are in other files.
    static func areEmptied(_ tables: [QualifiedName]) -> SQL {
        """
        SELECT EXISTS (SELECT FROM ROWS FROM (pg_catalog.unnest(\(tables.map(\.schema))::pg_catalog.text[]),
                pg_catalog.unnest(\(tables.map(\.name))::pg_catalog.text[])) AS u (schema_name, table_name)
            JOIN pg_catalog.pg_namespace AS n ON n.nspname OPERATOR(pg_catalog.=) u.schema_name::pg_catalog.name
            JOIN pg_catalog.pg_class AS t ON t.relnamespace OPERATOR(pg_catalog.=) n.oid
                AND t.relname OPERATOR(pg_catalog.=) u.table_name::pg_catalog.name
            CROSS JOIN LATERAL (SELECT t.oid
                UNION SELECT p.relid FROM pg_catalog.pg_partition_tree(t.oid::pg_catalog.regclass) AS p) AS a
            JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) a.oid
            WHERE c.relfilenode OPERATOR(pg_catalog.<>) 0::pg_catalog.oid
                AND pg_catalog.pg_relation_filenode(c.oid::pg_catalog.regclass) IS DISTINCT FROM c.relfilenode)
        """
    }

    /// Asks for the facts that tell apart the servers, databases and installations that connections lead to.
    static let place: SQL = """
        SELECT i.system, i.database::pg_catalog.int8, i.epoch::pg_catalog.text FROM kindred.tracking_identity() AS i
        """

    // MARK: Consumers

    /// - Parameter owner: the role whose members may use it; nil for the caller's.
    static func begin(consumer: String, hold: Double, owner: String?) -> SQL {
        """
        SELECT c.cursor::pg_catalog.text, c.epoch::pg_catalog.text, c.system, i.timeline, c.database::pg_catalog.int8
        FROM kindred.tracking_identity() AS i
        CROSS JOIN kindred.tracking_consumer_begin(\(consumer)::pg_catalog.text, pg_catalog.make_interval(secs => \(hold)),
            \(owner)::pg_catalog.name) AS c
        """
    }

    static func acknowledge(consumer: String, last: String, next: String, epoch: String) -> SQL {
        """
        SELECT kindred.tracking_acknowledge(\(consumer)::pg_catalog.text, \(last)::pg_catalog.text::pg_catalog.pg_snapshot,
            \(next)::pg_catalog.text::pg_catalog.pg_snapshot, \(epoch)::pg_catalog.text::pg_catalog.uuid)
        """
    }

    static func forget(consumer: String) -> SQL {
        "SELECT kindred.tracking_consumer_drop(\(consumer)::pg_catalog.text)"
    }

    // MARK: Installing

    static func setRetention(seconds: Double) -> SQL {
        "UPDATE kindred.tracking_state SET retention = pg_catalog.make_interval(secs => \(seconds))"
    }

    static func setLongestHold(seconds: Double) -> SQL {
        "UPDATE kindred.tracking_state SET longest_hold = pg_catalog.make_interval(secs => \(seconds))"
    }

    static func give(consumer: String, to role: String) -> SQL {
        """
        SELECT kindred.tracking_consumer_give(
            \(consumer)::pg_catalog.text, pg_catalog.quote_ident(\(role)::pg_catalog.text)::pg_catalog.regrole)
        """
    }

    static func grant(_ role: String) -> SQL { "SELECT kindred.tracking_grant(\(role)::pg_catalog.name)" }

    static func enable(_ table: QualifiedName) -> SQL {
        "SELECT kindred.tracking_enable(\(existing(table)))"
    }

    static func disable(_ table: QualifiedName) -> SQL {
        "SELECT kindred.tracking_disable(\(existing(table)))"
    }

    /// Ends the recording of a table that was dropped.
    static func forget(_ table: QualifiedName) -> SQL {
        "SELECT kindred.tracking_forget(\(table.schema)::pg_catalog.text, \(table.name)::pg_catalog.text)"
    }

    /// The statements that `enable` runs.
    static func statements(toEnable table: QualifiedName) -> SQL {
        "SELECT s FROM kindred.tracking_statements(\(existing(table))) AS s"
    }

    /// The statements that `disable` runs.
    static func statements(toDisable table: QualifiedName) -> SQL {
        "SELECT s FROM kindred.tracking_removals(\(existing(table))) AS s"
    }

    /// The table, which the server refuses if it was dropped since its name was looked up.
    private static func existing(_ table: QualifiedName) -> SQL {
        """
        pg_catalog.format('%I.%I', \(table.schema)::pg_catalog.text, \(table.name)::pg_catalog.text)::pg_catalog.regclass
        """
    }
}
