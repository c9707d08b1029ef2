import Synchronization

/// What one caller sent in one go, under one Sync: its statements share their fate unless a transaction is open.
///
/// The continuation is resumed exactly once, by whoever takes it first: the answer, the loss of the connection, or a
/// cancellation that cannot wait for the answer.
final class Request: Sendable {
    /// What a request consists of.
    enum Content: Sendable {
        /// Statements, each prepared if it is not yet.
        case statements([Statement])
        /// A statement that is only described, to learn its columns.
        case describe(StatementText, types: [PostgresDataType])
        /// A script of several statements in the simple protocol, alone on its connection.
        case script(String)
    }

    typealias Continuation = CheckedContinuation<[QueryResult], any Error>

    let content: Content
    /// When the statements are cancelled; `.max` for never.
    let deadline: UInt64
    private let continuation = Mutex<Continuation?>(nil)

    init(_ content: Content, deadline: UInt64) {
        self.content = content
        self.deadline = deadline
    }

    func await(_ continuation: Continuation) {
        self.continuation.withLock { $0 = continuation }
    }

    func resume(with result: Result<[QueryResult], any Error>) {
        let waiting = continuation.withLock { continuation in
            defer { continuation = nil }
            return continuation
        }
        waiting?.resume(with: result)
    }

    /// The text to name in errors: the statement at a position.
    func text(at position: Int) -> String? {
        switch content {
        case .statements(let statements): statements.indices.contains(position) ? statements[position].text.text : nil
        case .describe(let text, _): text.text
        case .script: nil
        }
    }
}
