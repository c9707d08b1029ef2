import Kindred
import KindredPostgres

/// The questions that the server did not answer in time, and when they are asked again.
///
/// A question that waited for a lock is asked again until it has the lock. Another question that the server may answer later is
/// asked again up to five times in a row. The pauses are longer and longer.
struct StepRetries<Question: Hashable & Sendable>: Sendable {
    private struct Failures {
        var count = 0
        var pause: Duration { .milliseconds(min(1_000, 50 << min(count - 1, 5))) }
        var isDueAt = MonotonicTime.now
    }

    private var failures: [Question: Failures] = [:]
    private static var maximum: Int { 5 }

    /// Notes a failure; returns whether the question is asked again.
    mutating func mayRepeat(_ question: Question, after error: any Error) -> Bool {
        guard error.isPassing else { return false }
        var failed = failures[question] ?? Failures()
        failed.count += 1
        failed.isDueAt = .now + failed.pause
        failures[question] = failed
        return failed.count < Self.maximum || error.isOfLock
    }

    /// Notes that a question was answered, or is asked no longer.
    mutating func end(_ question: Question) {
        if !failures.isEmpty { failures[question] = nil }
    }

    /// Keeps some questions only.
    mutating func keep(_ isKept: (Question) -> Bool) {
        if !failures.isEmpty { failures = failures.filter { isKept($0.key) } }
    }

    /// The pause before a question that has failed is asked again.
    func pause(of question: Question) -> Duration { failures[question]?.pause ?? .zero }

    /// Whether a question has failed and is not to be asked yet.
    func isPausing(_ question: Question) -> Bool { failures[question].map { $0.isDueAt > .now } ?? false }

    /// Whether a question that has failed is to be asked now.
    var isAnyDue: Bool { failures.contains { $0.value.isDueAt <= .now } }
}
