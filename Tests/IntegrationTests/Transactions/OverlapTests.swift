import KindredTesting
import TestSupport
import Testing

@testable import Kindred

/// Random transactions and savepoints of one task, kept and undone, with reads and writes of another task on the same
/// context in between: afterwards objects and relationships agree with the database.
@Suite struct OverlapTests {
    private struct Undone: Error {}

    @Test(
        "what tasks do beside a transaction is neither lost nor outdated",
        .database(.sql(referenceSchema), timeLimit: .seconds(900)),
        arguments: UInt64(1)...TestAmount.of(4, full: 16, long: 400))
    func overlappingTasksLeaveMemoryRight(seed: UInt64) async throws {
        try await withDatabase { database, context, other in
            try await other.query(
                """
                INSERT INTO email (id, address, person_id) SELECT i, 'e' || i, i % 3 + 1 FROM generate_series(5, 12) AS i
                """)
            var random = SeededGenerator(seed: seed)
            var held: [DatabaseObject] = []
            for round in 0..<25 {
                held =
                    try await context.fetch("person").all()
                    + context.fetch("email").all().filter { _ in
                        Bool.random(using: &random)
                    }
                var steps = random
                // Its writes wait for the end of the transaction.
                var beside = Task { () async throws in }
                do {
                    try await context.transaction {
                        try await Self.run(context, &steps, &beside, depth: 0)
                        if Int.random(in: 0..<2, using: &steps) == 0 { throw Undone() }
                    }
                } catch is Undone {}
                random = steps
                try await beside.value
                if let problem = try await Self.difference(context, other, held) {
                    Issue.record("seed \(seed), round \(round): \(problem)")
                    return
                }
            }
        }
    }

    @Test(
        .database(.sql("CREATE TABLE thing (id integer PRIMARY KEY, name text); INSERT INTO thing VALUES (1, 'old')")))
    func anAnswerFromBesideATransactionDoesNotUndoItsWrites() async throws {
        try await withDatabase { _, context, other in
            let thing = try #require(try await context.find("thing", 1))
            // The answer of another task, which was sent beside the transaction, comes after its end.
            var answers: [(result: QueryResult, askedAt: ContextTime)] = []
            try await context.transaction {
                thing["name"] = "new"
                try await thing.save()
                let askedAt = context.core.beginReading()
                answers.append((try await other.query("SELECT id, name FROM thing"), askedAt))
            }
            let present = context.core.beginReading()
            try await other.query("UPDATE thing SET name = 'newest'")
            answers.append((try await other.query("SELECT id, name FROM thing"), present))
            for (answer, name) in zip(answers, ["new", "newest"]) {
                _ = try context.core.take(answer.result, of: thing.runtime, askedAt: answer.askedAt)
                #expect(thing["name"] == .string(name))
            }
        }
    }

