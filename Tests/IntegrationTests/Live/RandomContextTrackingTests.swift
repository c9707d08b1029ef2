import KindredTesting
import Testing

@testable import Kindred
@testable import KindredLive

private typealias World = FollowedWorld

/// Random writes of another connection beside loads, staged values and saves of a context that follows; then everything
/// in memory is what SQL says, without a statement.
@Suite(.database(.sql(FollowedWorld.schema)), .timeLimit(.minutes(10))) struct RandomContextTrackingTests {
    @Test(arguments: 1...4) func memoryIsWhatSQLSays(seed: Int) async throws {
        try await World.run { database, context, other in
            try await Writes.fill(other)
            var writer = RandomWriter(
                client: other, random: RepeatedRandom(seed), expected: ["23", "40"], statement: Writes.statement)
            var program = Program(context: context, random: RepeatedRandom(seed + 100))
            for round in 0..<12 {
                // Both at the same time.
                let (former, before) = (writer, program)
                async let written = former.running(40)
                program = try await before.running(15)
                writer = try await written
                try await database.tracking.catchUp()
                try await program.compare(with: other, "seed \(seed), round \(round)")
            }
        }
    }
}

/// The writes of the other connection.
private enum Writes {
    static func fill(_ client: PostgresClient) async throws {
        for sql: SQL in [
            "INSERT INTO region SELECT i, 'r' || i FROM generate_series(1, 4) AS i",
            "INSERT INTO person SELECT i, 'p' || i, NULL, 1 + i % 4 FROM generate_series(1, 12) AS i",
            "INSERT INTO passport SELECT i, i FROM generate_series(1, 6) AS i",
            "INSERT INTO email SELECT i, 'e' || i, 1 + i % 12 FROM generate_series(1, 24) AS i",
            "INSERT INTO tag SELECT i, 't' || i FROM generate_series(1, 6) AS i",
            "INSERT INTO person_tag SELECT i, 1 + i % 6 FROM generate_series(1, 12) AS i",
            "INSERT INTO course SELECT i, 'c' || i FROM generate_series(1, 4) AS i",
            "INSERT INTO enrolment SELECT i, NULL, i, 1 + i % 4 FROM generate_series(1, 12) AS i",
            "INSERT INTO book SELECT i, 'b' || i FROM generate_series(1, 3) AS i",
            "INSERT INTO chapter SELECT i, i, 1 + i % 3 FROM generate_series(1, 12) AS i",
            "INSERT INTO playlist SELECT i, 'l' || i FROM generate_series(1, 3) AS i",
            "INSERT INTO track SELECT i, 's' || i FROM generate_series(1, 8) AS i",
            "INSERT INTO playlist_track SELECT 1 + i % 3, i, i FROM generate_series(1, 8) AS i",
        ] {
            try await client.query(sql)
        }
    }

    static func statement(_ random: inout RepeatedRandom) -> SQL {
        let (a, b, c) = (random.key(), random.key(), random.key(6))
        let (mail, few) = (random.key(30), random.key(4))
        let place = random.below(20)
        switch random.below(24) {
        case 0: return "UPDATE person SET name = name || '.' WHERE id = \(a)"
        case 1: return "UPDATE person SET region_id = \(few) WHERE id = \(a)"
        case 2: return "UPDATE person SET region_id = NULL WHERE id = \(a)"
        case 3: return "DELETE FROM person WHERE id = \(a)"
        case 4: return "INSERT INTO person VALUES (\(a), 'new', NULL, \(few)) ON CONFLICT DO NOTHING"
        case 5: return "UPDATE email SET person_id = \(a) WHERE id = \(mail)"
        case 6: return "DELETE FROM email WHERE id = \(mail)"
        case 7: return "INSERT INTO email VALUES (\(mail), 'n', \(a)) ON CONFLICT (id) DO UPDATE SET address = 'again'"
        case 8: return "UPDATE email SET address = address || '.' WHERE person_id = \(a)"
        case 9: return "INSERT INTO person_tag VALUES (\(a), \(c)) ON CONFLICT DO NOTHING"
        case 10: return "DELETE FROM person_tag WHERE person_id = \(a)"
        case 11:
            return """
                UPDATE person_tag SET tag_id = \(c) WHERE person_id = \(a)
                AND tag_id = (SELECT min(tag_id) FROM person_tag WHERE person_id = \(a))
                """
        case 12: return "INSERT INTO enrolment VALUES (\(mail), NULL, \(a), \(few)) ON CONFLICT DO NOTHING"
        case 13: return "UPDATE enrolment SET grade = 1 WHERE person_id = \(a)"
        case 14: return "UPDATE enrolment SET course_id = \(few) WHERE id = \(mail)"
        case 15: return "DELETE FROM enrolment WHERE id = \(mail)"
        case 16: return "UPDATE chapter SET position = \(place) WHERE id = \(a)"
        case 17: return "UPDATE chapter SET book_id = \(few) WHERE id = \(a) AND \(few) < 4"
        case 18: return "UPDATE playlist_track SET position = \(place) WHERE track_id = \(c)"
        case 19: return "INSERT INTO playlist_track VALUES (\(few), \(c), \(place)) ON CONFLICT DO NOTHING"
        case 20: return "DELETE FROM playlist_track WHERE track_id = \(c)"
        case 21: return "UPDATE passport SET person_id = \(b) WHERE person_id = \(a)"
        case 22: return "UPDATE region SET name = name || '.' WHERE id = \(few)"
        default: return "INSERT INTO passport VALUES (\(a), \(b)) ON CONFLICT DO NOTHING"
        }
    }
}

