import Kindred
import KindredPostgres
import KindredSchema

/// Begins to follow the changes of entities.
struct ChangeFollower {
    private let database: Database
    private let reader: ChangeReader

    init(_ database: Database) {
        self.database = database
        reader = database.changeReader
    }

    /// The changes since a cursor, or from the present on.
    func changes(
        of entities: [EntityRuntime], since cursor: ChangeCursor?, limit: Int
    ) async throws -> ChangeSequence {
        try await requireNamed(entities)
        let (subscription, start) = try await subscribe(to: entities, since: cursor, limit: limit)
        return ChangeSequence(subscription, from: start)
    }

    /// The changes since a consumer's cursor in the database.
    func changes(
        of entities: [EntityRuntime], consumer: String, hold: Duration, limit: Int
    ) async throws -> ChangeSequence.Acknowledged {
        guard hold >= .seconds(1) else {
            throw KindredError(.invalidRequest, "A consumer's hold is a second at least")
        }
        try await requireNamed(entities)
        // Detached: the caller may be in a transaction.
        let begin = Task.detached { [database] in
            try await database.client.execute(
                own:
                    TrackingStatements.begin(
                        consumer: consumer, hold: hold / .seconds(1), owner: database.live.consumerOwner))
        }
        guard let row = try await KindredError.tracking(database.client, { try await begin.value }).first else {
            throw PostgresError(.protocolViolation, "The server gave no cursor")
        }
        let cursor = try ChangeCursor(row, snapshot: 0, stream: 1)
        let progress = ConsumerProgress(consumer, database, at: cursor, hold: hold)
        let (subscription, start) = try await subscribe(to: entities, since: cursor, limit: limit)
        return ChangeSequence.Acknowledged(subscription, progress, from: start)
    }

    private func subscribe(
        to entities: [EntityRuntime], since cursor: ChangeCursor?, limit: Int
    ) async throws -> (ChangeSequence.Subscription, ChangeCursor) {
        let feed = ChangeFeed(reader, of: entities, since: cursor, limit: limit)
        let subscription = ChangeSequence.Subscription(reader, feed)
        try await reader.add(feed)
        guard let start = feed.start else { throw CancellationError() }
        return (subscription, start)
    }

    // MARK: Requirements

    /// Throws unless the role may know every key of the entities' rows that change.
    private func requireNamed(_ entities: [EntityRuntime]) async throws {
        guard !entities.isEmpty else {
            throw KindredError(.invalidRequest, "Name the entities whose changes are wanted")
        }
        for entity in entities {
            try entity.entity.requireRecordable()
            let isTable = entity.entity.kind == .table || entity.entity.kind == .partitionedTable
            guard isTable, !entity.key.isEmpty else {
                throw KindredError(
                    .untrackable,
                    isTable
                        ? "\(entity.name) has no key, so that changes cannot name its rows"
                        : "\(entity.name) is no table, and changes of it are not recorded: follow a request, by live()",
                    entity: entity.name.description)
            }
        }
        try await requireEnabled(entities)
        let rows = try await database.client.execute(own: TrackingStatements.hidden(entities.map(\.entity.oid)))
        for row in rows {
            let oid = try row.decode(0, as: Int64.self)
            guard let entity = entities.first(where: { Int64($0.entity.oid) == oid }) else { continue }
            let isHidden = try row.decode(1, as: Bool.self) == true
            guard try isHidden || row.decode(2, as: Bool.self) == true else { continue }
            let reason =
                isHidden
                ? "A row-level security policy of \(entity.name) applies to the role"
                : "The role may not read all columns of \(entity.name)"
            throw KindredError(
                .accessDenied, "\(reason), and keys are data: follow a request, by live()",
                entity: entity.name.description)
        }
    }

    /// Throws unless changes of all these tables are recorded; the error names all tables that are not.
    func requireEnabled(_ entities: [EntityRuntime]) async throws {
        let tables = try await reader.source.tables()
        let missing = entities.filter { tables[$0.entity.oid] == nil }.map(\.name)
        guard missing.isEmpty else { throw KindredError(untracked: missing) }
    }
}
