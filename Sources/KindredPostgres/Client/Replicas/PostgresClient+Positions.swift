extension PostgresClient {
    /// The question behind statements; nil where the position does not matter.
    ///
    /// - Parameter scope: the positions of the transaction or the lent connection, the client's own among them; nil outside.
    func question(
        behind mayWrite: @autoclosure () -> Bool, in scope: SharedPositions? = nil
    ) -> PositionQuestion? {
        let records = scope?.all ?? positions.map { [$0] } ?? []
        guard !records.isEmpty else { return nil }
        return PositionQuestion(raising: records, byWriting: mayWrite(), settings: settings)
    }

    /// Lets statements in a transaction, or on a lent connection, raise the client's position.
    func join(_ scope: SharedPositions) {
        if let positions { scope.add(positions) }
    }

    /// Runs `body`, then records the position that the trailing question returned.
    ///
    /// - Parameter afterReads: whether the program has read before, so that a failure has a position too.
    func recording<T>(
        _ question: PositionQuestion?, afterReads: Bool = false, _ body: () async throws -> T
    ) async throws -> T {
        guard let question else { return try await body() }
        do {
            let result = try await body()
            await question.raise()
            return result
        } catch {
            // Nothing was written that has to be seen, unless that is not certain.
            if (error as? any CategorizedError)?.mayHaveTakenEffect == true {
                question.forget()
            } else if afterReads {
                await question.raise(byWriting: false)
            }
            throw error
        }
    }

    /// Whether the task has a transaction or a connection of its own on this client, which gets all of its statements.
    package var isInScope: Bool { currentTransaction != nil || currentLease != nil }
}
