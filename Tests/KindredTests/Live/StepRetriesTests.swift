import KindredPostgres
import Testing

@testable import KindredLive

/// Which questions of a step are asked again, and how often.
@Suite struct StepRetriesTests {
    private static let stopped = PostgresError(.timeout, "The statement took too long")
    private static let refused = PostgresError(.protocolViolation, "The statement gave no row")

    @Test func aRefusedQuestionIsNotAskedAgain() {
        var retries = StepRetries<Int>()
        let isAskedAgain = retries.mayRepeat(1, after: Self.refused)
        #expect(!isAskedAgain)
        #expect(!retries.isPausing(1) && !retries.isAnyDue)
    }

    @Test func aQuestionIsAskedFiveTimesInARow() {
        var retries = StepRetries<Int>()
        #expect((0..<5).map { _ in retries.mayRepeat(1, after: Self.stopped) } == [true, true, true, true, false])
        #expect(retries.isPausing(1) && !retries.isPausing(2))
        // Another question has its own count, and an answer begins a new one.
        #expect([2, 2].map { retries.mayRepeat($0, after: Self.stopped) } == [true, true])
        retries.end(1)
        #expect(!retries.isPausing(1))
        #expect([1].map { retries.mayRepeat($0, after: Self.stopped) } == [true])
    }

    @Test func aPauseEnds() async throws {
        var retries = StepRetries<Int>()
        _ = retries.mayRepeat(1, after: Self.stopped)
        #expect(!retries.isAnyDue)
        while retries.isPausing(1) { try await Task.sleep(for: .milliseconds(5)) }
        #expect(retries.isAnyDue)
        retries.keep { $0 != 1 }
        #expect(!retries.isAnyDue)
    }
}