/// The program: a context that follows, and its loaded objects.
private struct Program: Sendable {
    let context: DatabaseContext
    var random: RepeatedRandom
    /// Held objects, with their loaded relationships.
    var loaded: [Loaded] = []

    struct Loaded: Sendable {
        let entity: String
        let object: DatabaseObject
        var sets: Set<String> = []
        var counts: Set<String> = []
        var ones: Set<String> = []
    }

    private static let entities = [
        "person", "person", "region", "tag", "course", "book", "playlist", "email", "chapter",
    ]

    func running(_ count: Int) async throws -> Program {
        var program = self
        for _ in 0..<count {
            do {
                try await program.act()
            } catch let error as KindredError where error.code != .trackingNotEnabled {
                // Others were faster.
                program.context.rollback()
            } catch let error as PostgresError where error.sqlState?.rawValue.hasPrefix("40") == true {
                program.context.rollback()
            }
        }
        program.context.rollback()
        return program
    }

    private mutating func act() async throws {
        switch random.below(6) {
        case 0, 1:
            let entity = Self.entities[Int(random.below(Self.entities.count))]
            guard let object = try await context.find(entity, random.key()),
                !loaded.contains(where: { $0.object === object })
            else { return }
            loaded.append(Loaded(entity: entity, object: object))
        case 2, 3:
            guard !loaded.isEmpty else { return }
            let place = Int(random.below(loaded.count))
            let entity = loaded[place].entity
            let sets = World.sets.filter { $0.entity == entity }
            let ones = World.ones.filter { $0.entity == entity }
            if !ones.isEmpty, random.below(2) == 0 {
                let key = ones[Int(random.below(ones.count))].key
                _ = try await loaded[place].object.object(forKey: key)
                loaded[place].ones.insert(key)
            } else if !sets.isEmpty {
                let key = sets[Int(random.below(sets.count))].key
                if random.below(2) == 0 {
                    _ = try await loaded[place].object.set(forKey: key).objects
                    loaded[place].sets.insert(key)
                } else {
                    _ = try await loaded[place].object.set(forKey: key).count
                    loaded[place].counts.insert(key)
                }
            }
        case 4:
            let people = loaded.filter { $0.entity == "person" && !$0.object.isDeleted }
            guard !people.isEmpty else { return }
            people[Int(random.below(people.count))].object["nick"] = "n\(random.below(1_000))"
        default:
            try await context.save()
        }
    }

    /// Compares memory with SQL.
    func compare(with client: PostgresClient, _ comment: String) async throws {
        for loaded in loaded {
            guard let key = loaded.object.objectID?.values.first, case .integer(let id) = key else { continue }
            let text = try await client.query(World.row(loaded.entity, id)).first?.decode(0, as: String.self)
            let place: Comment = "\(comment): \(loaded.entity) \(id)"
            guard let text else {
                #expect(loaded.object.isDeleted, place)
                continue
            }
            // The row may have come back, for another object.
            if loaded.object.isDeleted { continue }
            for attribute in loaded.object.entity.attributes {
                let shown = loaded.object[attribute.name].map { "\($0)" }
                let sql = try await client.query("SELECT \(text)::jsonb ->> \(attribute.name)").first?.decode(
                    0, as: String.self)
                #expect(shown == sql, "\(place) \(attribute.name)")
            }
            for fact in World.sets where fact.entity == loaded.entity {
                let wanted = try await World.keys(client, fact.members(id))
                if loaded.sets.contains(fact.key) {
                    let found = try await loaded.object.membersInMemory(fact.key, isOrdered: fact.isOrdered)
                    #expect(found == wanted, "\(place) \(fact.key)")
                }
                if loaded.counts.contains(fact.key) {
                    #expect(try await loaded.object.countInMemory(fact.key) == wanted.count, "\(place) \(fact.key)")
                }
            }
            for fact in World.ones where fact.entity == loaded.entity && loaded.ones.contains(fact.key) {
                let wanted = try await World.keys(client, fact.members(id)).first
                #expect(try await loaded.object.oneInMemory(fact.key) == wanted, "\(place) \(fact.key)")
            }
        }
    }
}
