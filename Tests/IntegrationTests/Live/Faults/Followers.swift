import KindredTesting
import Testing

@testable import Kindred

// The faults of issue 41 ("Faults to survive"), and the tests that are named after them:
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
// What is not injected:
//
// - NOTIFY queue full: before PostgreSQL 17, which has max_notify_queue_pages, it takes 8 GB of notifications.
// - Clock jumps as such: the server's clock cannot be set. The times that were written before a jump are moved instead; the
//   library itself measures by the monotonic clock.
// - A restore from files that goes on behind the number of the last transaction that was told, without a new timeline: nothing
//   on the server tells it from the server before. `restore` has both that can be told: an xid that went back, and a timeline.

/// Tables with a cascade of three levels, and one that only says how far followers have come.
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

/// Follows some tables in each way that the library has, and compares what these ways show with what SQL says.
///
/// A change sequence of all tables is added up; of the table `list`, which has the columns `id` and `value`, a live request
/// shows some rows, and a tracking context holds all.
struct Followers {
    /// An element that names no rows; its entities without the table of marks.
    struct Gap: Equatable, CustomStringConvertible {
        let reason: ChangeGap
        let entities: [String]

        init(_ reason: ChangeGap, _ entities: String...) { self.init(reason, of: entities) }

        init(_ reason: ChangeGap, of entities: [String]) {
            self.reason = reason
            self.entities = entities
        }

        var description: String { "\(reason) \(entities)" }
    }

    let database: Database
    let other: PostgresClient
    private let tables: [String]
    private let list: String
    /// The columns of the list's key.
    private let key: String
    private var changes: ChangeSequence.AsyncIterator
    private var updates: LiveRequest<DatabaseObject>.AsyncIterator
    private var shown: [[PostgresValue?]]
    private var objects: [String: DatabaseObject] = [:]
    private var owners: [DatabaseObject] = []
    /// The rows by table and key, as the sequence has told them.
    private var told: [String: [String: String]] = [:]
    private var faults: [String] = []
    private var gaps: [Gap] = []
    private var mark: Int64 = 0
    /// The place up to which the sequence was taken.
    private(set) var cursor: ChangeCursor

    /// Begins to follow.
    ///
    /// - Parameters:
    ///   - database: the database of the followers.
    ///   - other: the connection of another program, which says what there is.
    init(
        _ database: Database, seenBy other: PostgresClient, tables: [String] = FaultWorld.tables, list: String = "item",
        key: String = "id"
    ) async throws {
        (self.database, self.other, self.tables, self.list, self.key) = (database, other, tables, list, key)
        let context = database.makeContext()
        let sequence = try await context.changes(of: tables + ["mark"])
        cursor = sequence.cursor
        changes = sequence.makeAsyncIterator()
        updates = try await context.fetch(list).where("value >= %@", 0).sorted("id").live().makeAsyncIterator()
        shown = Self.values(try await updates.update())
        let tracking = database.makeContext(tracking: .automatic)
        for object in try await tracking.fetch(list).all() {
            objects[object.objectID.map(Self.text) ?? ""] = object
        }
        if tables.contains("parent") {
            owners = try await tracking.fetch("parent").all()
            for owner in owners { _ = try await owner.set(forKey: "itemSet").objects }
        }
        for table in tables + ["mark"] { told[table] = try await rows(of: table) }
        mark = Int64(told["mark"]?.keys.compactMap { Int64($0) }.max() ?? 0)
    }

    private static func text(_ id: ObjectID) -> String { id.values.map(\.description).joined(separator: ",") }

    private static func values(_ update: LiveUpdate<DatabaseObject>) -> [[PostgresValue?]] {
        update.objects.map { [$0["id"], $0["value"]] }
    }

    /// What SQL says of a table's rows, by their keys.
    private func rows(of table: String) async throws -> [String: String] {
        let key = table == list ? key : "id"
        var rows: [String: String] = [:]
        let found = try await other.query(
            "SELECT concat_ws(',', \(unsafeRaw: key)), t::text FROM \(identifier: table) AS t")
        for row in found { rows[try row.decode(0, as: String.self) ?? ""] = try row.decode(1, as: String.self) }
        return rows
    }

    // MARK: Expectations

