import KindredPostgres
import Synchronization

/// Questions that take too long for a common step: each is asked alone, by a task and on a connection of its own, so that nothing
/// else waits for it.
///
/// A wish for a question that is being asked has it asked once more. So its last answer is of a snapshot after every wish, and
/// its answers are in order.
final class SlowQuestions<Question: Hashable & Sendable>: Sendable {
    private struct Asking {
        var isWished = true
        /// How often it was asked to its end.
        var rounds = 0
        /// Nil while it is not being asked.
        var task: Task<Void, Never>?
    }

    private struct State {
        var askings: [Question: Asking] = [:]
    }

    /// A question, and the number of its rounds after which an answer is of a snapshot after the wish.
    private struct Wish {
        let question: Question
        let rounds: Int
    }

    private let state = WaitQueue<State, Wish, Void>(State(), order: .any) { state, wish in
        guard let asking = state.askings[wish.question], asking.task != nil else { return () }
        return asking.rounds >= wish.rounds ? () : nil
    }
    private let places: AsyncGate

    /// - Parameter places: the limit of questions that are asked at once.
    init(places: AsyncGate) { self.places = places }

    /// Asks a question, once more if it is being asked.
    ///
    /// - Parameters:
    ///   - body: asks it, in a task of its own, and gives the answer to its readers.
    ///   - fail: called with the error if it cannot be answered, after which it is no longer asked.
    func ask(
        _ question: Question, _ body: @escaping @Sendable () async throws -> Void,
        orFail fail: @escaping @Sendable (any Error) -> Void
    ) {
        state.change { state in
            state.askings[question, default: Asking()].isWished = true
            guard state.askings[question]?.task == nil else { return }
            // Detached: it has no part in the step's transaction.
            state.askings[question]?.task = Task.detached { [weak self] in
                if let error = await self?.run(question, body) { fail(error) }
            }
        }
    }

    /// Returns the error for which a question cannot be answered; nil once nothing has asked for it during its last round.
    private func run(_ question: Question, _ body: @Sendable () async throws -> Void) async -> (any Error)? {
        var retries = StepRetries<Question>()
        while begins(question) {
            do {
                try await places.withLock {
                    // Ended while it waited.
                    if !Task.isCancelled { try await body() }
                }
                retries.end(question)
                state.change { $0.askings[question]?.rounds += 1 }
            } catch {
                if Task.isCancelled { return nil }
                guard retries.mayRepeat(question, after: error) || error.isPassing && !error.isOfStatement else {
                    end(question)
                    return error
                }
                state.change { $0.askings[question]?.isWished = true }
                try? await Task.sleep(for: retries.pause(of: question))
            }
        }
        return nil
    }

    /// Begins a round; false if the question is not asked any more, or not now.
    private func begins(_ question: Question) -> Bool {
        state.change { state in
            guard !Task.isCancelled, let asking = state.askings[question] else { return false }
            if !asking.isWished { state.askings[question]?.task = nil }
            state.askings[question]?.isWished = false
            return asking.isWished
        }
    }

    /// Forgets a question; a statement of it that runs is cancelled.
    func end(_ question: Question) {
        let asking = state.change { $0.askings.removeValue(forKey: question) }
        asking?.task?.cancel()
    }

    /// Returns when each question that was wished for before the call has its answer.
    func catchUp() async throws {
        let wishes = state.change { state in
            state.askings.compactMap { question, asking in
                asking.task.map { _ in Wish(question: question, rounds: asking.rounds + 2) }
            }
        }
        for wish in wishes { try await state.wait(for: wish) }
    }
}
