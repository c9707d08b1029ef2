import Kindred
import KindredTesting
import Synchronization
import Testing

private let boxes = """
    CREATE TABLE box (id int PRIMARY KEY, code text NOT NULL UNIQUE, n int NOT NULL DEFAULT 0, shelf int NOT NULL DEFAULT 0);
    INSERT INTO box SELECT g, 'c' || g, 0, g % 7 FROM generate_series(1, 400) AS g;
    CREATE TABLE counted (id int PRIMARY KEY, n int NOT NULL DEFAULT 0, shelf int NOT NULL);
    INSERT INTO counted SELECT g, 0, g % 7 FROM generate_series(1, 60) AS g;
    CREATE TABLE shelf (id int PRIMARY KEY, changes int NOT NULL DEFAULT 0);
    INSERT INTO shelf SELECT g, 0 FROM generate_series(0, 6) AS g;
    CREATE FUNCTION count_changes() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN UPDATE shelf SET changes = changes + 1 WHERE id = NEW.shelf; RETURN NULL; END $$;
    CREATE TRIGGER counting AFTER UPDATE ON counted FOR EACH ROW EXECUTE FUNCTION count_changes();
    CREATE TABLE owner (id int PRIMARY KEY);
    INSERT INTO owner SELECT g FROM generate_series(1, 6) AS g;
    CREATE TABLE part (id int PRIMARY KEY, owner_id int CONSTRAINT owner__parts REFERENCES owner);
    INSERT INTO part SELECT g, 1 FROM generate_series(1, 60) AS g ORDER BY random();
    CREATE TABLE tag (id int PRIMARY KEY);
    INSERT INTO tag SELECT g FROM generate_series(1, 60) AS g;
    CREATE TABLE owner_tag (
        owner_id int CONSTRAINT tags REFERENCES owner, tag_id int CONSTRAINT owners REFERENCES tag,
        PRIMARY KEY (owner_id, tag_id));
    """

/// Writers of the same rows: they wait for each other, and where the server ends one of them, its call runs again.
@Suite struct DeadlockTests {
    /// Lends a database whose server looks for deadlocks soon.
    private func withWriters(_ body: (Database, PostgresClient) async throws -> Void) async throws {
        var configuration = try PostgresConfiguration(uri: try TestDatabase.current.uri)
        configuration.settings["deadlock_timeout"] = "50ms"
        configuration.pool.maximumConnections = 8
        configuration.pool.acquireTimeout = .seconds(60)
        let database = try await Database.connect(configuration)
        let other = try await PostgresClient.connect(configuration)
        do {
            try await body(database, other)
        } catch {
            await database.close()
            await other.close()
            throw error
        }
        await database.close()
        await other.close()
    }

