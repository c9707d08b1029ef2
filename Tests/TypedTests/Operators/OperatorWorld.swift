import Foundation
import Kindred
import TestSupport
import TypeModels

/// A visit with dates of Foundation's, which generated classes do not have.
final class DatedVisit: DatabaseObject, TypedObject, @unchecked Sendable {
    static let mapping = EntityMapping(
        schema: "public",
        name: "visit",
        [
            .attribute(\DatedVisit.id, "id", "integer"),
            .attribute(\DatedVisit.began, "began", "timestamp with time zone"),
            .attribute(\DatedVisit.ended, "ended", "timestamp with time zone"),
        ]
    )

    var id: Int { readProperty(0) }
    var began: Date { readProperty(1) }
    var ended: Date? { readProperty(2) }
}

/// Random objects full of NULLs.
struct OperatorWorld {
    static let names = ["Ann", "ann", "Bob", "a%b", "a_b", "a\\b", "", "Zoë", "x'y", "A*?", "Bo\nb"]
    static let words = ["fox", "hill", "lamp", "rope", "salt"]
    static let prices: [PostgresNumeric] = (-4...8).map { PostgresNumeric(Decimal($0) / 4) }
    static let intervals = [
        PostgresInterval(days: 1), PostgresInterval(days: -3), PostgresInterval(microseconds: 7_200_000_000),
        PostgresInterval(days: 2, microseconds: -3_600_000_000), PostgresInterval(microseconds: 86_400_000_000),
        PostgresInterval(), PostgresInterval(days: 6),
    ]
    static let tokens = (0..<4).compactMap { UUID(uuidString: "0000000\($0)-0000-4000-8000-00000000000\(9 - $0)") }

    static func day(_ number: Int) -> PostgresDate {
        PostgresDate(year: 2020, month: 1, day: number) ?? .infinity
    }

    static func moment(_ number: Int) -> Date { Date(timeIntervalSince1970: 1_600_000_000 + Double(number) * 43_200) }

    static func document(_ random: inout SeededGenerator) -> PostgresJSON {
        func scalar() -> String {
            random.pick(["null", "true", "\"5\"", "\"Ann\"", "\"a%b\"", "0", "2", "-1", "0.5", "5"])
        }
        func object() -> String {
            let members = ["n", "t", "x"].filter { _ in Bool.random(using: &random) }.map { "\"\($0)\": \(scalar())" }
            return "{\(members.joined(separator: ", "))}"
        }
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return PostgresJSON(text: scalar())
        case 1: return PostgresJSON(text: "[\(scalar()), \(object())]")
        case 2: return PostgresJSON(text: object())
        default:
            let rest = object().dropFirst().dropLast()
            return PostgresJSON(text: "{\"in\": \(object())\(rest.isEmpty ? "" : ", ")\(rest)}")
        }
    }

    let keepers: [Keeper]
    let pets: [Pet]
    let clubs: [Club]
    let visits: [DatedVisit]

    /// Stores random objects, and reads them by another context.
    init(_ random: inout SeededGenerator, in database: Database) async throws {
        try await Self.store(&random, in: database.makeContext())
        try await database.query("UPDATE keeper SET words = to_tsvector(story)")
        for id in 0..<12 {
            let (began, ended) = (Self.moment(Int.random(in: 0..<10, using: &random)), random.once(in: 3))
            try await database.query(
                """
                INSERT INTO visit VALUES
                    (\(id), \(began), \(ended ? nil : Self.moment(Int.random(in: 0..<10, using: &random))))
                """)
        }
        let context = database.makeContext()
        keepers = try await context.fetch(Keeper.self).sorted { $0.id }
            .prefetch(\.boss).prefetch(\.club).prefetch(\.badge).prefetch(\.pets).prefetch(\.clubs).all()
        pets = try await context.fetch(Pet.self).prefetch(\.keeper).all()
        clubs = try await context.fetch(Club.self).prefetch(\.members).all()
        visits = try await context.fetch(DatedVisit.self).all()
    }

    private static func store(_ random: inout SeededGenerator, in context: DatabaseContext) async throws {
        func maybe<Value>(_ value: Value) -> Value? { random.once(in: 4) ? nil : value }
        func number() -> Int { Int.random(in: -2...6, using: &random) }
        func name() -> String { random.pick(names) }
        let clubs = try (1...4).map { id in
            try context.add(Club.self) {
                $0.id = id
                $0.name = maybe(name())
            }
        }
        var keepers: [Keeper] = []
        for id in 1...20 {
            keepers.append(
                try context.add(Keeper.self) { keeper in
                    keeper.id = id
                    keeper.name = maybe(name())
                    keeper.code = name()
                    let words = (0..<Int.random(in: 0..<4, using: &random)).map { _ in random.pick(Self.words) }
                    keeper.story = maybe(words.joined(separator: " "))
                    keeper.age = maybe(number())
                    keeper.rank = number()
                    keeper.size = number()
                    keeper.score = maybe(Double(number()) / 2)
                    keeper.ratio = maybe(Float(number()) / 2)
                    keeper.price = maybe(random.pick(prices))
                    keeper.active = maybe(Bool.random(using: &random))
                    keeper.visible = Bool.random(using: &random)
                    keeper.mood = maybe(random.pick(Mood.allCases))
                    keeper.token = maybe(random.pick(tokens))
                    keeper.born = maybe(day(Int.random(in: 5...20, using: &random)))
                    keeper.seen = maybe(Int.random(in: 5...20, using: &random)).flatMap {
                        PostgresTimestamp(date: day($0))
                    }
                    keeper.lasting = maybe(random.pick(intervals))
                    keeper.tags = maybe((0..<Int.random(in: 0..<3, using: &random)).map { _ in maybe(name()) })
                    keeper.numbers = (0..<Int.random(in: 0..<3, using: &random)).map { _ in maybe(number()) }
                    keeper.info = maybe(document(&random))
                    keeper.notes = maybe(document(&random))
                    keeper.boss = keepers.isEmpty || random.once(in: 3) ? nil : random.pick(keepers)
                    keeper.club = random.pick(clubs)
                })
            if Bool.random(using: &random) {
                try context.add(Badge.self) {
                    $0.id = id
                    $0.label = maybe(name())
                    $0.keeper = keepers.last
                }
            }
        }
        for id in 1...30 {
            try context.add(Pet.self) {
                $0.id = id
                $0.name = maybe(name())
                $0.weight = maybe(number())
                $0.keeper = maybe(random.pick(keepers))
            }
        }
        try await context.save()
        for keeper in keepers {
            try await keeper.clubs.formUnion(clubs.filter { _ in random.once(in: 3) })
        }
    }
}
