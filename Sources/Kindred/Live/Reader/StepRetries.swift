import KindredPostgres

/// The questions of a step that the server did not answer in time, and when they are asked again.
///
/// The rule for live requests, contexts and subscribers alike: a question that the server refuses for good fails alone. A question
/// that it may answer later is asked again, up to five times in a row, with longer and longer pauses; nothing else waits for it.
struct StepRetries<Question: Hashable & Sendable>: Sendable {
    private struct Failures {
        var count = 0
        var isDueAt = MonotonicTime.now
    }

    private var failures: [Question: Failures] = [:]
    private static var maximum: Int { 5 }

    /// Notes that questions have failed together; returns whether they are asked again.
    mutating func mayRepeat(_ questions: some Collection<Question>, after error: any Error) -> Bool {
        guard error.isPassing else { return false }
        for question in questions {
            failures[question, default: Failures()].count += 1
            let pause = Duration.milliseconds(50 << failures[question, default: Failures()].count)
            failures[question]?.isDueAt = .now + pause
        }
        return questions.allSatisfy { failures[$0, default: Failures()].count < Self.maximum }
    }

    /// Notes that a question was answered, or is asked no longer.
    mutating func end(_ question: Question) {
        if !failures.isEmpty { failures[question] = nil }
    }

    /// Keeps some questions only.
    mutating func keep(_ isKept: (Question) -> Bool) {
        if !failures.isEmpty { failures = failures.filter { isKept($0.key) } }
    }

    /// Whether a question has failed and is not to be asked yet.
    func isPausing(_ question: Question) -> Bool {
        guard let failed = failures[question] else { return false }
        return failed.isDueAt > .now
    }

    /// Whether a question that has failed is to be asked now.
    var isAnyDue: Bool { failures.contains { $0.value.isDueAt <= .now } }
}

extension ChangeReader {
    /// Sends a question in the task's step, behind a savepoint, so that its failure takes no other question with it.
    ///
    /// - Returns: The answer, or the failure of this question alone.
    /// - Throws: An error that ends the step, such as that of a lost connection.
    func ask<Answer: Sendable>(_ body: () async throws -> Answer) async throws -> Result<Answer, any Error> {
        do {
            let answer = try await database.client.withTransaction { scope in
                // Sent is sent, also where the question fails.
                defer { database.trackingMetrics.withLock { $0.statements += scope.statementCount } }
                return try await body()
            }
            return .success(answer)
        } catch  where error is CancellationError || error.isPassing && !error.isOfStatement {
            throw error
        } catch {
            return .failure(error)
        }
    }
}
