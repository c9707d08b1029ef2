import Kindred
import KindredTesting
import TestSupport
import Testing

/// Random changes beside loaded parts: sets answer as SQL does, at the cost of one statement for each part.
@Suite struct PartModelTests {
    /// A part, how it is loaded and asked for, and what SQL says of it.
    private struct Case: Sendable {
        let owner: String
        let key: String
        let part: @Sendable (RelationshipPart<DatabaseObject>) -> RelationshipPart<DatabaseObject>
        let asked: @Sendable (ToMany<DatabaseObject>) throws -> FetchRequest<DatabaseObject>
        let sql: String
    }

    private static let cases = [
        Case(
            owner: "project", key: "tasks",
            part: { $0.where("done == %@", false).sorted("position").sorted("id").limit(3) },
            asked: { try $0.where("done == %@", false).sorted("position").sorted("id").limit(3) },
            sql: "SELECT id FROM task WHERE project_id = %1 AND NOT done ORDER BY position, id LIMIT 3"),
        Case(
            owner: "project", key: "tasks", part: { $0.sorted("position", ascending: false).sorted("id") },
            asked: { try $0.sorted("position", ascending: false).sorted("id") },
            sql: "SELECT id FROM task WHERE project_id = %1 ORDER BY position DESC, id"),
        Case(
            owner: "project", key: "tasks",
            part: { $0.where("assignee.name BEGINSWITH %@", "a").sorted("assignee.name").sorted("id").limit(2) },
            asked: { try $0.where("assignee.name BEGINSWITH %@", "a").sorted("assignee.name").sorted("id").limit(2) },
            sql: """
                SELECT t.id FROM task AS t JOIN person AS p ON p.id = t.person_id
                WHERE project_id = %1 AND p.name LIKE 'a%' ORDER BY p.name, t.id LIMIT 2
                """),
        Case(
            owner: "project", key: "members",
            part: { $0.where("@through.role == 'admin'").sorted("@through.rank").sorted("id").limit(2) },
            asked: { try $0.where("@through.role == 'admin'").sorted("@through.rank").sorted("id").limit(2) },
            sql: """
                SELECT person_id FROM membership WHERE project_id = %1 AND role = 'admin' ORDER BY rank, person_id LIMIT 2
                """),
        Case(
            owner: "person", key: "projects",
            part: { $0.where("@through.rank > 2 OR name BEGINSWITH 'a'").sorted("id") },
            asked: { try $0.where("@through.rank > 2 OR name BEGINSWITH 'a'").sorted("id") },
            sql: """
                SELECT m.project_id FROM membership AS m JOIN project AS p ON p.id = m.project_id
                WHERE person_id = %1 AND (rank > 2 OR p.name LIKE 'a%') ORDER BY 1
                """),
        Case(
            owner: "person", key: "assigned", part: { $0.where("ANY labels.name == 'a'").sorted("id").limit(3) },
            asked: { try $0.where("ANY labels.name == 'a'").sorted("id").limit(3) },
            sql: """
                SELECT id FROM task AS t WHERE person_id = %1 AND EXISTS (SELECT FROM task_label AS p
                JOIN label AS l ON l.id = p.label_id WHERE p.task_id = t.id AND l.name = 'a') ORDER BY id LIMIT 3
                """),
        Case(
            owner: "label", key: "tasks",
            part: { $0.where("done == %@", false).sorted("position").sorted("id").limit(4) },
            asked: { try $0.where("done == %@", false).sorted("position").sorted("id").limit(4) },
            sql: """
                SELECT t.id FROM task_label AS p JOIN task AS t ON t.id = p.task_id
                WHERE p.label_id = %1 AND NOT t.done ORDER BY t.position, t.id LIMIT 4
                """),
    ]

    private struct Undone: Error {}

    /// The objects that the program holds, with the parts that are loaded for them.
    private struct Held {
        var owners: [String: [DatabaseObject]] = [:]
        /// The tasks, where the program holds them.
        var tasks: [DatabaseObject] = []

        init(_ context: DatabaseContext, holdsTasks: Bool) async throws {
            for entity in ["project", "person", "label"] {
                var request = try context.fetch(entity).sorted("id")
                for each in cases where each.owner == entity { request = try request.prefetch(each.key, each.part) }
                owners[entity] = try await request.all()
            }
            if holdsTasks { tasks = try await context.fetch("task").all() }
        }

        func pick(_ entity: String, _ random: inout SeededGenerator) -> DatabaseObject { random.pick(owners[entity]!) }
    }

