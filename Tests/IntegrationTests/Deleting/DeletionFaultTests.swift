import Kindred
import KindredTesting
import Testing

private let schema = """
    CREATE TABLE parent (id integer PRIMARY KEY, name text);
    CREATE TABLE child (id integer PRIMARY KEY, parent_id integer NOT NULL REFERENCES parent);
    CREATE TABLE grandchild (id integer PRIMARY KEY, child_id integer NOT NULL REFERENCES child);
    CREATE TABLE guard (id integer PRIMARY KEY, child_id integer REFERENCES child);
    CREATE TABLE note (id integer PRIMARY KEY, parent_id integer REFERENCES parent,
        CHECK (parent_id IS NOT NULL OR id < 100));
    CREATE TABLE audit (id integer PRIMARY KEY, grandchild_id integer REFERENCES grandchild);
    CREATE TABLE last (id integer PRIMARY KEY, child_id integer REFERENCES child DEFERRABLE INITIALLY DEFERRED);
    COMMENT ON CONSTRAINT child_parent_id_fkey ON child IS '@kindred {"deleteRule": "cascade"}';
    COMMENT ON CONSTRAINT grandchild_child_id_fkey ON grandchild IS '@kindred {"deleteRule": "cascade"}';
    COMMENT ON CONSTRAINT guard_child_id_fkey ON guard IS '@kindred {"deleteRule": "deny"}';
    COMMENT ON CONSTRAINT note_parent_id_fkey ON note IS '@kindred {"deleteRule": "nullify"}';
    INSERT INTO parent VALUES (1, 'a'), (2, 'b');
    INSERT INTO child VALUES (1, 1), (2, 1), (3, 2);
    INSERT INTO grandchild VALUES (1, 1), (2, 2), (3, 3);
    INSERT INTO note VALUES (1, 1), (2, 2);
    """

/// A fault at every statement of a deletion: memory shows the state of the database.
@Suite struct DeletionFaultTests {
    enum Fault: CaseIterable { case killed, cancelled, timedOut, refused }

    /// The tables at which a deletion can be stopped, one for each of its statements; the last one stops its COMMIT.
    private static let places = ["parent", "child", "grandchild", "guard", "note", "audit", "last"]

    @Test(.database(.sql(schema), timeLimit: .seconds(900)), arguments: Fault.allCases)
    func memoryEqualsTheDatabaseWhereverItStops(fault: Fault) async throws {
        try await withDatabase { database, context, other in
            let graph = try await Graph(context)
            for (position, place) in Self.places.enumerated() {
                // A COMMIT that was sent is not cancelled: the truth about it is waited for.
                if fault == .cancelled && place == "last" { continue }
                // Constraints refuse writes; these two tables are only read.
                if fault == .refused && (place == "guard" || place == "audit") { continue }
                for isNested in LongTests.areOn ? [false, true] : [position % 2 == 0] {
                    try await interrupt(at: place, with: fault, other) {
                        guard isNested else { return try await context.delete(graph.parent) }
                        try await context.transaction {
                            try await graph.parent.setValue("changed", forKey: "name")
                            try await context.delete(graph.parent)
                        }
                    }
                    try await graph.check(database, "\(fault) at \(place)\(isNested ? ", nested" : "")")
                    #expect(!graph.parent.isDeleted, "\(fault) at \(place)")
                }
            }
            try await context.delete(graph.parent)
            try await graph.check(database, "at the end")
            #expect(graph.parent.isDeleted)
        }
    }

    @Test(.database(.sql(schema))) func aConstraintThatIsHitLeavesEverythingAsItWas() async throws {
        try await withDatabase { database, context, other in
            _ = try await other.query("INSERT INTO note VALUES (100, 1)")
            let graph = try await Graph(context)
            await expectError(.constraintViolation) { try await context.delete(graph.parent) }
            try await graph.check(database, "CHECK")
            let note = try await context.fetch("note").where("id = 100").one()
            try await note.setValue(2, forKey: "parent_id")
            _ = try await other.query("INSERT INTO audit VALUES (1, 2)")
            let error = await expectError(.deletionDenied) { try await context.delete(graph.parent) }
            #expect(error?.entity == "public.grandchild" && error?.constraint == "audit_grandchild_id_fkey")
            #expect(error?.key == "auditSet")
            try await graph.check(database, "NO ACTION")
            _ = try await other.query("DELETE FROM audit")
            _ = try await other.query("INSERT INTO guard VALUES (1, 2), (2, 2)")
            let denied = await expectError(.deletionDenied) { try await context.delete(graph.parent) }
            #expect(denied?.entity == "public.child" && denied?.key == "guardSet")
            #expect(denied?.message.contains("kindred:/public/child?id=2") == true)
            #expect(denied?.message.contains("2 objects of public.guard") == true)
            try await graph.check(database, "deny")
            _ = try await other.query("DELETE FROM guard")
            _ = try await other.query("INSERT INTO last VALUES (1, 1)")
            await #expect(throws: (any Error).self) { () async throws in try await context.delete(graph.parent) }
            try await graph.check(database, "deferred")
            _ = try await other.query("DELETE FROM last")
            try await context.delete(graph.parent)
            try await graph.check(database, "at the end")
        }
    }

