import Testing

@testable import KindredPostgres

@Suite struct LockRankTests {
    @Test func onlyLocksOfHigherRanksMayBeTaken() {
        let held = HeldRanks().adding(.connectionState)
        #expect(HeldRanks().allow(.leaseGate) && held.allow(.connectionInbox) && held.allow(.leaf))
        #expect(!held.allow(.leaseGate) && !held.allow(.connectionState))
        // The highest counts, in whatever order they came.
        #expect(!held.adding(.poller).allow(.connectionInbox))
        #expect(!HeldRanks().adding(.poller).adding(.connectionState).allow(.connectionInbox))
        #expect(!HeldRanks().adding(.leaf).allow(.leaf))
    }

    @Test func locksOfAChainMayBeTakenTogether() {
        let held = HeldRanks().adding(.transactionScope)
        #expect(held.allow(.transactionScope) && !held.allow(.leaseGate))
        #expect(!held.adding(.connectionInbox).allow(.transactionScope))
    }

    #if DEBUG
        @Test func whatATaskDoesInOrderIsLeftAlone() async {
            let outer = RankedMutex(0, .connectionState)
            let inner = RankedMutex(0, .connectionInbox)
            outer.withLock { number in number += inner.withLock { $0 + 1 } }
            // A lock that was given back no longer counts, and a lock that is not waited for does not matter.
            inner.withLock { $0 += 1 }
            inner.withLock { number in number += outer.withLockIfAvailable { $0 } ?? 0 }
            outer.withLock { #expect($0 == 1) }
        }

        @Test func aLockOutOfOrderEndsTheProcess() async {
            await #expect(processExitsWith: .failure) {
                let outer = RankedMutex(0, .connectionState)
                let inner = RankedMutex(0, .connectionInbox)
                inner.withLock { number in number += outer.withLock { $0 + 1 } }
            }
            await #expect(processExitsWith: .failure) {
                let outer = RankedMutex(0, .connectionState)
                let inner = RankedMutex(0, .connectionInbox)
                inner.withLock { number in
                    // Taken without a wait, it counts for the next one.
                    let next = RankedMutex(0, .connectionState)
                    number += outer.withLockIfAvailable { _ in next.withLock { $0 } } ?? 0
                }
            }
        }
    #endif
}
