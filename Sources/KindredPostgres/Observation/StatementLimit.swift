import Synchronization

/// How many statements a task and its children may still send.
final class StatementLimit: Sendable {
    private let limit: Int
    private let sent = Atomic(0)

    init(_ limit: Int) {
        self.limit = limit
    }

    /// Counts statements that are about to be sent, and refuses them if they are too many.
    func admit(_ statements: [Statement]) throws {
        let count = sent.add(statements.count, ordering: .relaxed).newValue
        guard count > limit else { return }
        sent.subtract(statements.count, ordering: .relaxed)
        throw PostgresError(
            .statementLimitExceeded,
            "More than \(limit) statements were to be sent; load what a loop needs before it, or raise the limit",
            statement: statements.last?.text.text
        )
    }
}

/// Runs `body`, in which at most `limit` statements may be sent by the task and its children; the one beyond it is not sent
/// and throws `PostgresError` `.statementLimitExceeded`.
///
/// BEGIN, COMMIT and their like do not count. For tests and for requests of a server: a loop that loads row by row fails
/// where it is written.
public func withStatementLimit<T>(_ limit: Int, _ body: () async throws -> T) async rethrows -> T {
    let recorder = StatementRecorder(within: StatementRecorder.current, limit: StatementLimit(limit))
    return try await StatementRecorder.$ofTask.withValue(recorder, operation: body)
}
