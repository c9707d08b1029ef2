import Kindred
import KindredPostgres
import KindredSchema
import Synchronization

/// Tells other processes which rows the transactions of this process have locked.
///
/// It has a connection of its own, opened at the first announcement: an open transaction tells nothing before its end,
/// and if all connections of the pool are in such transactions, no other connection is left.
final class LockAnnouncer: LockConnection {
    private let configuration: PostgresConfiguration
    private let state = RankedMutex(State(), .leaf)

    private struct State {
        var connecting: Task<PostgresClient, any Error>?
        var isClosed = false
    }

    private init(_ client: PostgresClient) {
        var configuration = client.configuration
        configuration.pool.minimumConnections = 0
        configuration.pool.maximumConnections = 1
        configuration.pool.idleTimeout = .seconds(60)
        self.configuration = configuration
    }

    /// The announcer of a database.
    static func of(_ database: Database) -> LockAnnouncer {
        database.live.lockAnnouncer.withLock { known in
            if let announcer = known as? LockAnnouncer { return announcer }
            let made = LockAnnouncer(database.client)
            known = made
            return made
        }
    }

    /// Announces that the task's transaction has locked an object's row, until the transaction or the savepoint ends.
    func announce(_ object: DatabaseObject, _ text: String) async throws {
        let database = object.core.database
        let entity = object.runtime
        guard let id = object.objectID?.uri else { return }
        try await database.requireHelperSchema()
        guard let row = try await database.client.execute(own: AnnouncementStatements.holder).first,
            let transaction = try row.decode(0, as: String.self), let process = try row.decode(1, as: Int32.self)
        else { return }
        let sql = AnnouncementStatements.announce(
            id, of: entity.entity, transaction: transaction, process: process, text)
        let isNew = try await Self.translated(entity.name, connected) {
            try await self.send(sql).first?.decode(0, as: Bool.self) ?? false
        }
        // A lock that was announced before a savepoint stays announced after its rollback.
        guard isNew else { return }
        TransactionJournal.current(of: database)?.atEnd {
            // A connection that is lost matters little: readers see by themselves that the transaction has ended.
            _ = try? await self.send(AnnouncementStatements.withdraw([id], transaction: transaction))
        }
    }

    /// The announced locks of an entity's objects.
    static func held(_ entity: EntityRuntime, in core: ContextCore) async throws -> [AnnouncedLocks.Lock] {
        try await core.database.requireHelperSchema()
        let rows = try await translated(entity.name, { core.client }) {
            try await core.client.execute(own: AnnouncementStatements.announced(entity.entity))
        }
        return try rows.compactMap { row in
            // A row of a table that was renamed since has no ID in this model.
            guard let text = try row.decode(0, as: String.self),
                let id = try? ObjectID(uri: text, core.entity(named:)),
                let since = try row.decode(5, as: PostgresTimestamp.self)
            else { return nil }
            return AnnouncedLocks.Lock(
                object: id, text: try row.decode(4, as: String.self) ?? "",
                role: try row.decode(3, as: String.self) ?? "",
                process: try row.decode(2, as: Int32.self) ?? 0, since: since,
                transaction: try row.decode(1, as: String.self) ?? "")
        }
    }

    /// Closes the connection; no other is opened after that.
    func close() async {
        let task = state.withLock { state in
            defer { state = State(isClosed: true) }
            return state.connecting
        }
        await (try? task?.value)?.close()
    }

    /// Sends a statement, outside of the task's transaction and whether or not the task is cancelled.
    private func send(_ sql: SQL) async throws -> QueryResult {
        try await Task.detached { try await self.connected().query(sql) }.value
    }

    private func connected() async throws -> PostgresClient {
        let task = try state.withLock { state in
            // At the end of a transaction that the close of the database has ended.
            if state.isClosed { throw PostgresError(.closed, "The database was closed") }
            if let task = state.connecting { return task }
            let made = Task.detached { [configuration] in try await PostgresClient.connect(configuration) }
            state.connecting = made
            return made
        }
        do {
            return try await task.value
        } catch {
            state.withLock { if $0.connecting == task { $0.connecting = nil } }
            throw error
        }
    }

    /// Says where the helper schema is missing or another version, or the role may not know of a table's rows.
    private static func translated<T: Sendable>(
        _ entity: QualifiedName, _ client: () async throws -> PostgresClient, body: () async throws -> T
    ) async throws -> T {
        do {
            return try await body()
        } catch let error as PostgresError {
            switch error.sqlState {
            case .undefinedFunction?, .invalidSchemaName?:
                let missing = KindredError(.trackingNotInstalled, Tracking.notInstalled, underlying: error)
                guard let client = try? await client() else { throw missing }
                throw await Tracking.explained(missing, client)
            default: throw KindredError(rejectedStatement: error, entity: entity) ?? error
            }
        }
    }
}
