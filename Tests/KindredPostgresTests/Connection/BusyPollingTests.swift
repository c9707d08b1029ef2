import Testing

@testable import KindredPostgres

/// When the poller looks for input without sleep.
@Suite struct BusyPollingTests {
    /// A poller's rounds, with a clock of their own.
    private final class Rounds {
        var polling = BusyPolling()
        var now = MonotonicTime(nanoseconds: 1_000_000)
        let sources = (0..<3).map { _ in Source() }

        final class Source {}

        /// Lets some sources have input after a time in nanoseconds; whether it is polled after that.
        func hear(_ numbers: [Int], after time: UInt64, limit: UInt64 = 200) -> Bool {
            now.nanoseconds += time
            for number in numbers { polling.note(ObjectIdentifier(sources[number]), limit: limit) }
            let end = polling.end(from: now)
            #expect(end == now || end.nanoseconds == now.nanoseconds + limit)
            return end > now
        }
    }

    @Test func answersOfOneConnectionThatFollowEachOtherFastAreWaitedForWithoutSleep() {
        let rounds = Rounds()
        let first = (0..<10).map { _ in rounds.hear([0], after: 400) }
        #expect(
            first == Array(repeating: false, count: BusyPolling.habits.lowerBound) + Array(repeating: true, count: 6))
    }

    @Test(arguments: [([0], 401), ([1], 100), ([0, 1], 100), ([0, 0], 100), ([], 100)] as [([Int], UInt64)])
    func anythingElseEndsIt(numbers: [Int], time: UInt64) {
        let rounds = Rounds()
        for _ in 0..<10 { _ = rounds.hear([0], after: 100) }
        #expect(rounds.hear([0], after: 400))
        #expect(!rounds.hear(numbers, after: time))
        let next = (0..<BusyPolling.habits.lowerBound).map { _ in rounds.hear([0], after: 100) }
        #expect(next.dropLast().allSatisfy { !$0 })
    }

    @Test func aLimitOfZeroIsNever() {
        let rounds = Rounds()
        for time in 1...1_000 { #expect(!rounds.hear([0], after: UInt64(time), limit: 0)) }
    }

    @Test func whatFailsIsTriedLessAndLessAndOftenAgainAfterASuccess() {
        let rounds = Rounds()
        func roundsUntilTried() -> Int {
            (1...1_000).first { _ in rounds.hear([0], after: 300) } ?? .max
        }
        _ = rounds.hear([0], after: 300)
        for habit in [4, 8, 16, 32, 64, 128, 256, 256, 256] {
            #expect(roundsUntilTried() == habit)
            rounds.polling.noteFailure()
        }
        #expect(roundsUntilTried() == 256)
        #expect(rounds.hear([0], after: 100))
        rounds.polling.noteFailure()
        #expect(roundsUntilTried() == 8)
    }

    @Test func aFailureThatWasNotTriedIsNone() {
        let rounds = Rounds()
        for _ in 0..<4 {
            rounds.polling.noteFailure()
            #expect(!rounds.hear([0], after: 100))
        }
        rounds.polling.noteFailure()
        #expect(rounds.hear([0], after: 100))
    }
}