    /// Some steps of a transaction, with some of another task in between.
    private static func run(
        _ context: DatabaseContext, _ random: inout SeededGenerator, _ beside: inout Task<Void, any Error>, depth: Int
    ) async throws {
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            if depth < 2, Int.random(in: 0..<4, using: &random) == 0 {
                var inner = random
                var innerBeside = beside
                do {
                    try await context.transaction {
                        try await run(context, &inner, &innerBeside, depth: depth + 1)
                        if Bool.random(using: &inner) { throw Undone() }
                    }
                } catch is Undone {}
                (random, beside) = (inner, innerBeside)
            } else {
                try await step(context, &random, parity: 0)
            }
            guard Bool.random(using: &random) else { continue }
            let seed = random.next()
            let earlier = beside
            beside = Task.detached {
                try await earlier.value
                var random = SeededGenerator(seed: seed)
                for _ in 0..<2 { try await step(context, &random, parity: 1) }
            }
            // Long enough for a task that only reads.
            if Bool.random(using: &random) { try await Task.sleep(for: .milliseconds(2)) }
        }
    }

    /// A read, or a change of rows that the other task does not change.
    private static func step(_ context: DatabaseContext, _ random: inout SeededGenerator, parity: Int) async throws {
        func ids(_ entity: String) async throws -> [Int] {
            let rows = try await context.client.query(SQL(unsafeRaw: "SELECT id FROM \(entity) ORDER BY id"))
            return try rows.compactMap { try $0[0].map { try Int(postgresValue: $0) } }
        }
        func own(_ entity: String) async throws -> DatabaseObject? {
            let own = try await ids(entity).filter { $0 % 2 == parity }
            guard let id = own.randomElement(using: &random) else { return nil }
            return try await context.find(entity, id)
        }
        guard let person = try await context.find("person", Int.random(in: 1...3, using: &random)) else { return }
        let (emails, titles) = (try await person.set(forKey: "emailSet"), try await person.set(forKey: "titles"))
        switch Int.random(in: 0..<14, using: &random) {
        case 0: _ = try await emails.objects
        case 1: _ = try await titles.objects
        case 2: _ = try await emails.count
        case 3:
            for person in try await context.fetch("person").all() { _ = try await person.set(forKey: "emailSet").count }
        case 4:
            for email in try await context.fetch("email").all() {
                let id = try Int(postgresValue: email["id"] ?? 0)
                let isTransactions = parity == 1 && id % 2 == 0
                do {
                    _ = try await email.object(forKey: "person")
                } catch let error as KindredError where error.code == .objectDeleted && isTransactions {
                    // The transaction has deleted one of its rows since it was read.
                }
            }
        case 5: _ = try await context.fetch("person").prefetch("emailSet").prefetch("titles").all()
        case 6: if let email = try await own("email") { try await emails.insert(email) }
        case 7: if let email = try await own("email") { try await email.setValue(person, forKey: "person") }
        case 8: if let email = try await own("email") { try await email.setValue(nil, forKey: "person") }
        case 9: if let email = try await own("email") { try await context.delete(email) }
        case 10:
            _ = try await context.create(
                "email",
                [
                    "id": 1_000 + parity + 2 * Int.random(in: 0..<1_000_000, using: &random), "address": "new",
                    "person": person,
                ])
        case 11: if let title = try await own("title") { try await titles.insert(title) }
        case 12: if let title = try await own("title") { try await titles.remove(title) }
        default:
            if let own = try await own("person") {
                own["surname"] = .string("S\(Int.random(in: 0..<1_000, using: &random))")
                try await own.save()
            }
        }
    }

    /// The first value that objects show and the database does not have, if any.
    private static func difference(
        _ context: DatabaseContext, _ other: PostgresClient, _ held: [DatabaseObject]
    ) async throws -> String? {
        let stored = try await other.query("SELECT id, coalesce(person_id, 0), address FROM email")
        var owners: [Int: Int] = [:]
        for row in stored { owners[try Int(postgresValue: row[0] ?? 0)] = try Int(postgresValue: row[1] ?? 0) }
        for email in held where email.entity.name.name == "email" {
            let id = try Int(postgresValue: email["id"] ?? 0)
            if email.isDeleted != (owners[id] == nil) { return "\(email) is deleted: \(email.isDeleted)" }
            guard let owner = owners[id] else { continue }
            if email["person_id"] != (owner == 0 ? nil : .integer(Int64(owner))) {
                return "\(email) shows another person"
            }
            let shown = try await email.object(forKey: "person")?["id"]
            if shown != email["person_id"] { return "\(email) leads to \(shown ?? 0)" }
        }
        for person in held where person.entity.name.name == "person" {
            let id = try Int(postgresValue: person["id"] ?? 0)
            let row = try await other.query("SELECT surname FROM person WHERE id = \(id)")
            if try row[0][0] != person["surname"] { return "\(person) shows \(person["surname"] ?? "nil")" }
            let emails = try await person.set(forKey: "emailSet")
            let expected = owners.filter { $0.value == id }.keys.sorted()
            let count = try await emails.count
            let found = try await emails.objects.compactMap { try $0["id"].map { try Int(postgresValue: $0) } }.sorted()
            if found != expected || count != expected.count {
                return "\(person) has \(count), \(found), not \(expected)"
            }
            let titles = try await person.set(forKey: "titles").objects.compactMap { $0["id"] }
            let pairs = try await other.values("SELECT title_id FROM person_title_rel WHERE person_id = \(id)")
                .compactMap(\.self)
            if Set(titles) != Set(pairs) || titles.count != pairs.count {
                return "\(person) has titles \(titles), not \(pairs)"
            }
        }
        return nil
    }
}
