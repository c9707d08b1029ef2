extension PostgresClient {
    /// The question behind statements; nil where the position does not matter.
    func question(behind mayWrite: @autoclosure () -> Bool) -> PositionQuestion? {
        guard let positions, positions.delay == nil && positions.coversReads || mayWrite() else { return nil }
        return PositionQuestion(settings: settings, isSent: positions.delay == nil)
    }

    /// Runs what a question is asked behind, and takes its answer.
    func recording<T>(_ question: PositionQuestion?, _ body: () async throws -> T) async throws -> T {
        guard let question, let positions else { return try await body() }
        do {
            let result = try await body()
            positions.learn(await question.answer())
            return result
        } catch {
            // Nothing was written that has to be seen, unless that is not certain.
            if (error as? any CategorizedError)?.mayHaveTakenEffect == true { positions.learn(nil) }
            throw error
        }
    }

    /// Whether the task has a transaction or a connection of its own on this client, to which all of its statements go.
    package var isInScope: Bool { currentTransaction != nil || currentLease != nil }
}
