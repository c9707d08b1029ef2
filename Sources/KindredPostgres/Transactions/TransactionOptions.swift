/// The isolation of a transaction from concurrent transactions.
public enum IsolationLevel: String, Sendable, Hashable, CaseIterable {
    /// Each statement sees the rows committed before it began.
    case readCommitted = "READ COMMITTED"
    /// All statements see the rows committed before the first.
    case repeatableRead = "REPEATABLE READ"
    /// Transactions behave as if they ran one after another; some fail and have to be retried.
    case serializable = "SERIALIZABLE"
}

/// The options of a transaction; savepoints ignore them.
package struct TransactionOptions: Sendable {
    /// nil is the server's default, as for the next two.
    let isolation: IsolationLevel?
    let readOnly: Bool?
    let deferrable: Bool?
    let tracksCommit: Bool
    let retry: RetryPolicy

    package init(
        isolation: IsolationLevel? = nil, readOnly: Bool? = nil, deferrable: Bool? = nil, tracksCommit: Bool = false,
        retry: RetryPolicy = .none
    ) {
        self.isolation = isolation
        self.readOnly = readOnly
        self.deferrable = deferrable
        self.tracksCommit = tracksCommit
        self.retry = retry
    }

    /// Whether all of its statements see the rows committed before the first.
    package var readsOneSnapshot: Bool { isolation == .repeatableRead || isolation == .serializable }

    /// The statement that begins it.
    var begin: String {
        var text = "BEGIN"
        if let isolation { text += " ISOLATION LEVEL \(isolation.rawValue)" }
        if let readOnly { text += readOnly ? " READ ONLY" : " READ WRITE" }
        if let deferrable { text += deferrable ? " DEFERRABLE" : " NOT DEFERRABLE" }
        return text
    }
}
