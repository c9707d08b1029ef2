import KindredTesting
import TestSupport
import Testing

@testable import Kindred

/// Random changes of a graph of which one object is held: all others are walked to, changed and let go, so that what
/// relationships have loaded has to be right without them.
@Suite struct GraphWalkTests {
    private static let schema =
        referenceSchema + """
            CREATE TABLE badge (id integer PRIMARY KEY, person_id integer UNIQUE REFERENCES person);
            ALTER TABLE person ADD mentor_id integer CONSTRAINT mentor__pupils REFERENCES person;
            INSERT INTO badge VALUES (1, 1), (2, 2), (3, NULL), (4, 3);
            INSERT INTO person_title_rel VALUES (3, 1), (3, 3);
            INSERT INTO email (id, address, person_id) SELECT i, 'e' || i, i % 3 + 1 FROM generate_series(5, 12) AS i;
            UPDATE person SET mentor_id = 1 WHERE id > 1;
            """

    private struct Undone: Error {}

    /// The ids at the other ends of a row's relationships, as the database has them.
    private typealias Links = [String: [PostgresValue: Set<PostgresValue>]]

    private static let queries = [
        "person.emailSet": "SELECT person_id, id FROM email WHERE person_id IS NOT NULL",
        "person.titles": "SELECT person_id, title_id FROM person_title_rel",
        "person.pupils": "SELECT mentor_id, id FROM person WHERE mentor_id IS NOT NULL",
        "person.mentor": "SELECT id, mentor_id FROM person WHERE mentor_id IS NOT NULL",
        "person.badge": "SELECT person_id, id FROM badge WHERE person_id IS NOT NULL",
        "email.person": "SELECT id, person_id FROM email WHERE person_id IS NOT NULL",
        "badge.person": "SELECT id, person_id FROM badge WHERE person_id IS NOT NULL",
        "title.people": "SELECT title_id, person_id FROM person_title_rel",
    ]

    @Test(
        "what is walked to is what the database says", .database(.sql(schema), timeLimit: .seconds(900)),
        arguments: UInt64(1)...TestAmount.of(4, full: 16, long: 600))
    func whatIsWalkedToIsRight(seed: UInt64) async throws {
        try await withDatabase { database, context, other in
            if seed % 4 == 0 { context.core.withMap { $0.log.maximumEntries = 2 } }
            var random = SeededGenerator(seed: seed)
            let root = try await context.find("title", 1)!
            for step in 0..<60 {
                let isUndone = Int.random(in: 0..<6, using: &random) == 0
                do {
                    try await context.transaction {
                        try await Self.change(root, &random)
                        if isUndone { throw Undone() }
                    }
                } catch is Undone {
                    #expect(isUndone)
                }
                let links = try await Self.links(other)
                var problem: String?
                for _ in 0..<4 where problem == nil {
                    problem = try await Self.difference(root, links, depth: 4, &random)
                }
                try #require(problem == nil, "seed \(seed), step \(step): \(problem ?? "")")
            }
        }
    }

    private static func links(_ other: PostgresClient) async throws -> Links {
        var links: Links = [:]
        for (key, query) in queries {
            for row in try await other.query(SQL(unsafeRaw: query)) {
                guard let from = try row[0], let to = try row[1] else { continue }
                links[key, default: [:]][from, default: []].insert(to)
            }
        }
        return links
    }

    /// Follows random relationships until an object of the wanted entity is there; no other object is held then.
    private static func walk(
        _ root: DatabaseObject, to entity: String, _ random: inout SeededGenerator
    ) async throws -> DatabaseObject? {
        var place = root
        for _ in 0..<12 {
            if place.entity.name.name == entity, Int.random(in: 0..<3, using: &random) > 0 { return place }
            guard let relationship = Self.relationships(place).randomElement(using: &random) else { break }
            let next =
                relationship.isToMany
                ? try await place.set(forKey: relationship.name).objects.randomElement(using: &random)
                : try await place.object(forKey: relationship.name)
            place = next ?? root
        }
        return try await place.context.fetch(entity).all().randomElement(using: &random)
    }

    /// The relationships that the queries know, in an order that does not change.
    private static func relationships(_ object: DatabaseObject) -> [Relationship] {
        object.entity.relationships.filter { queries["\(object.entity.name.name).\($0.name)"] != nil }
    }

    private static func change(_ root: DatabaseObject, _ random: inout SeededGenerator) async throws {
        let context = root.context
        guard let person = try await walk(root, to: "person", &random) else { return }
        let emails = try await person.set(forKey: "emailSet")
        let titles = try await person.set(forKey: "titles")
        let badge = try await walk(root, to: "badge", &random)
        let pupils = try await person.set(forKey: "pupils")
        let email = try await walk(root, to: "email", &random)
        let title = try await walk(root, to: "title", &random)
        switch Int.random(in: 0..<16, using: &random) {
        case 0, 1: if let email { try await emails.insert(email) }
        case 2: if let email { try await emails.remove(email) }
        case 3: if let email { try await email.setValue(person, forKey: "person") }
        case 4: if let email { try await email.setValue(nil, forKey: "person") }
        case 5: if let email { try await context.delete(email) }
        case 6, 7: _ = try await context.create("email", ["address": "new", "person": person])
        case 8: if let title { try await titles.insert(title) }
        case 9: if let title, title !== root { try await titles.remove(title) }
        case 10: try await title?.set(forKey: "people").insert(person)
        case 11: try await person.setValue(badge, forKey: "badge")
        case 12: try await badge?.setValue(nil, forKey: "person")
        case 13: if let other = try await walk(root, to: "person", &random) { try await pupils.insert(other) }
        case 14: try await person.setValue(try await walk(root, to: "person", &random), forKey: "mentor")
        default:
            if let email { email["person_id"] = try await walk(root, to: "person", &random)?["id"] }
            try await context.save()
        }
    }

    /// The first difference between an object's relationships, or the relationships of their objects, and the database,
    /// if any.
    private static func difference(
        _ object: DatabaseObject, _ links: Links, depth: Int, _ random: inout SeededGenerator
    ) async throws -> String? {
        for relationship in relationships(object).shuffled(using: &random) {
            // Not all, so that each time something else is loaded.
            guard depth == 4 || Bool.random(using: &random) else { continue }
            let name = "\(object.entity.name.name).\(relationship.name)"
            let expected = object["id"].flatMap { links[name]?[$0] } ?? []
            var found: [DatabaseObject] = []
            if relationship.isToMany {
                let set = try await object.set(forKey: relationship.name)
                if Bool.random(using: &random) {
                    let (count, isEmpty) = (try await set.count, try await set.isEmpty)
                    if count != expected.count || isEmpty != expected.isEmpty {
                        return "\(object).\(relationship.name) counts \(count), not \(expected)"
                    }
                }
                if Bool.random(using: &random) { found = try await set.objects } else { continue }
            } else if let partner = try await object.object(forKey: relationship.name) {
                found = [partner]
            }
            let ids = found.compactMap { $0["id"] }
            if Set(ids) != expected || ids.count != expected.count {
                return "\(object).\(relationship.name) is \(ids), not \(expected)"
            }
            if depth > 1, let next = found.randomElement(using: &random) {
                found = []
                if let problem = try await difference(next, links, depth: depth - 1, &random) { return problem }
            }
        }
        return nil
    }
}
