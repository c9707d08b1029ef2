import KindredPostgres
import Testing

@testable import Kindred
@testable import KindredSchema

/// Loaded parts are found by their queries, and are stale where a change may concern them.
@Suite struct LoadedPartsTests {
    private static let runtime = SchemaRuntime(ConditionFixture.schema)

    private func part(_ key: String, _ format: String? = nil, limit: Int? = nil) throws -> PartQuery {
        let relationship = try #require(try Self.runtime.entity(named: "person").relationship(named: key))
        var query = SelectQuery(entity: relationship.destination.entity)
        if let format { try query.narrow(by: Condition(format: format, arguments: []), in: Self.runtime.schema) }
        query.limit = limit
        return try PartQuery(relationship, query, in: Self.runtime.schema)
    }

    private func time(_ number: UInt64) -> ContextTime { ContextTime(rawValue: number) }

    private let owner = ObjectKey.integer(1)

    @Test func aGreaterLimitAnswersASmallerOne() throws {
        var parts = LoadedParts()
        let five = parts.part(try part("emailSet", "size > 1", limit: 5), in: Self.runtime, at: time(1))
        #expect(parts.part(try part("emailSet", "size > 1", limit: 5), in: Self.runtime, at: time(2)).slot == five.slot)
        func found(_ format: String, _ limit: Int?) throws -> [Int] {
            parts.parts(with: try part("emailSet", format, limit: limit)).map(\.slot)
        }
        #expect(try found("size > 1", 5) == [five.slot] && found("size > 1", 2) == [five.slot])
        #expect(try found("size > 1", 6) == [] && found("size > 1", nil) == [] && found("size > 2", 5) == [])
        let whole = parts.part(try part("emailSet", "size > 1"), in: Self.runtime, at: time(2))
        #expect(try found("size > 1", 6) == [whole.slot] && found("size > 1", nil) == [whole.slot])
        #expect(whole.slot != five.slot && five.slot > 1_000)
    }

    @Test func theOldestPartsAreForgotten() throws {
        var parts = LoadedParts()
        let first = parts.part(try part("emailSet", "size > 0"), in: Self.runtime, at: time(1))
        for number in 1...70 { _ = parts.part(try part("emailSet", "size > \(number)"), in: Self.runtime, at: time(1)) }
        #expect(parts.staleSince(first.slot, owner) == .forever)
        #expect(try parts.parts(with: part("emailSet", "size > 0")).isEmpty)
        #expect(try !parts.parts(with: part("emailSet", "size > 70")).isEmpty)
    }

    @Test func whatIsNotReadConcernsNothing() throws {
        var parts = LoadedParts()
        let known = parts.part(try part("emailSet", "person.age > 3"), in: Self.runtime, at: time(1))
        parts.noteLost(try Self.runtime.entity(named: "order"), at: time(5))
        #expect(parts.staleSince(known.slot, owner) == time(1))
        parts.noteLost(try Self.runtime.entity(named: "person"), at: time(6))
        #expect(parts.staleSince(known.slot, owner) == time(6))
        parts.noteLost(try Self.runtime.entity(named: "email"), at: time(7))
        #expect(parts.staleSince(known.slot, owner) == time(7))
        // A later note stays.
        parts.noteLost(try Self.runtime.entity(named: "email"), at: time(3))
        #expect(parts.staleSince(known.slot, owner) == time(7))
    }

    @Test func theLinksOfOtherRelationshipsConcernAPartThatReadsThem() throws {
        var parts = LoadedParts()
        let person = try Self.runtime.entity(named: "person")
        let emails = try #require(person.relationship(named: "emailSet"))
        let known = parts.part(try part("emailSet", "size > 1"), in: Self.runtime, at: time(1))
        // Its own are noted at the owners.
        parts.noteLost(linksOf: emails, at: time(2))
        #expect(parts.staleSince(known.slot, owner) == time(1))
        parts.noteLost(linksOf: emails.inverse, at: time(3))
        #expect(parts.staleSince(known.slot, owner) == time(1))
        parts.noteAll(at: time(4))
        #expect(parts.staleSince(known.slot, owner) == time(4))
    }
}