    @Test(
        "of 400 rows that two contexts save or upsert in opposite orders, 31 to 39 of 48 saves and 33 to 46 of 48 upserts ended in a deadlock",
        .database(.sql(boxes)))
    func savesAndUpsertsOfTheSameRowsDoNotDeadlock() async throws {
        try await withWriters { database, other in
            for isUpsert in [false, true] {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for isReversed in [false, true] {
                        group.addTask {
                            let context = database.makeContext()
                            let objects = try await context.fetch("box").sorted("id", ascending: !isReversed).all()
                            for round in 1...24 {
                                if isUpsert {
                                    let codes = isReversed ? Array((1...400).reversed()) : Array(1...400)
                                    let rows: [[String: (any PropertyValue)?]] = codes.map {
                                        ["id": 1_000 + $0, "code": "c\($0)", "n": round]
                                    }
                                    let stored = try await context.upsert("box", rows, on: "code")
                                    #expect(stored.map { $0["code"] } == codes.map { .string("c\($0)") })
                                } else {
                                    for object in objects { object["n"] = .integer(Int64(isReversed ? -round : round)) }
                                    try await context.save()
                                }
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                // Fewer than one in a hundred.
                #expect(database.client.metrics.retries == 0)
            }
            #expect(try await other.value("SELECT count(*) FROM box WHERE n = 24") == 400)
        }
    }

    @Test("no deadlock of six writers in random orders reaches the program", .database(.sql(boxes)))
    func sixWritersInRandomOrders() async throws {
        try await withWriters { database, other in
            let kinds: [(String, @Sendable (DatabaseContext, Int) async throws -> Void)] = [
                (
                    "saves",
                    { context, round in
                        for object in try await context.fetch("box").all().shuffled() {
                            object["n"] = .integer(Int64(round * 10_000 + Int.random(in: 0..<10_000)))
                        }
                        try await context.save()
                    }
                ),
                (
                    "upserts",
                    { context, round in
                        let rows: [[String: (any PropertyValue)?]] = (1...400).shuffled().map {
                            ["id": 1_000 + $0, "code": "c\($0)", "n": round]
                        }
                        try await context.upsert("box", rows, on: "code")
                    }
                ),
                (
                    "sets",
                    { context, round in
                        let owner = try await context.get("owner", Int.random(in: 1...6))
                        let parts = try await context.fetch("part").all().shuffled().prefix(30)
                        let tags = try await context.fetch("tag").all().shuffled().prefix(30)
                        try await owner.set(forKey: "parts").formUnion(parts)
                        try await owner.set(forKey: "tags").formUnion(tags)
                        try await owner.set(forKey: "tags").subtract(tags.prefix(10))
                    }
                ),
                (
                    "conditions",
                    { context, round in
                        let number = Int.random(in: 0..<5)
                        try await context.fetch("box").where("shelf >= %@", number)
                            .update(["n": Formula("n + %@", 1)])
                    }
                ),
                (
                    "counting triggers",
                    { context, round in
                        for object in try await context.fetch("counted").all().shuffled() {
                            object["n"] = .integer(Int64(round * 10_000 + Int.random(in: 0..<10_000)))
                        }
                        try await context.save()
                    }
                ),
            ]
            for (name, call) in kinds {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<6 {
                        group.addTask {
                            for round in 1...8 {
                                do {
                                    try await call(database.makeContext(), round)
                                } catch {
                                    Issue.record("\(name): \(error)")
                                }
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
            // The triggers counted each change once.
            #expect(try await other.value("SELECT sum(changes) FROM shelf") == .integer(6 * 8 * 60))
        }
    }

    @Test("a request that has ended in a deadlock locks its rows first when it runs again", .database(.sql(boxes)))
    func afterADeadlockRowsAreLockedFirst() async throws {
        try await withWriters { database, other in
            // Each case has rows of its own: changed rows stand in another order.
            for (isDeletion, rows) in [(false, 1...2), (true, 3...4)] {
                let (count, statements) = try await requestMeeting(
                    other, of: rows, isDeletion: isDeletion, in: database)
                #expect(count == 2)
                let word = isDeletion ? "DELETE FROM" : "UPDATE \"public\""
                let written = statements.filter { $0.contains(word) && $0.contains("$1") }
                #expect(written.map { $0.contains("ORDER BY") } == [false, true], "\(statements)")
            }
        }
    }

    /// Has a request end in a deadlock with another session, which goes on; returns its result, and the statements that
    /// were sent.
    private func requestMeeting(
        _ other: PostgresClient, of rows: ClosedRange<Int>, isDeletion: Bool, in database: Database
    ) async throws -> (Int, [String]) {
        // The server looks once for a deadlock: the other session has to be waiting by then.
        var configuration = database.client.configuration
        configuration.settings["deadlock_timeout"] = "3s"
        // With a model of its own, which knows of no deadlock yet.
        let writer = try await Database.connect(configuration)
        let (count, recorder) = try await recordingStatements {
            let request = try await other.withTransaction { _ in
                // The other session waits longer.
                try await other.query("SELECT set_config('deadlock_timeout', '1min', true)")
                try await other.query("UPDATE box SET n = 1 WHERE id = \(rows.upperBound)")
                let request = Self.request(rows, isDeletion: isDeletion, in: writer)
                try await untilASessionWaits(other)
                try await other.query("UPDATE box SET n = 1 WHERE id = \(rows.lowerBound)")
                return request
            }
            return try await request.value
        }
        await writer.close()
        return (count, recorder.statements)
    }

    private static func request(
        _ rows: ClosedRange<Int>, isDeletion: Bool, in writer: Database
    ) -> Task<Int, any Error> {
        Task {
            let few = try writer.makeContext().fetch("box")
                .where("id >= %@ AND id <= %@", rows.lowerBound, rows.upperBound)
            return isDeletion ? try await few.delete() : try await few.update(["n": 2])
        }
    }

    private func untilASessionWaits(_ client: PostgresClient) async throws {
        let waiting: SQL = """
            SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'
            """
        while try await client.value(waiting) == 0 { try await Task.sleep(for: .milliseconds(5)) }
    }

    @Test("rows of a statement are written in the order of their keys", .database(.sql(orders)))
    func theOrderOfRows() async throws {
        try await withDatabase { database, context, other in
            func written() async throws -> [PostgresValue?] {
                let keys = try await other.values("SELECT key FROM written ORDER BY number")
                try await other.query("TRUNCATE written RESTART IDENTITY")
                return keys
            }
            // The program gives the whole key: in its order.
            for key in [300, -5, 7, 20] { try context.add("plain", ["id": key, "n": 1]) }
            try await context.save()
            #expect(try await written() == ["-5", "7", "20", "300"])
            for object in try await context.fetch("plain").sorted("id", ascending: false).all() { object["n"] = 2 }
            try await context.save()
            #expect(try await written() == ["-5", "7", "20", "300"])
            // The server makes a number: in the order of staging.
            for name in ["b", "a", "c"] { try context.add("numbered", ["code": name]) }
            try await context.save()
            #expect(try await written() == ["b", "a", "c"])
            #expect(
                try await other.values("SELECT code FROM numbered ORDER BY id") == ["b", "a", "c"])
            // Upserts in the order of the conflict's key; the objects in that of the values.
            let codes = ["c", "x", "a", "d"]
            let stored = try await context.upsert(
                "numbered", codes.map { ["code": $0, "n": 5] }, on: "code")
            #expect(stored.map { $0["code"] } == codes.map { .string($0) })
            #expect(try await written() == ["a", "c", "d", "x"])
            let kept = try await context.create(
                "numbered", ["z", "a", "y"].map { ["code": $0] }, unlessExists: "code")
            #expect(kept.map { $0["code"] } == ["z", "a", "y"])
            #expect(try await written() == ["y", "z"])
            // Tables in one order, whichever was changed first.
            let plain = try await context.fetch("plain").sorted("id").first()
            let numbered = try await context.fetch("numbered").sorted("code").first()
            for isReversed in [false, true] {
                for object in isReversed ? [plain, numbered] : [numbered, plain] {
                    object?["n"] = .integer(isReversed ? 8 : 9)
                }
                try await context.save()
                #expect(try await written() == ["a", "-5"])
            }
        }
    }

    private static let orders = """
        CREATE TABLE written (number int GENERATED ALWAYS AS IDENTITY, key text);
        CREATE TABLE plain (id int PRIMARY KEY, n int);
        CREATE TABLE numbered (id int GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, code text NOT NULL UNIQUE, n int);
        CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            INSERT INTO written (key) VALUES (coalesce(to_jsonb(NEW) ->> 'code', to_jsonb(NEW) ->> 'id'));
            RETURN NULL;
        END $$;
        CREATE TRIGGER note AFTER INSERT OR UPDATE ON plain FOR EACH ROW EXECUTE FUNCTION note();
        CREATE TRIGGER note AFTER INSERT OR UPDATE ON numbered FOR EACH ROW EXECUTE FUNCTION note();
        """
}
