import KindredPostgres

/// The writer of a change of rows, and its time as far as the context knows it.
package enum ChangeOrigin: Sendable {
    /// A statement of the context has made it now, in the task's transaction: it wins over every row in memory.
    case written
    /// A query sent at a time has shown it: it wins unless the row was read or changed later.
    case read(ContextTime)
    /// Another client has committed it, and a query sent at a time has shown it: as `read`, and answers to queries sent
    /// before now lose to it.
    case committed(ContextTime)
    /// The rollback of the transaction that had stored the row.
    case undone

    /// The time of the query that has shown the change; nil for a change of now.
    var askedAt: ContextTime? {
        switch self {
        case .written, .undone: nil
        case .read(let time), .committed(let time): time
        }
    }

    /// Whether another client has committed the change.
    var isByOthers: Bool {
        if case .committed = self { true } else { false }
    }
}
