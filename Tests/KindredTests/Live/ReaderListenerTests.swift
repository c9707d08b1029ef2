import KindredPostgres
import Synchronization
import Testing

@testable import Kindred
@testable import KindredLive

@Suite(.timeLimit(.minutes(1))) struct ReaderListenerTests {
    /// Attempts to listen, all in vain, and the warnings about them.
    private final class Attempts: Sendable {
        let count = Atomic(0)
        let warnings = Atomic(0)
    }

    @Test func attemptsInVainAreSaidOnce() async throws {
        let attempts = Attempts()
        let listener = ReaderListener(
            ReaderSignal(), retryingAfter: .milliseconds(1),
            warn: { _ in attempts.warnings.wrappingAdd(1, ordering: .relaxed) }
        ) {
            attempts.count.wrappingAdd(1, ordering: .relaxed)
            throw PostgresError(.connectionFailed, "nobody is there")
        }
        listener.start()
        listener.start()
        while attempts.count.load(ordering: .relaxed) < 5 { try await Task.sleep(for: .milliseconds(1)) }
        listener.end()
        #expect(attempts.warnings.load(ordering: .relaxed) == 1 && !listener.isListening)
    }
}