    /// Expects that the sequence, the live request and the context show what SQL says, that nothing was told twice, and which
    /// gap was said since the last call.
    ///
    /// - Parameter reasons: the reasons of gaps that may come or not.
    /// - Returns: all gaps that were said.
    @discardableResult
    mutating func expectAgreement(
        after gap: Gap? = nil, allowing reasons: Set<ChangeGap> = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> [Gap] {
        let said = try await expectTold(sourceLocation: sourceLocation)
        #expect(
            said.filter { !reasons.contains($0.reason) } == [gap].compactMap(\.self), sourceLocation: sourceLocation)
        try await expectList(sourceLocation: sourceLocation)
        try await expectObjects(sourceLocation: sourceLocation)
        return said
    }

    /// Expects that the changes told add up to what SQL says; returns the gaps.
    private mutating func expectTold(sourceLocation: SourceLocation) async throws -> [Gap] {
        mark += 1
        try await other.query("INSERT INTO mark VALUES (\(Int32(clamping: mark)))")
        try await database.tracking.catchUp()
        var isComplete = false
        while !isComplete {
            let element = try #require(try await changes.next(), sourceLocation: sourceLocation)
            try await take(element)
            isComplete = element.cursor != nil && told["mark"]?["\(mark)"] != nil
            cursor = element.cursor ?? cursor
        }
        for table in tables {
            let rows = try await rows(of: table)
            #expect(told[table] == rows, "the sequence of \(table)", sourceLocation: sourceLocation)
        }
        #expect(faults == [], sourceLocation: sourceLocation)
        defer { (faults, gaps) = ([], []) }
        return gaps
    }

    /// Expects that the live request shows what SQL says.
    private mutating func expectList(sourceLocation: SourceLocation) async throws {
        var expected: [[PostgresValue?]] = []
        for row in try await other.query(
            "SELECT id, value FROM \(identifier: list) WHERE value >= 0 ORDER BY id")
        {
            expected.append([try row[0], try row[1]])
        }
        // It was caught up with: an update that was not taken has all.
        if shown != expected { shown = Self.values(try await updates.update()) }
        #expect(shown == expected, "the live request", sourceLocation: sourceLocation)
    }

    /// Expects that the context's objects and sets show what SQL says, without a statement.
    private mutating func expectObjects(sourceLocation: SourceLocation) async throws {
        var expected: [String: PostgresValue?] = [:]
        for row in try await other.query("SELECT concat_ws(',', \(unsafeRaw: key)), value FROM \(identifier: list)") {
            expected.updateValue(try row[1], forKey: try row.decode(0, as: String.self) ?? "")
        }
        for (key, object) in objects {
            if let value = expected[key] {
                #expect(!object.isDeleted && object["value"] == value, "\(list) \(key)", sourceLocation: sourceLocation)
            } else {
                #expect(object.isDeleted, "\(list) \(key)", sourceLocation: sourceLocation)
                // A row that comes back is another object.
                objects[key] = nil
            }
        }
        for owner in owners where !owner.isDeleted {
            guard let id = owner.number else { continue }
            let members = try await FollowedWorld.keys(other, "SELECT id FROM item WHERE parent_id = \(id) ORDER BY id")
            let shown = try await owner.membersInMemory("itemSet")
            #expect(shown == members, "the set of \(id)", sourceLocation: sourceLocation)
        }
        owners.removeAll(where: \.isDeleted)
    }

    /// Adds an element to what was told.
    private mutating func take(_ element: ChangeSequence.Element) async throws {
        switch element {
        case .changes(let changes):
            for id in changes.deleted where told[id.entity.name]?.removeValue(forKey: Self.text(id)) == nil {
                faults.append("\(id) was deleted, but not known")
            }
            var rows: [String: [String: String]] = [:]
            for id in changes.inserted.union(changes.updated.keys) {
                let (table, key) = (id.entity.name, Self.text(id))
                if (told[table]?[key] == nil) != changes.inserted.contains(id) {
                    faults.append("\(id) was inserted twice, or updated and not known")
                }
                if rows[table] == nil { rows[table] = try await self.rows(of: table) }
                told[table]?[key] = rows[table]?[key]
            }
        case .everything(let reason, let entities, _):
            let names = entities.map(\.name)
            for name in names where told[name] != nil { told[name] = try await rows(of: name) }
            gaps.append(Gap(reason, of: names.filter { $0 != "mark" }))
        }
    }
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

    /// Waits until the server answers over a connection that was not lost.
    func waitForServer() async throws {
        try await eventually("the server does not answer") { (try? await query("SELECT 1")) != nil }
    }
}
