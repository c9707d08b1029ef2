import KindredPostgres
import Testing

@testable import Kindred

/// Which questions of a step are asked again, and how often.
@Suite struct StepRetriesTests {
    private static let stopped = PostgresError(.timeout, "The statement took too long")
    private static let refused = PostgresError(.protocolViolation, "The statement gave no row")

    @Test func aRefusedQuestionIsNotAskedAgain() {
        var retries = StepRetries<Int>()
        #expect(!retries.mayRepeat(1, after: Self.refused))
        #expect(!retries.isPausing(1) && !retries.isAnyDue)
    }

    @Test func aQuestionIsAskedFiveTimesInARow() {
        var retries = StepRetries<Int>()
        for _ in 0..<4 { #expect(retries.mayRepeat(1, after: Self.stopped) && retries.isPausing(1)) }
        #expect(!retries.isPausing(2))
        #expect(!retries.mayRepeat(1, after: Self.stopped))
        // Another question has its own count, and an answer begins a new one.
        #expect(retries.mayRepeat(2, after: Self.stopped))
        retries.end(1)
        #expect(!retries.isPausing(1))
        #expect(retries.mayRepeat(1, after: Self.stopped))
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
