import Kindred
import KindredPostgres
import KindredSchema
import Synchronization

/// The outbox that the helper schema's triggers write.
struct OutboxSource: ChangeSource {
    /// The server's answers to the last `begin`.
    private final class Facts: Sendable {
        let notifies = Atomic(false)
        let retention = RankedMutex(Duration.seconds(3_600), .leaf)
    }

    private let database: Database
    private let facts = Facts()

    init(_ database: Database) {
        self.database = database
    }

    func begin() async throws -> ChangeCursor {
        try await database.requireHelperSchema()
        guard let row = try await query(TrackingStatements.begin).first else { throw Self.silent }
        try Tracking.requireCompatible(row, at: 5)
        facts.notifies.store(try row.decode(7, as: Bool.self) ?? false, ordering: .relaxed)
        let retention = Duration.seconds(try row.decode(8, as: Double.self) ?? 0)
        facts.retention.withLock { $0 = retention }
        return try ChangeCursor(row, snapshot: 0, stream: 1)
    }

    func place() async throws -> ChangeCursor {
        guard let row = try await query(TrackingStatements.here).first else { throw Self.silent }
        return try ChangeCursor(row, snapshot: 0, stream: 1)
    }

    func read(from cursor: ChangeCursor, limit: Int) async throws -> ChangePiece {
        let rows = try await query(TrackingStatements.read(from: cursor.snapshot, limit: Int32(clamping: limit)))
        guard let first = rows.first else { throw Self.silent }
        try Tracking.requireCompatible(first, at: 17)
        let next = try ChangeCursor(first, snapshot: 0, stream: 4)
        var piece = ChangePiece(cursor: next)
        piece.isLast = try first.decode(1, as: Bool.self) ?? true
        piece.isUnsafe = try first.decode(2, as: Bool.self) ?? false
        // The snapshot of another server's cursor says nothing here.
        let refusal = next.refusal(of: cursor)
        piece.refusal =
            switch try first.decode(3, as: String.self) {
            case "expired" where refusal != .foreignCursor: .expired
            case .some: .foreignCursor
            case nil: refusal
            }
        guard piece.refusal == nil else { return piece }
        for row in rows.dropFirst() {
            if let record = try ChangeRecord(row) { piece.records.append(record) }
            if let age = try row.decode(16, as: Double.self) { piece.age = max(piece.age, .seconds(age)) }
        }
        return piece
    }

    func tables() async throws -> [UInt32: TrackedTable] {
        var tables: [UInt32: TrackedTable] = [:]
        try await database.requireHelperSchema()
        for row in try await query(TrackingStatements.trackedTables) {
            try Tracking.requireCompatible(row, at: 2)
            guard let table = try row.oid(at: 0), let schema = try row.decode(4, as: String.self),
                let name = try row.decode(5, as: String.self)
            else { continue }
            tables[table] = TrackedTable(
                key: try row.decode(1, as: [String].self) ?? [], name: QualifiedName(schema: schema, name: name))
        }
        return tables
    }

    func flush() async throws { _ = try await query(TrackingStatements.flush) }

    var notifies: Bool { facts.notifies.load(ordering: .relaxed) && database.live.listening.isWanted }

    func sleep(for duration: Duration) async throws -> Int64 {
        let milliseconds = Int32(clamping: Int64(duration / .milliseconds(1)))
        let row = try await query(TrackingStatements.sleep(milliseconds: milliseconds)).first
        guard let token = try row?.decode(0, as: Int64.self) else { throw Self.silent }
        return token
    }

    func wake(_ token: Int64) async throws { _ = try await query(TrackingStatements.wake(token)) }

    func notifications() async throws -> Notifications { try await database.notifications(on: "kindred_tracking") }

    func attend() async throws {
        _ = try await query(TrackingStatements.attend)
        // 100,000 records are emptied at a time, each time in a transaction of its own.
        for _ in 0..<100 {
            let done = try await query(TrackingStatements.rotate).first?.decode(0, as: String.self)
            guard done == "emptying" else { return }
        }
    }

