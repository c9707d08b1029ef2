/// The role of a server and its place in the log, as it tells them.
struct ServerSample: Sendable, Equatable {
    /// Whether it replays the log of a primary.
    let isReplica: Bool
    /// The place that it has flushed, or as a replica replayed; nil where it is not asked for.
    let position: DatabasePosition?
    /// Whether transactions are read-only if they do not say otherwise.
    let isReadOnly: Bool
    /// The time when it was started, by its own clock: two addresses may be one server's.
    let startedAt: String
    /// Whether a replica shows the role neither which timeline it receives nor the primary's mark.
    var hidesTimeline = false

    /// Asks a server that tells no positions.
    static let roleQuestion = Statement(
        text: StatementText(
            catalog: """
                SELECT pg_catalog.pg_is_in_recovery()::pg_catalog.text, \
                pg_catalog.current_setting('transaction_read_only')
                """),
        resultFormat: .text)

    /// A replica counts for the timeline that it receives, as it has then replayed nothing beyond the place where that began.
    ///
    /// A role without `pg_read_all_stats` sees NULL in its place. Control data show a timeline from the first restartpoint on,
    /// which may come minutes after a promotion. So such a role looks at the mark that a reader of changes has the primary write,
    /// a sequence of change tracking: nothing of that schema is called. It counts if the installation belongs to a superuser, to
    /// the database's owner, to the role itself or to the role that the program names.
    ///
    /// Throws `PostgresError` for a name that no role can have.
    ///
    /// - Parameter owner: the role that the program names as the owner of change tracking.
    static func question(trusting owner: String?) throws -> Statement {
        var bindings = Bindings()
        // No role has the empty name.
        try bindings.append(text: owner ?? "")
        return Statement(text: question, bindings: bindings, resultFormat: .text)
    }

    private static let question = StatementText(
        catalog: """
            SELECT r.is_replica::pg_catalog.text, pg_catalog.current_setting('transaction_read_only'), \
            pg_catalog.date_part('epoch', pg_catalog.pg_postmaster_start_time())::pg_catalog.text, \
            CASE WHEN r.is_replica THEN pg_catalog.pg_last_wal_replay_lsn() ELSE pg_catalog.pg_current_wal_flush_lsn() END::pg_catalog.text, s.system_identifier::pg_catalog.text, \
            CASE WHEN r.is_replica THEN pg_catalog.to_hex(GREATEST( \
            c.timeline_id, y.min_recovery_end_timeline, w.received_tli, m.timeline)::pg_catalog.int8) \
            ELSE pg_catalog.substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_insert_lsn()), 1, 8) END, \
            (w.pid IS NOT NULL AND w.received_tli IS NULL AND m.timeline IS NULL)::pg_catalog.text \
            FROM (SELECT pg_catalog.pg_is_in_recovery() AS is_replica) AS r, pg_catalog.pg_control_system() AS s, \
            pg_catalog.pg_control_checkpoint() AS c, pg_catalog.pg_control_recovery() AS y \
            LEFT JOIN pg_catalog.pg_stat_wal_receiver AS w ON true \
            LEFT JOIN LATERAL ( \
            SELECT (k.mark & 4294967295) AS timeline FROM ( \
            SELECT CASE WHEN pg_catalog.has_sequence_privilege(q.oid, 'SELECT') \
            THEN pg_catalog.pg_sequence_last_value(q.oid::pg_catalog.regclass) END AS mark \
            FROM pg_catalog.pg_class AS q JOIN pg_catalog.pg_namespace AS n ON n.oid = q.relnamespace \
            JOIN pg_catalog.pg_roles AS o ON o.oid = q.relowner \
            WHERE w.pid IS NOT NULL AND w.received_tli IS NULL \
            AND n.nspname = 'kindred' AND q.relname = 'tracking_timeline' AND q.relkind = 'S' \
            AND (o.rolsuper OR o.rolname = current_user OR o.rolname = $1::pg_catalog.name OR o.oid = ( \
            SELECT d.datdba FROM pg_catalog.pg_database AS d WHERE d.datname = pg_catalog.current_database())) \
            ) AS k WHERE (k.mark >> 32) = (s.system_identifier & 2147483647)) AS m ON true
            """)
}

extension ServerSample {
    /// The sample with the timeline of an earlier one, if that is of the same run of the server and newer: a replica goes back
    /// to none while it runs, but shows the timeline that it receives only while it is connected.
    func after(_ former: ServerSample?) -> ServerSample {
        guard isReplica, let former, former.isReplica, former.startedAt == startedAt, let position,
            let known = former.position, known.system == position.system, known.timeline > position.timeline
        else { return self }
        return ServerSample(
            isReplica: isReplica,
            position: DatabasePosition(
                system: position.system, timeline: known.timeline, location: position.location),
            isReadOnly: isReadOnly, startedAt: startedAt, hidesTimeline: hidesTimeline)
    }

    /// Reads the answer to either question; nil for a server that does not say all of it.
    init?(answer: QueryResult) {
        let count = answer.columns.count
        guard let row = answer.first, let texts = try? (0..<count).map({ try row.decode($0, as: String.self) }),
            count == 2 || count == 7, let isReplica = texts[0], let isReadOnly = texts[1]
        else { return nil }
        if count == 2 {
            self.init(isReplica: isReplica == "true", position: nil, isReadOnly: isReadOnly == "on", startedAt: "")
            return
        }
        guard let startedAt = texts[2], let location = texts[3].flatMap({ DatabasePosition.location($0) }),
            let system = texts[4].flatMap({ UInt64($0) }), let timeline = texts[5].flatMap({ UInt32($0, radix: 16) })
        else { return nil }
        self.init(
            isReplica: isReplica == "true",
            position: DatabasePosition(system: system, timeline: timeline, location: location),
            isReadOnly: isReadOnly == "on", startedAt: startedAt, hidesTimeline: texts[6] == "true")
    }
}
