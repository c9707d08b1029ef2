import Testing

@testable import Kindred

/// Times of questions beside transactions, and of changes that may be rolled back.
@Suite struct TransactionTimesTests {
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

    @Test func anAnswerFromBesideATransactionLacksItsChangesAfterItsEnd() {
        var times = TransactionTimes()
        let root = TransactionScope(within: nil)
        times.begin(root, at: 10)
        // While it runs, its journal tells which rows it has written.
        #expect(!times.lacks(12, askedAt: 15, in: nil) && times.lacks(16, askedAt: 15, in: nil))
        times.end(root, at: 20)
        #expect(times.lacks(12, askedAt: 15, in: nil) && !times.lacks(12, askedAt: 15, in: root))
        #expect(!times.lacks(12, askedAt: 20, in: nil) && !times.lacks(9, askedAt: 15, in: nil))
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

    @Test func aTimeCountsUntilItsScopeIsRolledBack() {
        let (outer, other) = (TransactionScope(within: nil), TransactionScope(within: nil))
        let inner = TransactionScope(within: outer)
        var time = ScopedTime()
        time.advance(to: 3, in: nil)
        time.advance(to: 5, in: outer)
        time.advance(to: 6, in: inner)
        #expect(time.time == 6)
        inner.undo()
        #expect(time.time == 5)
        time.advance(to: 7, in: outer)
        outer.end()
        time.advance(to: 8, in: other)
        #expect(time.time == 8)
        other.undo()
        #expect(time.time == 7)
    }

    @Test func ofManyScopesTheOldestCountWhateverBecomesOfThem() {
        let root = TransactionScope(within: nil)
        var time = ScopedTime()
        for number in 1...100 as ClosedRange<UInt64> {
            time.advance(to: ContextTime(rawValue: number), in: TransactionScope(within: root))
        }
        root.undo()
        #expect(time.time == 36)
    }
}
