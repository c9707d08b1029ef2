import Synchronization

/// The number of statements that a task and its children may still send.
final class StatementLimit: Sendable {
    private let limit: Int
    private let sent = Atomic(0)

    init(_ limit: Int) {
        self.limit = limit
    }

    /// Counts statements before they are sent; throws past the limit.
    func admit(_ statements: [Statement]) throws {
        let count = sent.add(statements.count, ordering: .relaxed).newValue
        guard count > limit else { return }
        sent.subtract(statements.count, ordering: .relaxed)
        throw PostgresError(
            .statementLimitExceeded,
            "The limit of \(limit) statements is exceeded; load what a loop needs before it, or raise the limit",
            statement: statements.last?.text.text
        )
    }
}

/// Runs `body` with a limit on the statements that the task and its children send; the first one beyond it is not sent
/// and throws `PostgresError` `.statementLimitExceeded`.
///
/// BEGIN, COMMIT and their like do not count. For tests and for a server's requests: a loop that loads row by row fails
/// where it is written.
public func withStatementLimit<T>(_ limit: Int, _ body: () async throws -> T) async rethrows -> T {
    let recorder = StatementRecorder(within: StatementRecorder.current, limit: StatementLimit(limit))
    return try await StatementRecorder.$ofTask.withValue(recorder, operation: body)
}
