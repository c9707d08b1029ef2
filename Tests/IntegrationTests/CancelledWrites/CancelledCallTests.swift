import Kindred
import KindredTesting
import Synchronization
import Testing

private let schema = """
    CREATE TABLE person (id int PRIMARY KEY, name text NOT NULL, age int);
    CREATE TABLE email (id int PRIMARY KEY, address text NOT NULL UNIQUE, person_id int REFERENCES person ON DELETE SET NULL);
    CREATE TABLE passport (id int PRIMARY KEY, person_id int UNIQUE REFERENCES person ON DELETE CASCADE);
    CREATE TABLE title (id int PRIMARY KEY, name text NOT NULL);
    CREATE TABLE person_title (
        person_id int REFERENCES person ON DELETE CASCADE, title_id int REFERENCES title ON DELETE CASCADE,
        PRIMARY KEY (person_id, title_id));
    CREATE TABLE task (id int PRIMARY KEY, place int, person_id int REFERENCES person ON DELETE SET NULL);
    COMMENT ON CONSTRAINT task_person_id_fkey ON task IS '@kindred {"orderedBy": "place"}';
    """

private let rows = """
    TRUNCATE person, email, passport, title, person_title, task;
    INSERT INTO person VALUES (1, 'Ann', 30), (2, 'Bob', 40);
    INSERT INTO email VALUES (1, 'a', 1), (2, 'b', 1), (3, 'c', 2), (4, 'd', NULL);
    INSERT INTO passport VALUES (1, 1), (2, NULL);
    INSERT INTO title VALUES (1, 'Dr'), (2, 'Prof'), (3, 'Sir');
    INSERT INTO person_title VALUES (1, 1), (1, 2);
    INSERT INTO task VALUES (1, 1, 1), (2, 2, 1), (3, 3, 1), (4, NULL, NULL)
    """

/// A call whose task is cancelled behind one of its statements has stored all, or nothing, and says which.
@Suite(.database(.sql(schema), timeLimit: .seconds(600))) struct CancelledCallTests {
    /// The objects that the calls change.
    struct Scene: Sendable {
        let context: DatabaseContext
        let people: [DatabaseObject]
        let emails: [DatabaseObject]
        let passports: [DatabaseObject]
        let titles: [DatabaseObject]
        let tasks: [DatabaseObject]

        init(_ context: DatabaseContext) async throws {
            self.context = context
            people = try await context.fetch("person").sorted("id").all()
            emails = try await context.fetch("email").sorted("id").all()
            passports = try await context.fetch("passport").sorted("id").all()
            titles = try await context.fetch("title").sorted("id").all()
            tasks = try await context.fetch("task").sorted("id").all()
            for person in people { _ = try await person.set(forKey: "emailSet").objects }
        }
    }

    struct Call: Sendable {
        let name: String
        let run: @Sendable (Scene) async throws -> Void
    }

    private static let calls: [Call] = [
        Call(name: "create") { try await $0.context.create("person", ["id": 9, "name": "New"]) },
        Call(name: "setValue") { try await $0.people[0].setValue("Zoe", forKey: "name") },
        Call(name: "save") { scene in
            let new = try scene.context.add("person", ["id": 9, "name": "New"])
            try scene.context.add("email", ["id": 9, "address": "z", "person": new])
            scene.people[1]["name"] = "Zoe"
            try await new.set(forKey: "titleSet").insert(scene.titles[2])
            try await scene.context.save()
        },
        Call(name: "member") { try await $0.people[0].set(forKey: "emailSet").insert($0.emails[2]) },
        Call(name: "members") { try await $0.people[0].set(forKey: "emailSet").formUnion($0.emails) },
        Call(name: "set of members") { try await $0.people[0].set(forKey: "emailSet").set($0.emails[2...]) },
        Call(name: "no members") { try await $0.people[0].set(forKey: "emailSet").removeAll() },
        Call(name: "pair") { try await $0.people[0].set(forKey: "titleSet").insert($0.titles[2]) },
        Call(name: "set of pairs") { try await $0.people[0].set(forKey: "titleSet").set($0.titles[1...]) },
        Call(name: "no pair") { try await $0.people[0].set(forKey: "titleSet").remove($0.titles[0]) },
        Call(name: "partner") { try await $0.people[1].setValue($0.passports[0], forKey: "passport") },
        Call(name: "order") { try await $0.people[0].set(forKey: "taskSet").move(from: 0, to: 2) },
        Call(name: "delete") { try await $0.context.delete($0.people[0]) },
        Call(name: "delete without rules") { try await $0.context.delete($0.emails[0]) },
        Call(name: "delete by condition") { _ = try await $0.context.fetch("email").where("id < 3").delete() },
        Call(name: "update by condition") { _ = try await $0.context.fetch("person").update(["age": 7]) },
        Call(name: "upsert") {
            try await $0.context.upsert("email", ["id": 1, "address": "z"], on: "id")
        },
        Call(name: "upsert that keeps rows") {
            let rows: [[String: (any PropertyValue)?]] = [["id": 1, "address": "y"], ["id": 9, "address": "z"]]
            _ = try await $0.context.create("email", rows, unlessExists: "id")
        },
        Call(name: "transaction") { scene in
            try await scene.context.transaction {
                try await scene.people[0].setValue("Zoe", forKey: "name")
                try await scene.people[0].set(forKey: "emailSet").removeAll()
                try await scene.context.delete(scene.emails[3])
            }
        },
        Call(name: "copy") { scene in
            let lines = AsyncStream([UInt8].self) { lines in
                lines.yield(Array("9\tNew\n".utf8))
                lines.finish()
            }
            try await scene.context.database.client.copyIn("COPY person (id, name) FROM STDIN", from: lines)
        },
    ]

    private func picture(_ client: PostgresClient) async throws -> [String] {
        let rows = try await client.query(
            """
            SELECT 'person' || t::text AS row FROM person AS t UNION ALL SELECT 'email' || t::text FROM email AS t
            UNION ALL SELECT 'passport' || t::text FROM passport AS t UNION ALL SELECT 'title' || t::text FROM title AS t
            UNION ALL SELECT 'pair' || t::text FROM person_title AS t UNION ALL SELECT 'task' || t::text FROM task AS t
            ORDER BY row
            """)
        return try rows.compactMap { try $0.decode(0, as: String.self) }
    }

    @Test func theCallTellsWhetherItHasStoredAnything() async throws {
        try await withDatabase { database, _, other in
            for call in Self.calls {
                try await other.runScript(rows)
                let before = try await picture(other)
                try await call.run(try await Scene(database.makeContext()))
                let after = try await picture(other)
                #expect(before != after, "\(call.name)")
                // Behind the first statement, the second, and so on.
                var place = 0
                var isReached = true
                while isReached, place < 30 {
                    try await other.runScript(rows)
                    let scene = try await Scene(database.makeContext())
                    let left = Atomic(place)
                    let observation = database.client.addObserver { _ in
                        if left.wrappingSubtract(1, ordering: .relaxed).oldValue == 0 {
                            withUnsafeCurrentTask { $0?.cancel() }
                        }
                    }
                    var isDone = true
                    do {
                        try await Task { try await call.run(scene) }.value
                    } catch is CancellationError {
                        isDone = false
                    }
                    observation.cancel()
                    isReached = left.load(ordering: .relaxed) < 0
                    let stored = try await picture(other)
                    #expect(stored == (isDone ? after : before), "\(call.name), behind statement \(place + 1)")
                    place += 1
                }
                #expect(!isReached && place > 1, "\(call.name)")
            }
        }
    }
}
