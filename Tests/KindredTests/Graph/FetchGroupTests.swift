import KindredPostgres
import Synchronization
import Testing

@testable import Kindred

/// Rows that were read together load a relationship together: in one query, or in slices that grow.
@Suite struct FetchGroupTests {
    /// The keys that were asked for, query by query.
    private final class Queries: Sendable {
        private let lists = Mutex<[[ObjectKey]]>([])
        var all: [[ObjectKey]] { lists.withLock { $0 } }
        var counts: [Int] { all.map(\.count) }

        func answer(_ keys: KeyNumbers, askedAt: ContextTime = 1, in scope: TransactionScope? = nil) -> Answer {
            lists.withLock { $0.append(keys.keys) }
            return Answer.Builder(owners: keys, count: 0).build(askedAt: askedAt, in: scope)
        }
    }

    private struct Refusal: Error {}

    private let queries = Queries()

    private func group(of count: Int) -> FetchGroup { FetchGroup(.integers((0..<count).map { Int64($0) }), askedAt: 1) }

    @discardableResult
    private func load(
        _ group: FetchGroup, _ key: Int, staleSince: ContextTime = 0, in scope: TransactionScope? = nil,
        changed: Set<Int> = [], _ answer: ((KeyNumbers) async throws -> Answer)? = nil
    ) async throws -> Answer {
        try await group.load(
            0, .integer(Int64(key)), staleSince: staleSince, from: key, in: scope.map { ObjectIdentifier($0) },
            isFoundByKey: true, candidate: \.key,
            stale: { if case .integer(let key) = $1, changed.contains(Int(key)) { staleSince } else { 0 } },
            load: { keys in if let answer { try await answer(keys) } else { queries.answer(keys) } })
    }

    @Test func aGroupIsLoadedAtOnce() async throws {
        let group = group(of: 1_000)
        for key in [500, 0, 999] { #expect(try await load(group, key).contains(.integer(Int64(key)))) }
        #expect(queries.counts == [1_000])
        #expect(queries.all[0].prefix(2) == [.integer(500), .integer(501)])
    }

    @Test func aLargeGroupIsLoadedInSlicesThatGrow() async throws {
        let group = group(of: 5_000)
        for key in 0..<5_000 { try await load(group, key) }
        #expect(queries.counts == [128, 256, 512, 1_024, 2_048, 1_032])
        #expect(Set(queries.all.joined()).count == 5_000)
    }

    @Test func tasksThatAskAtTheSameTimeShareAQuery() async throws {
        let group = group(of: 100)
        try await withThrowingTaskGroup { tasks in
            for key in 0..<20 {
                tasks.addTask {
                    try await load(group, key) { keys in
                        for _ in 0..<50 { await Task.yield() }
                        return queries.answer(keys)
                    }
                }
            }
            for try await batch in tasks { #expect(batch.contains(.integer(99))) }
        }
        #expect(queries.counts == [100])
    }

    @Test func aTaskInAnotherScopeDoesNotWait() async throws {
        let group = group(of: 100)
        try await load(group, 1) { keys in
            try await load(group, 2, in: TransactionScope(within: nil))
            return queries.answer(keys)
        }
        #expect(queries.counts == [1, 100])
    }

    @Test func whatFailedIsAskedForAgain() async throws {
        let group = group(of: 100)
        await #expect(throws: Refusal.self) { try await load(group, 1) { _ in throw Refusal() } }
        try await load(group, 2)
        #expect(queries.counts == [100])
    }

    @Test func ownersThatHaveChangedAreAskedForAgainTogether() async throws {
        let group = group(of: 1_000)
        try await load(group, 0)
        let batch = try await load(group, 10, staleSince: 5, changed: [10, 12, 40]) { queries.answer($0, askedAt: 6) }
        #expect(queries.all.last == [.integer(10), .integer(12), .integer(40)] && batch.askedAt == 6)
        #expect(group.members(0, of: .integer(12))?.askedAt == 6 && group.members(0, of: .integer(11))?.askedAt == 1)
        // Owners far behind the touched one are not examined.
        try await load(group, 100, staleSince: 7, changed: [100, 900]) { queries.answer($0, askedAt: 8) }
        #expect(queries.all.last == [.integer(100)])
    }

    @Test func anAnswerOfAnUndoneTransactionIsNone() async throws {
        let (group, scope) = (group(of: 10), TransactionScope(within: nil))
        try await load(group, 1, in: scope) { queries.answer($0, in: scope) }
        #expect(group.members(0, of: .integer(1)) != nil)
        scope.undo()
        #expect(group.members(0, of: .integer(1)) == nil)
        try await load(group, 1)
        #expect(queries.counts == [10, 10])
    }

    @Test func forgetsWhatWasAskedForBefore() async throws {
        let group = group(of: 10)
        try await load(group, 1)
        group.forget(0, before: 1)
        #expect(group.members(0, of: .integer(2)) != nil)
        group.forget(0, before: 2)
        #expect(group.members(0, of: .integer(2)) == nil)
    }
}