    /// Runs something that stops at a locked table, and has it fail there.
    func interrupt(
        at table: String,
        with fault: Fault,
        _ other: PostgresClient,
        _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        if fault == .refused { return try await refuse(at: table, other, body) }
        let watcher = try await PostgresClient.connect(try PostgresConfiguration(uri: try TestDatabase.current.uri))
        try await other.withTransaction { transaction in
            try await transaction.query("LOCK TABLE \(identifier: table) IN ACCESS EXCLUSIVE MODE")
            if fault == .timedOut { try await transaction.query("SELECT pg_advisory_xact_lock(1)") }
            let task = Task { try await body() }
            let waiting: SQL = """
                SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()
                """
            try await eventually("the deletion waits at \(table)") { try await watcher.query(waiting).count == 1 }
            switch fault {
            case .killed: _ = try await watcher.query("SELECT pg_terminate_backend(pid) FROM (\(waiting)) AS w")
            case .cancelled: task.cancel()
            case .refused: break
            case .timedOut: _ = try await watcher.query("SELECT pg_cancel_backend(pid) FROM (\(waiting)) AS w")
            }
            await #expect(throws: (any Error).self) { () async throws in try await task.value }
        }
        await watcher.close()
    }
}

extension DeletionFaultTests {
    /// Runs something while a constraint of a table refuses every change of its rows; at `last`, as the COMMIT comes.
    private func refuse(
        at table: String,
        _ other: PostgresClient,
        _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        _ = try await other.query(
            """
            CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                RAISE EXCEPTION 'refused' USING ERRCODE = 'check_violation', CONSTRAINT = 'refused';
            END $$
            """)
        let (place, time) =
            table == "last" ? ("child", "AFTER") : (table, "BEFORE")
        let isDeferred = table == "last"
        _ = try await other.query(
            SQL(
                unsafeRaw: """
                    CREATE \(isDeferred ? "CONSTRAINT " : "")TRIGGER refuse \(time) INSERT OR UPDATE OR DELETE ON \(place) \
                    \(isDeferred ? "DEFERRABLE INITIALLY DEFERRED " : "")FOR EACH ROW EXECUTE FUNCTION refuse()
                    """))
        do {
            try await body()
            Issue.record("nothing was refused at \(table)")
        } catch let error as KindredError {
            #expect(error.constraint == "refused" && error.code == .constraintViolation, "\(table): \(error)")
        } catch let error as PostgresError {
            // An error of the COMMIT is about no statement of an object.
            #expect(isDeferred && error.sqlState == .checkViolation, "\(table): \(error)")
        }
        _ = try await other.query("DROP TRIGGER refuse ON \(identifier: place)")
    }
}

/// Objects that are held, with their relationships loaded.
private struct Graph {
    let parent: DatabaseObject
    let objects: [DatabaseObject]

    init(_ context: DatabaseContext) async throws {
        parent = try await context.fetch("parent").where("id = 1").one()
        var objects = [parent]
        for entity in ["child", "grandchild", "note"] { objects += try await context.fetch(entity).all() }
        self.objects = objects
        for object in objects { _ = try await Self.links(object) }
    }

    func check(_ database: Database, _ place: String) async throws {
        let context = database.makeContext()
        for object in objects {
            guard let id = object.objectID else { continue }
            guard let twin = try? await context.get(id) else {
                #expect(object.isDeleted, "\(object): \(place)")
                continue
            }
            #expect(!object.isDeleted && object.dictionary == twin.dictionary, "\(object): \(place)")
            let (mine, theirs) = (try await Self.links(object), try await Self.links(twin))
            #expect(mine == theirs, "\(object): \(place)")
        }
    }

    private static func links(_ object: DatabaseObject) async throws -> [String: Set<ObjectID?>] {
        var links: [String: Set<ObjectID?>] = [:]
        // Rows that other transactions insert meanwhile cannot be predicted.
        let others = ["guard", "audit", "last"]
        for relationship in object.entity.relationships where !others.contains(relationship.destination.name) {
            links[relationship.name] =
                relationship.isToMany
                ? Set(try await object.set(forKey: relationship.name).objects.map(\.objectID))
                : [try await object.object(forKey: relationship.name)?.objectID]
        }
        return links
    }
}
