import Kindred
import KindredTesting
import TestSupport
import Testing

/// Random calls of contexts of two tenants with the same keys: none reads or changes a row of the other.
///
/// Plain SQL over another connection tells which rows there are.
@Suite struct RandomSchemaTenantTests {
    private static let names = ["acme", "beta"]

    private func rows(_ schema: String, _ other: PostgresClient) async throws -> [PostgresValue?] {
        try await other.values(
            """
            SELECT r FROM (
                SELECT 'project' || t::text AS r FROM \(identifier: schema).project AS t
                UNION ALL SELECT 'task' || t::text FROM \(identifier: schema).task AS t
                UNION ALL SELECT 'label' || t::text FROM \(identifier: schema).label AS t
                UNION ALL SELECT 'pair' || t::text FROM \(identifier: schema).task_label AS t) AS a ORDER BY r
            """)
    }

    @Test(.database(.sql(schemaTenants), timeLimit: .seconds(1_800)), arguments: UInt64(1)...2)
    func noCallReachesARowOfTheOther(_ seed: UInt64) async throws {
        try await withSchemaTenants { database, other in
            var random = SeededGenerator(seed: seed)
            let steps = TestAmount.of(300, full: 5_000)
            var contexts: [Int: DatabaseContext] = [:]
            var done = 0
            for step in 0..<steps {
                let tenant = random.pick([0, 1])
                if random.once(in: 10) { contexts[tenant] = nil }
                let made = try await database.context(of: Self.names[tenant])
                let context = contexts[tenant] ?? made
                contexts[tenant] = context
                let (call, key, second) = (
                    Int.random(in: 0..<13, using: &random), Int.random(in: 1...9, using: &random),
                    Int.random(in: 1...9, using: &random)
                )
                let place: Comment =
                    "seed \(seed), step \(step): \(Self.names[tenant]), call \(call) with \(key), \(second)"
                let before = try await rows(Self.names[1 - tenant], other)
                let isInTransaction = random.chance(30)
                do {
                    let shown =
                        isInTransaction
                        ? try await context.transaction { () async throws in
                            try await run(call, (key, second), "<\(tenant)>", context)
                        } : try await run(call, (key, second), "<\(tenant)>", context)
                    done += 1
                    for text in shown { try #require(!text.contains("<\(1 - tenant)>"), place) }
                } catch let error as any CategorizedError {
                    context.rollback()
                    try #require(!String(reflecting: error).contains("<\(1 - tenant)>"), place)
                }
                try #require(try await rows(Self.names[1 - tenant], other) == before, place)
                // Memory and requests show the rows of the tenant alone.
                let found = try await context.fetch("task").sorted("id").select("id").all(as: Int.self).map { $0 }
                let expected = try await other.values(
                    "SELECT id FROM \(identifier: Self.names[tenant]).task ORDER BY id"
                ).compactMap { try $0.map { try Int(postgresValue: $0) } }
                try #require(found == expected, place)
            }
            #expect(done > steps / 3, "\(done) of \(steps) calls had an effect")
        }
    }

    /// One call; gives the texts that it shows.
    private func run(
        _ call: Int, _ keys: (Int, Int), _ mark: String, _ context: DatabaseContext
    ) async throws -> [String] {
        func texts(_ objects: [DatabaseObject]) -> [String] {
            objects.map { "\($0["title"] ?? $0["name"] ?? "")" }
        }
        switch call {
        case 0: return texts(try await context.fetch("task").where("id >= %@", keys.0).all())
        case 1: return texts(try await context.find("project", [keys.0, keys.1]))
        case 2:
            let task = try await context.get("task", keys.0)
            let project = try await task.object(forKey: "project")
            return texts([project].compactMap(\.self) + (try await task.set(forKey: "labelSet").objects))
        case 3:
            return try await context.fetch("task").select("title", "project.name").all().map { "\($0)" }
        case 4:
            return try await context.query("SELECT title FROM task WHERE id <> \(keys.0)").map { "\(try $0[0] ?? "")" }
        case 5:
            var shown: [DatabaseObject] = []
            for try await object in try context.fetch("task").stream() { shown.append(object) }
            return texts(shown)
        case 6: return texts([try await context.create("task", ["id": keys.0, "title": "\(mark) \(keys.1)"])])
        case 7:
            let label = try await context.upsert(
                "label", ["id": keys.0, "name": "\(mark) \(keys.1)"], on: "id")
            return texts([label])
        case 8:
            let task = try context.add("task", ["title": "\(mark) new"])
            task["project_id"] = 1
            try await context.save()
            return texts([task])
        case 9:
            let task = try await context.get("task", keys.0)
            try await task.set(forKey: "labelSet").insert(try await context.get("label", keys.1))
            return texts([task])
        case 10:
            _ = try await context.fetch("task").where("id == %@", keys.0).update(["title": "\(mark) changed"])
            return []
        case 11:
            try await context.delete(try await context.get("task", keys.0))
            return []
        default:
            try await context.query("UPDATE project SET mood = 'calm' WHERE id = \(keys.0)")
            return texts(try await context.fetch("project").where("mood == 'calm'").all())
        }
    }
}
