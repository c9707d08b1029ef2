import Kindred
import KindredPostgres
import Synchronization

/// Answers to questions that several tasks ask at the same time: one of them asks, and the others take its answer.
final class SharedAnswers<Question: Hashable & Sendable, Answer: Sendable>: Sendable {
    /// The outcome of a question that is being asked; `.success(nil)` if its task was cancelled.
    private typealias Outcome = Result<Answer?, any Error>

    private final class Asking: Sendable {
        let outcome = WaitQueue<Outcome?, Void, Outcome>(nil, order: .any) { outcome, _ in outcome }
    }

    private let askings = RankedMutex<[Question: Asking]>([:], .leaf)

    /// The answer to a question.
    ///
    /// - Parameters:
    ///   - isFinal: whether an answer may be taken from a task that has asked before this call; if not, it is asked again.
    ///   - ask: sends the question, in the task that asks first.
    func answer(
        to question: Question, isFinal: (Answer) -> Bool, _ ask: () async throws -> Answer
    ) async throws -> Answer {
        // Whether a question that is being asked now was sent after this call.
        var isLater = false
        while true {
            let (asking, isFirst) = askings.withLock { askings in
                if let known = askings[question] { return (known, false) }
                let made = Asking()
                askings[question] = made
                return (made, true)
            }
            if isFirst { return try await self.ask(question, asking, ask) }
            if let answer = try await asking.outcome.wait(for: ()).get(), isLater || isFinal(answer) { return answer }
            isLater = true
        }
    }

    private func ask(
        _ question: Question, _ asking: Asking, _ ask: () async throws -> Answer
    ) async throws -> Answer {
        let result: Result<Answer, any Error>
        do { result = .success(try await ask()) } catch { result = .failure(error) }
        askings.withLock { $0[question] = nil }
        asking.outcome.change { outcome in
            switch result {
            case .success(let answer): outcome = .success(answer)
            case .failure(is CancellationError): outcome = .success(nil)
            case .failure(let error): outcome = .failure(error)
            }
        }
        return try result.get()
    }
}
