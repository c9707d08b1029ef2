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
        #expect(parts.staleSince(first, owner) == .forever && first.slot < 64 + (1 << 20))
        #expect(try parts.parts(with: part("emailSet", "size > 0")).isEmpty)
        #expect(try !parts.parts(with: part("emailSet", "size > 70")).isEmpty)
    }

    /// A log that is asked for one part, at time 1.
    private func log(_ format: String) throws -> (log: ChangeLog, part: LoadedParts.Part) {
        var log = ChangeLog()
        let part = log.willAsk(try part("emailSet", format), in: Self.runtime, at: 1)
        return (log, part)
    }

    private func append(
        _ gap: RowGap, to log: inout ChangeLog, at time: ContextTime, askedAt: ContextTime? = nil
    ) {
        let entry = ChangeLog.Entry(
            event: .gap(gap), at: time, askedAt: askedAt, scope: nil, isByOthers: false)
        _ = log.append(entry)
    }

    @Test func whatIsNotReadConcernsNothing() throws {
        var (log, known) = try log("person.age > 3")
        append(RowGap(.ofParts, of: try Self.runtime.entity(named: "order")), to: &log, at: 5)
        #expect(log.staleSince(known, owner) == 1)
        append(RowGap(.ofParts, of: try Self.runtime.entity(named: "person")), to: &log, at: 6)
        #expect(log.staleSince(known, owner) == 6)
        append(RowGap(.ofParts, of: try Self.runtime.entity(named: "email")), to: &log, at: 7)
        #expect(log.staleSince(known, owner) == 7)
        // What an earlier question has shown takes nothing back.
        append(RowGap(.ofParts, of: try Self.runtime.entity(named: "email")), to: &log, at: 8, askedAt: 3)
        #expect(log.staleSince(known, owner) == 7)
    }

    @Test func theLinksOfOtherRelationshipsConcernAPartThatReadsThem() throws {
        var (log, known) = try log("size > 1")
        let person = try Self.runtime.entity(named: "person")
        let emails = try #require(person.relationship(named: "emailSet"))
        // The part's own relationship tells the owner.
        append(RowGap(membersIn: emails, of: .integer(2)), to: &log, at: 2)
        #expect(log.staleSince(known, owner) == 1 && log.staleSince(known, .integer(2)) == 2)
        append(RowGap(membersIn: emails.inverse, of: .integer(3)), to: &log, at: 3)
        #expect(log.staleSince(known, owner) == 1)
        append(RowGap(.everything, of: try Self.runtime.entity(named: "email")), to: &log, at: 4)
        #expect(log.staleSince(known, owner) == 4)
    }

    @Test func aPartThatIsAskedForLaterKnowsWhatHappenedBefore() throws {
        var (log, _) = try log("size > 1")
        append(RowGap(.some, of: try Self.runtime.entity(named: "email")), to: &log, at: 5)
        let later = log.willAsk(try part("emailSet", "size > 2"), in: Self.runtime, at: 3)
        #expect(log.staleSince(later, owner) == 5)
    }
}
