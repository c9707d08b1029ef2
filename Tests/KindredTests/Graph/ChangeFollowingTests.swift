import KindredPostgres
import Testing

@testable import Kindred

/// The memory of a context that follows changes does not grow with its writes, reads and counts.
@Suite struct ChangeFollowingTests {
    private final class NoFeed: ContextFeed {
        func follow(_ entities: [EntityRuntime], in core: ContextCore) async throws {}
        func askForStep() {}
        func contextEnded() {}
    }

    private let offline: OfflineContext
    private let following: ChangeFollowing

    init() throws {
        offline = try OfflineContext()
        following = ChangeFollowing(NoFeed())
        try following.begin([offline.entity])
    }

    /// The numbers of rows to be asked for again, and of wishes to ask for everything.
    private var doubts: [Int] {
        following.withState { [$0.doubtful[offline.entity]?.count ?? 0, $0.reloads] }
    }

    @Test func manyWrittenRowsAreAskedForTogether() {
        let keys = (1...10_000).map { ObjectKey.integer($0) }
        following.wrote(offline.entity, keys, at: 1)
        #expect(doubts == [10_000, 0])
        // The same rows again.
        following.wrote(offline.entity, keys, at: 2)
        #expect(doubts == [10_000, 0])
        following.arrived([.integer(10_001)], of: offline.entity, at: 3)
        #expect(doubts == [0, 1])
        following.wrote(offline.entity, [ObjectKey.integer(1)], at: 4)
        #expect(doubts == [1, 1])
    }

    @Test func countsOfOwnersThatLeftMemoryAreDropped() throws {
        let person = try offline.context.core.runtime.entity(named: "person")
        let emails = try #require(person.relationship(named: "emailSet"))
        let held = try (1...3).map { try offline.object($0, "held") }
        func keep(_ owner: DatabaseObject, _ id: Int) {
            let count = ChangeFollowing.Count(owner: owner, number: id, askedAt: 1)
            following.keep(count, of: emails, .integer(Int64(id)))
        }
        for (place, owner) in held.enumerated() { keep(owner, place + 1) }
        for id in 4...5_000 { keep(try offline.object(id, "gone"), id) }
        #expect(following.withState { $0.counts[emails]?.count ?? 0 } <= 1_000)
        for id in 1...3 { #expect(following.count(emails, .integer(Int64(id)), since: 1) == id) }
        withExtendedLifetime(held) {}
    }

    @Test func whatFailedForGoodBeginsNoMore() {
        following.end(KindredError(.schemaChanged, "for a test"))
        #expect(throws: KindredError.self) { try following.begin([offline.entity]) }
    }
}
