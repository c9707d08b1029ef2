import Kindred
import KindredTesting
import TestSupport
import Testing

/// Runs random conditions on PostgreSQL and compares with the same condition evaluated in Swift, over random rows full
/// of NULLs.
@Suite struct ConditionSemanticsTests {
    @Test(.database(.sql(zooSchema)), arguments: [UInt64.random(in: 0..<10_000), 1, 2])
    func theServerAndSwiftAgree(seed: UInt64) async throws {
        try await withDatabase { database, context, other in
            var random = SeededGenerator(seed: seed)
            let zoo = Zoo(&random)
            try await zoo.store(in: other)
            let people = try await objects(context, "person", "id")
            var writer = ConditionWriter(
                random: random,
                objects: RandomCondition.Objects(
                    people: people,
                    pets: try await objects(context, "pet", "id"),
                    clubs: try await objects(context, "club", "id"),
                    houses: try await houses(context),
                    zoo: zoo
                )
            )
            for _ in 0..<TestAmount.of(100, full: 500) {
                let condition = writer.condition()
                let expected = zoo.people.filter(condition.holds).map { PostgresValue?.some(.integer(Int64($0.id))) }
                let request = try context.fetch("person").where(condition.format, arguments: condition.arguments)
                    .sorted("id")
                let found = try await request.all().map { $0["id"] }
                #expect(found == expected, "seed \(seed): \(condition.format) with \(condition.arguments)")
                if found != expected { return }
                #expect(try await request.count() == expected.count)
                #expect(try await request.exists() == !expected.isEmpty)
            }
        }
    }

    private func objects(_ context: DatabaseContext, _ name: String, _ key: String) async throws -> [Int:
        DatabaseObject]
    {
        var found: [Int: DatabaseObject] = [:]
        for object in try await context.fetch(name).all() {
            if case .integer(let id) = object[key] { found[Int(id)] = object }
        }
        return found
    }

    private func houses(_ context: DatabaseContext) async throws -> [String: DatabaseObject] {
        var found: [String: DatabaseObject] = [:]
        for object in try await context.fetch("house").all() {
            if let street = object["street"], let number = object["number"] { found["\(street)/\(number)"] = object }
        }
        return found
    }
}
