import KindredTesting
import TestSupport
import Testing

@testable import Kindred

/// Random changes, with random parts of the graph loaded and held: after each step memory is what the database says.
@Suite struct GraphConsistencyTests {
    private static let schema =
        referenceSchema + """
            CREATE TABLE badge (id integer PRIMARY KEY, person_id integer UNIQUE REFERENCES person ON DELETE SET NULL);
            ALTER TABLE person ADD mentor_id integer REFERENCES person ON DELETE SET NULL;
            ALTER TABLE email DROP CONSTRAINT email_person_id_fkey, ADD FOREIGN KEY (person_id) REFERENCES person
                ON UPDATE CASCADE;
            ALTER TABLE person_title_rel DROP CONSTRAINT titles,
                ADD CONSTRAINT titles FOREIGN KEY (person_id) REFERENCES person ON UPDATE CASCADE;
            ALTER TABLE person DROP CONSTRAINT person_mentor_id_fkey,
                ADD FOREIGN KEY (mentor_id) REFERENCES person ON UPDATE SET NULL ON DELETE SET NULL;
            INSERT INTO badge VALUES (1, 1), (2, 2), (3, NULL);
            INSERT INTO email (id, address) SELECT i, 'e' || i FROM generate_series(5, 9) AS i;
            """

    private struct Undone: Error {}

    @Test(.database(.sql(schema)), arguments: UInt64(1)...TestAmount.of(3, full: 12)) func memoryEqualsTheDatabase(
        seed: UInt64
    ) async throws {
        try await withDatabase { database, context, other in
            // Half of the contexts forget nearly everything that they note.
            if seed % 2 == 0 { context.core.withMap { $0.log.maximumEntries = 1 } }
            var random = SeededGenerator(seed: seed)
            // Some objects are held for the whole run, others only as long as a step needs them.
            var held = try await context.fetch("person").all() + context.fetch("email").limit(3).all()
            for step in 0..<60 {
                let isUndone = Int.random(in: 0..<6, using: &random) == 0
                do {
                    try await context.transaction {
                        for _ in 0...Int.random(in: 0...1, using: &random) {
                            try await Self.change(context, &held, &random)
                        }
                        if isUndone { throw Undone() }
                    }
                } catch is Undone {
                    #expect(isUndone)
                } catch let error as KindredError {
                    // A change that a constraint or a deletion refuses is refused as a whole.
                    #expect([.objectDeleted, .constraintViolation].contains(error.code), "\(error)")
                }
                held.removeAll { $0.isDeleted }
                let problem = try await Self.difference(context, other, held)
                try #require(problem == nil, "seed \(seed), step \(step): \(problem ?? "")")
                if held.count > 8 { held.removeFirst() }
            }
        }
    }

    private static func change(
        _ context: DatabaseContext,
        _ held: inout [DatabaseObject],
        _ random: inout SeededGenerator
    ) async throws {
        let people = try await context.fetch("person").sorted("id").all()
        guard let person = people.randomElement(using: &random) else { return }
        let emails = try await context.fetch("email").all().shuffled(using: &random)
        let titles = try await context.fetch("title").all().shuffled(using: &random)
        let some = emails.prefix(Int.random(in: 0...3, using: &random))
        let set = try await person.set(forKey: "emailSet")
        let titleSet = try await person.set(forKey: "titles")
        switch Int.random(in: 0..<20, using: &random) {
        case 0: try await set.formUnion(some)
        case 1: try await set.subtract(some)
        case 2: try await set.set(some)
        case 3: try await set.removeAll()
        case 4: try await titleSet.formUnion(titles.prefix(2))
        case 5: try await titleSet.subtract(titles.prefix(1))
        case 6: try await titleSet.set(titles.prefix(2))
        case 7: try await titles.first?.set(forKey: "people").removeAll()
        case 8: try await some.first?.setValue(Bool.random(using: &random) ? person : nil, forKey: "person")
        case 9: held.append(try await context.create("email", ["address": "new", "person": person]))
        case 10: if let email = some.first { try await context.delete(email) }
        case 11:
            let badge = try await context.fetch("badge").all().randomElement(using: &random)
            try await person.setValue(badge, forKey: "badge")
        case 12: try await person.setValue(people.randomElement(using: &random), forKey: "mentor")
        case 13: try await context.create("person", ["surname": "New", "mentor": person])
        case 14:
            try await titleSet.removeAll()
            try await set.removeAll()
            try await context.delete(person)
        case 15:
            if let title = titles.first {
                try await context.create("person_title_rel", ["person": person, "title": title])
            }
        case 16: try await some.first?.setValue("a\(Int.random(in: 0..<100, using: &random))", forKey: "address")
        case 17: try await some.first?.setValue(Int.random(in: 1_000..<9_999, using: &random), forKey: "id")
        case 18: try await person.setValue(Int.random(in: 1_000..<9_999, using: &random), forKey: "id")
        default:
            // A walk that loads whole groups, and keeps one of their objects.
            for person in people {
                for try await email in try await person.set(forKey: "emailSet") {
                    _ = try await email.object(forKey: "person")
                }
                for try await title in try await person.set(forKey: "titles") {
                    _ = try await title.set(forKey: "people").objects
                }
                _ = try await person.object(forKey: "badge")
                _ = try await person.object(forKey: "mentor")
            }
            held.append(person)
        }
    }

    /// The first difference between the objects in memory and the rows in the database, if any.
    private static func difference(
        _ context: DatabaseContext,
        _ other: PostgresClient,
        _ held: [DatabaseObject]
    ) async throws -> String? {
        for object in held {
            let id = object["id"]
            let entity = object.entity.name.name
            guard entity == "person" else {
                let stored = try await other.value("SELECT person_id FROM email WHERE id = \(id)")
                let owner = try await object.object(forKey: "person")?["id"]
                if object["person_id"] != stored || owner != stored {
                    return "\(object) has owner \(owner, default: "nobody")"
                }
                continue
            }
            let members: [(key: String, sql: SQL)] = [
                ("emailSet", "SELECT id FROM email WHERE person_id = \(id)"),
                ("titles", "SELECT title_id FROM person_title_rel WHERE person_id = \(id)"),
                ("mentor_personSet", "SELECT id FROM person WHERE mentor_id = \(id)"),
            ]
            for (key, sql) in members {
                let name = key == "mentor_personSet" ? try mentored(object) : key
                let stored = Set(try await other.values(sql))
                let found = try await object.set(forKey: name).objects.map { $0["id"] }
                if Set(found) != stored || found.count != stored.count {
                    return "\(object).\(name) is \(found), not \(stored)"
                }
            }
            let addresses = try await other.values("SELECT address FROM email WHERE person_id = \(id)")
            let shown = try await object.set(forKey: "emailSet").objects.map { $0["address"] }
            if Set(shown) != Set(addresses) { return "\(object) has \(shown), not \(addresses)" }
            let badge = try await other.value("SELECT id FROM badge WHERE person_id = \(id)")
            if try await object.object(forKey: "badge")?["id"] != badge { return "\(object) has the wrong badge" }
            let mentor = try await other.value("SELECT mentor_id FROM person WHERE id = \(id)")
            if try await object.object(forKey: "mentor")?["id"] != mentor { return "\(object) has the wrong mentor" }
        }
        return nil
    }

    private static func mentored(_ person: DatabaseObject) throws -> String {
        try #require(person.entity.relationship(named: "mentor")).inverse
    }
}