    @Test(
        .database(.sql(partSchema), timeLimit: .seconds(600)),
        arguments: UInt64(1)...TestAmount.of(6, full: 24, long: 400))
    func partsAreWhatTheDatabaseSays(seed: UInt64) async throws {
        try await withDatabase { database, context, other in
            var random = SeededGenerator(seed: seed)
            var held = try await Held(context, holdsTasks: random.chance(50))
            var number: Int64 = 1000
            // The entities of which a rolled back owner may have to be read again.
            var doubted: Set<String> = []
            for step in 0..<40 {
                let isUndone = random.once(in: 6)
                do {
                    try await context.transaction {
                        for _ in 0..<Int.random(in: 1...2, using: &random) {
                            number += 1
                            try await Self.change(context, held, number, &random)
                            if random.once(in: 4) { try await Self.ask(Self.cases[0], held) }
                        }
                        if isUndone { throw Undone() }
                    }
                } catch is Undone {
                    #expect(isUndone)
                    doubted = ["project", "person", "label"]
                }
                for each in Self.cases.shuffled(using: &random) where random.chance(70) {
                    let place: Comment = "seed \(seed), step \(step): \(each.owner).\(each.key), \(each.sql)"
                    let expected = try await Self.expected(each, held, other)
                    let (found, recorder) = try await recordingStatements { try await Self.ask(each, held) }
                    try #require(found == expected, place)
                    let isDoubted = doubted.remove(each.owner) != nil
                    #expect(
                        recorder.statements.count <= (isDoubted ? 2 : 1), "\(place): \(recorder.statements)")
                }
                for project in held.owners["project"] ?? [] where random.once(in: 8) {
                    let tasks = try await project.set(forKey: "tasks").objects
                    let expected = try await other.keys("SELECT id FROM task WHERE project_id = %1", of: project)
                    #expect(Set(tasks.keys) == Set(expected), "seed \(seed), step \(step)")
                }
                if random.once(in: 12) { held = try await Held(context, holdsTasks: random.chance(50)) }
            }
        }
    }

    /// The members of each owner that SQL gives.
    private static func expected(_ each: Case, _ held: Held, _ other: PostgresClient) async throws -> [[PostgresValue?]]
    {
        var expected: [[PostgresValue?]] = []
        for owner in held.owners[each.owner] ?? [] { expected.append(try await other.keys(each.sql, of: owner)) }
        return expected
    }

    /// The members of each owner as its set gives them.
    @discardableResult
    private static func ask(_ each: Case, _ held: Held) async throws -> [[PostgresValue?]] {
        var found: [[PostgresValue?]] = []
        for owner in held.owners[each.owner] ?? [] {
            found.append(try await each.asked(try await owner.set(forKey: each.key)).all().keys)
        }
        return found
    }

    /// One change by any of the ways to write.
    private static func change(
        _ context: DatabaseContext, _ held: Held, _ number: Int64, _ random: inout SeededGenerator
    ) async throws {
        let (project, person, label) = (
            held.pick("project", &random), held.pick("person", &random), held.pick("label", &random)
        )
        let (name, position) = (random.pick(["a", "b", "ab"]), Int.random(in: 0..<100, using: &random))
        // By their keys: objects that are not picked are not held here.
        let keys = try await context.query("SELECT id FROM task ORDER BY id").compactMap {
            try $0.decode(0, as: Int.self)
        }
        guard !keys.isEmpty else { return }
        func tasks(_ count: Int) async throws -> [DatabaseObject] {
            try await context.find("task", random.some(keys, atMost: count))
        }
        guard let task = try await tasks(1).first else { return }
        switch Int.random(in: 0..<16, using: &random) {
        case 0: try await task.setValue(random.once(in: 2), forKey: "done")
        case 1: try await task.setValue(position, forKey: "position")
        case 2:
            for task in try await tasks(4) {
                task["position"] = .integer(Int64(position))
                task["done"] = .bool(random.once(in: 2))
            }
            try await context.save()
        case 3: try await task.setValue(random.once(in: 4) ? nil : project, forKey: "project")
        case 4: try await task.setValue(person, forKey: "assignee")
        case 5:
            try await context.create(
                "task",
                [
                    "id": number, "title": "new", "position": position, "project": project, "assignee": person,
                    "done": random.once(in: 3),
                ])
        case 6: try await context.delete(task)
        case 7:
            try await context.fetch("task").where("position < %@", position / 4).update(["done": random.once(in: 2)])
        case 8: try await context.fetch("task").where("position == %@", position).sorted("id").limit(2).delete()
        case 9:
            let set = try await project.set(forKey: "tasks")
            if random.once(in: 6) {
                try await set.removeAll()
            } else {
                try await set.formUnion(tasks(3))
            }
        case 10:
            try await project.set(forKey: "members").insert(
                person, through: ["role": random.pick(["admin", "guest"]), "rank": position % 7])
        case 11: try await project.set(forKey: "members").remove(person)
        case 12:
            if let pair = try await context.fetch("membership").sorted("project_id").sorted("person_id").first() {
                pair["role"] = .string(random.pick(["admin", "guest"]))
                pair["rank"] = .integer(Int64(position % 7))
                try await context.save()
            }
        case 13: try await person.setValue(name, forKey: "name")
        case 14:
            try await label.setValue(name, forKey: "name")
            try await label.set(forKey: "tasks").insert(task)
        default:
            if random.once(in: 2) {
                try await task.set(forKey: "labels").set(random.once(in: 2) ? [label] : [])
            } else {
                try await project.setValue(name, forKey: "name")
            }
        }
    }
}
