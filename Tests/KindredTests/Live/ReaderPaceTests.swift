import Testing

@testable import Kindred
@testable import KindredLive

/// How long the reader pauses: not at all for the first change, longer and longer while nothing or much happens.
@Suite struct ReaderPaceTests {
    @Test func theFirstChangeIsReadAtOnce() {
        var pace = ReaderPace()
        #expect(pace.afterChanges(.zero) == .zero)
        var last = Duration.zero
        for _ in 0..<10 {
            let pause = pace.afterChanges(.zero)
            #expect(pause >= last && pause <= .milliseconds(40))
            last = pause
        }
        #expect(last == .milliseconds(40))
        // The step itself has taken a part of it.
        #expect(pace.afterChanges(.milliseconds(15)) == .milliseconds(25))
        #expect(pace.afterChanges(.milliseconds(60)) == .zero)
        _ = pace.afterNothing(isAsleep: true)
        #expect(pace.afterChanges(.zero) == .zero)
    }

    @Test func withoutChangesItLooksLessOften() {
        var pace = ReaderPace()
        let pauses = (0..<20).map { _ in pace.afterNothing(isAsleep: true) }
        #expect(pauses.first == .milliseconds(5) && pauses.last == .seconds(1))
        _ = pace.afterChanges(.zero)
        // Where nothing wakes it.
        let polls = (0..<20).map { _ in pace.afterNothing(isAsleep: false) }
        #expect(polls.first == .milliseconds(5) && polls.last == .milliseconds(250))
    }

    @Test func failuresAreWaitedFor() {
        var pace = ReaderPace()
        let pauses = (0..<20).map { _ in pace.afterFailure() }
        #expect(pauses.first == .milliseconds(50) && pauses.last == .seconds(2) && pace.keepsFailing)
        _ = pace.afterChanges(.zero)
        #expect(!pace.keepsFailing && pace.afterFailure() == .milliseconds(50))
    }
}
