import Kindred
import Synchronization
import Testing

@testable import KindredTesting

/// Sees whether a test has its slot when Swift Testing starts to count `.timeLimit`, which is before scopes of cases.
///
/// It stands before the test's own trait for its database, and so around that one's scope.
private struct SlotProbe: TestTrait, TestScoping {
    @TaskLocal static var hadSlot: Bool?

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await Self.$hadSlot.withValue(TestSlots.isHeld) { try await function() }
    }
}

/// Limits of tests with databases count the test's own time.
@Suite(.database) struct TestLimitTests {
    @Test(SlotProbe(), .database, .timeLimit(.minutes(15))) func aTestHasItsSlotBeforeItsTimeIsCounted() {
        #expect(SlotProbe.hadSlot == true)
        #expect(TestSlots.isHeld)
    }

    @Test(SlotProbe(), .database, arguments: [1]) func aCaseGetsItsSlotOnceItHasBegun(_: Int) {
        #expect(SlotProbe.hadSlot == false)
        #expect(TestSlots.isHeld)
    }

    @Test(.database(.empty, timeLimit: .seconds(900)), arguments: 0..<12)
    func databasesAreNotMoreThanTheSlots(number: Int) async throws {
        let now = Self.inUse.withLock { count in
            count += 1
            return count
        }
        #expect(now <= 6)
        for _ in 0..<20 { await Task.yield() }
        Self.inUse.withLock { $0 -= 1 }
    }

    private static let inUse = Mutex(0)

    @Test func aTestThatOutlivesItsLimitIsCancelledAndFails() async throws {
        let test = try #require(Test.current)
        let wasCancelled = Mutex(false)
        try await withKnownIssue {
            try await withTimeLimit(.milliseconds(20), of: test) {
                do {
                    try await Task.sleep(for: .seconds(3_600))
                } catch is CancellationError {
                    wasCancelled.withLock { $0 = true }
                }
            }
        } matching: { issue in
            issue.comments.contains { $0.rawValue.contains("longer than its limit of 0.02 seconds") }
        }
        #expect(wasCancelled.withLock { $0 })
    }

    @Test func aTestWithinItsLimitPassesAndItsErrorsAreItsOwn() async throws {
        struct Failure: Error {}
        let test = try #require(Test.current)
        try await withTimeLimit(.seconds(3_600), of: test) { #expect(Test.current == test) }
        await #expect(throws: Failure.self) {
            try await withTimeLimit(.seconds(3_600), of: test) { throw Failure() }
        }
    }
}
