import Testing

@testable import Kindred

/// Notes on an owner come back in the order of their times, until answers before them are useless anyway.
@Suite struct RelationshipLogTests {
    private static func entry(_ key: Int64) -> RelationshipLog.Entry {
        RelationshipLog.Entry(member: .integer(key))
    }

    private static func keys(_ log: RelationshipLog, _ owner: ObjectKey, since time: ContextTime) -> [ObjectKey] {
        log.entries(owner, since: time).map(\.member)
    }

    @Test func givesTheEntriesAfterATime() {
        var log = RelationshipLog()
        for time in 1...5 {
            log.append(Self.entry(Int64(10 * time)), of: .integer(1), at: ContextTime(rawValue: UInt64(time)))
        }
        log.append(Self.entry(99), of: .integer(2), at: 6)
        #expect(Self.keys(log, .integer(1), since: 3) == [.integer(40), .integer(50)])
        #expect(Self.keys(log, .integer(1), since: 5) == [] && Self.keys(log, .integer(3), since: 0) == [])
        #expect(log.changedAt(.integer(1)) == 5 && log.changedAt(.integer(3)) == 0 && log.staleSince(.integer(1)) == 0)
    }

    @Test func staleAnswersNeedNoEntries() {
        var log = RelationshipLog()
        log.append(Self.entry(10), of: .integer(1), at: 1)
        log.noteStale(.integer(1), at: 2)
        log.append(Self.entry(20), of: .integer(1), at: 3)
        #expect(log.staleSince(.integer(1)) == 2 && log.staleSince(.integer(2)) == 0)
        #expect(Self.keys(log, .integer(1), since: 0) == [.integer(20)])
        log.noteAllStale(at: 4)
        #expect(log.staleSince(.integer(1)) == 4 && log.staleSince(.integer(2)) == 4)
        #expect(Self.keys(log, .integer(1), since: 0) == [])
    }

    @Test func entriesOfANewOwnerFollowItToItsKeyInTheirOrder() {
        var log = RelationshipLog()
        log.append(Self.entry(10), of: .temporary(1), at: 1)
        log.append(Self.entry(20), of: .integer(5), at: 2)
        log.append(Self.entry(30), of: .temporary(1), at: 3)
        log.rename(.temporary(1), to: .integer(5))
        #expect(Self.keys(log, .integer(5), since: 0) == [.integer(10), .integer(20), .integer(30)])
        #expect(Self.keys(log, .temporary(1), since: 0) == [])
    }

    @Test func whatIsAskedForBesideATransactionCountsAsOfItsBeginning() {
        var times = TransactionTimes()
        let (root, other) = (TransactionScope(within: nil), TransactionScope(within: nil))
        times.begin(root, at: 10)
        #expect(
            times.counted(9, in: nil) == 9 && times.counted(12, in: nil) == 10 && times.counted(12, in: other) == 10)
        #expect(times.counted(12, in: root) == 12)
        #expect(times.isRunning(besides: nil) && !times.isRunning(besides: root))
        times.end(root, at: 20)
        #expect(times.counted(19, in: nil) == 10 && times.counted(20, in: nil) == 20)
        #expect(!times.isRunning(besides: nil))
    }

    @Test func answersOlderThanTheTransactionsThatAreKnownCountAsOlderThanAllOfThem() {
        var times = TransactionTimes()
        for number in 1...100 as ClosedRange<UInt64> {
            let root = TransactionScope(within: nil)
            times.begin(root, at: ContextTime(rawValue: 10 * number))
            times.end(root, at: ContextTime(rawValue: 10 * number + 5))
        }
        #expect(times.counted(57, in: nil) == 10 && times.counted(1_001, in: nil) == 1_000)
        #expect(times.counted(1_006, in: nil) == 1_006)
    }

    @Test func aScopeIsUndoneWithTheOneAroundIt() {
        let outer = TransactionScope(within: nil)
        let (inner, sibling) = (TransactionScope(within: outer), TransactionScope(within: outer))
        inner.undo()
        #expect(inner.isUndone && !outer.isUndone && !sibling.isUndone && sibling.isRunning && !inner.isRunning)
        outer.undo()
        #expect(sibling.isUndone && sibling.root === outer)
        let kept = TransactionScope(within: nil)
        kept.end()
        #expect(!kept.isRunning && !kept.isUndone)
    }
}