    var attendance: Duration { min(.seconds(60), facts.retention.withLock { $0 } / 3) }

    func check() async throws -> ChangeCheck {
        let faults = try await query(TrackingStatements.check)
        let isMissing = try faults.contains { try $0.decode(1, as: String.self) != "dropped" }
        let tells = try await query(TrackingStatements.hasEventTriggers).first?.decode(0, as: Bool.self) ?? false
        return ChangeCheck(tellsDefinitions: tells, isMissing: isMissing)
    }

    private func query(_ sql: SQL) async throws -> QueryResult {
        database.live.trackingMetrics.withLock { $0.readerStatements += 1 }
        return try await KindredError.tracking(database.client) { try await database.client.execute(own: sql) }
    }

    private static var silent: PostgresError {
        PostgresError(.protocolViolation, "The reading statement gave no row")
    }
}

extension ChangeCursor {
    /// A snapshot, and the stream in five columns from a place on.
    init(_ row: Row, snapshot: Int, stream: Int) throws {
        self.init(
            epoch: try row.decode(stream, as: String.self) ?? "",
            system: try row.decode(stream + 1, as: Int64.self) ?? 0,
            timeline: try row.decode(stream + 2, as: String.self) ?? "",
            database: try row.oid(at: stream + 3) ?? 0,
            snapshot: try row.decode(snapshot, as: String.self) ?? "")
    }
}

extension Row {
    fileprivate func oid(at column: Int) throws -> UInt32? {
        try decode(column, as: Int64.self).flatMap { UInt32(exactly: $0) }
    }
}

extension ChangeRecord {
    /// nil for an operation that a newer helper schema writes.
    fileprivate init?(_ row: Row) throws {
        guard let letter = try row.decode(10, as: String.self)?.first, let operation = Operation(rawValue: letter),
            let relation = try row.oid(at: 9)
        else { return nil }
        self.init(
            transaction: try row.decode(8, as: Int64.self) ?? 0,
            relation: relation,
            operation: operation,
            depth: Int(try row.decode(11, as: Int16.self) ?? 0),
            keys: try row.decode(12, as: [String].self),
            newKeys: try row.decode(13, as: [String].self),
            columns: try row.decode(14, as: [String].self),
            key: try row.decode(15, as: [String].self),
            reason: try row.decode(3, as: String.self))
    }
}

extension KindredError {
    /// Translates an error of the helper schema's functions; nil for all other errors.
    init?(tracking error: PostgresError) {
        switch error.sqlState {
        case .undefinedFunction?, .invalidSchemaName?, .undefinedTable?:
            self.init(.trackingNotInstalled, Tracking.notInstalled, underlying: error)
        // 55000: functions about the log that a standby refuses by itself.
        case SQLState(rawValue: "KT003")?, SQLState(rawValue: "55000")?:
            self.init(
                .trackingOnStandby,
                "The server is a standby, whose snapshots list no running transactions: read changes on the primary",
                underlying: error)
        // A consumer of another role.
        case SQLState(rawValue: "KT004")?:
            self.init(.accessDenied, error.server?.message ?? error.message, underlying: error)
        case .insufficientPrivilege?:
            self.init(
                .accessDenied,
                "The role may not read changes: give it the right by `kindred install --reader ROLE`",
                underlying: error)
        default: return nil
        }
    }

    /// The error for tables whose changes are not recorded.
    init(untracked tables: some Sequence<QualifiedName>) {
        let names = Set(texts: tables.map(\.description)).sorted().texts
        self.init(
            .trackingNotEnabled,
            """
            The changes of \(names.joined(separator: ", ")) are not recorded: run `kindred enable \
            \(names.joined(separator: " "))`, or call database.tracking.enable
            """, entity: names.count == 1 ? names[0] : nil)
    }
}
