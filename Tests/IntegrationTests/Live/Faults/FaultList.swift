import KindredTesting
import Testing

@testable import Kindred
@testable import KindredLive

// The faults that live changes have to survive, and the tests that are named after them:
//
// | fault | suite | test |
// |---|---|---|
// | listener killed | ListenerFaultTests | killed |
// | listener black-holed | ListenerFaultTests | blackHoled |
// | listener SIGSTOP | ListenerFaultTests | stopped, stoppedForLong |
// | hostile payload on the channel | ListenerFaultTests | hostilePayload |
// | server immediate stop and crash, UNLOGGED flags empty afterwards | ServerFaultTests | crash |
// | restore to an earlier point | ServerFaultTests | restore |
// | dump and restore | ServerFaultTests | dumpAndRestore |
// | prepared transactions | ServerFaultTests | prepared |
// | outbox's disk full | OutboxFaultTests | fullDisk, where root may mount |
// | outbox unwritable | OutboxFaultTests | unwritable |
// | pg_dump's lock during rotation | OutboxFaultTests | dumpDuringRotation |
// | clock jumps | OutboxFaultTests | clockJumps |
// | long, aborted transactions; 1,000 subtransactions | TransactionFaultTests | long, aborted, subtransactions |
// | TRUNCATE; table rename; column add and drop | DefinitionFaultTests | truncate, rename, columns |
// | partition attach, detach, move of a row | DefinitionFaultTests | partitions |
// | DROP and CREATE of a tracked table in one transaction | DefinitionFaultTests | madeAnew |
// | session_replication_role = replica; DISABLE TRIGGER ALL | DefinitionFaultTests | replicaRole, disabledTriggers |
// | ON CONFLICT with 0 rows; MERGE; data-modifying WITH; COPY | WriterFaultTests | conflict, merge, with, copy |
// | cascades of three levels; 10^6-row statement | WriterFaultTests | cascades, manyRows |
// | a role without rights; RLS on the table | ReaderFaultTests | withoutRights, policies |
// | slow or stuck consumer | ReaderFaultTests | stuckConsumer |
// | statement timeout during a read | ReaderFaultTests | statementTimeout |
// | two library versions | Live/Versions | |
//
// Faults that are not injected:
//
// - NOTIFY queue full: before PostgreSQL 17, which has max_notify_queue_pages, it takes 8 GB of notifications.
// - Clock jumps as such: the server's clock cannot be set. The times that were written before a jump are moved instead;
//   the library itself measures by the monotonic clock.
// - A restore of files that has gone on behind the number of the last transaction that was told before a reader looks:
//   without a new timeline nothing on the server tells it from the database before. `restore` has the cases that can be
//   told: an xid that went back, and a new timeline.

/// Tables with a cascade of three levels, and a table that only says how far followers have come.
enum FaultWorld {
    static let schema = """
        CREATE TABLE parent (id integer PRIMARY KEY, name text);
        CREATE TABLE item (
            id integer PRIMARY KEY, value integer, parent_id integer REFERENCES parent ON DELETE CASCADE);
        CREATE TABLE leaf (id integer PRIMARY KEY, item_id integer REFERENCES item ON DELETE CASCADE);
        CREATE TABLE mark (id integer PRIMARY KEY);
        INSERT INTO parent VALUES (1, 'a'), (2, 'b');
        INSERT INTO item SELECT i, i, 1 + i % 2 FROM generate_series(1, 6) AS i;
        INSERT INTO leaf SELECT i, i FROM generate_series(1, 6) AS i;
        """

    static let tables = ["parent", "item", "leaf"]
}

/// Lends followers of tables in the test's database, and a connection of another program.
///
/// - Parameters:
///   - list: the table of the live request and the objects.
///   - change: changes the configuration of the followers' connections.
func withFollowers(
    tables: [String] = FaultWorld.tables, list: String = "item", key: String = "id",
    configure change: (inout PostgresConfiguration) -> Void = { _ in },
    _ body: (_ followers: inout Followers, _ other: PostgresClient) async throws -> Void
) async throws {
    try await withDatabase { owner, _, other in
        try await owner.tracking.install()
        try await owner.tracking.enable(tables + ["mark"])
        var configuration = owner.client.configuration
        configuration.applicationName = "followers"
        change(&configuration)
        let database = try await Database.connect(configuration)
        do {
            var followers = try await Followers(database, seenBy: other, tables: tables, list: list, key: key)
            try await body(&followers, other)
        } catch {
            await database.close(timeout: .zero)
            throw error
        }
        await database.close()
    }
}

extension RestartableServer {
    /// Lends followers of the world's tables on the server, and a connection of another program.
    func withFollowers(
        _ body: (_ followers: inout Followers, _ other: PostgresClient) async throws -> Void
    ) async throws {
        var (single, followed) = (configuration, configuration)
        // So that none is left of a server that has ended.
        single.pool.maximumConnections = 1
        followed.applicationName = "followers"
        try await lend(single) { other in
            try await other.runScript(FaultWorld.schema)
            try await Tracking(other).install()
            try await Tracking(other).enable(FaultWorld.tables + ["mark"])
            let database = try await Database.connect(followed)
            do {
                var followers = try await Followers(database, seenBy: other)
                try await body(&followers, other)
            } catch {
                await database.close(timeout: .zero)
                throw error
            }
            await database.close(timeout: .seconds(1))
        }
    }
}

extension PostgresClient {
    /// The processes of the followers' sessions, of which one listens.
    func followersSessions() async throws -> [Int32] {
        try await query(
            """
            SELECT pid FROM pg_stat_activity
            WHERE application_name = 'followers' AND datname = current_database() AND pid <> pg_backend_pid()
            """
        ).compactMap { try $0.decode(0, as: Int32.self) }
    }

    /// Waits until the server takes writes, over a connection that was not lost.
    func waitForServer() async throws {
        try await eventually("the server does not answer") {
            (try? await value("SELECT pg_is_in_recovery()")) == .bool(false)
        }
    }
}
