import Synchronization

extension PostgresTransactionID {
    /// Reads the current transaction's number; only a transaction that has written has one.
    static let question = Statement(
        text: StatementText(
            """
            SELECT pg_catalog.pg_current_xact_id_if_assigned()::pg_catalog.text, CASE WHEN pg_catalog.pg_is_in_recovery() THEN NULL \
            ELSE pg_catalog.substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_insert_lsn()), 1, 8) END
            """),
        resultFormat: .text)

    /// Reads the answer to `question`; nil if the transaction has no number.
    init?(answer: QueryResult?) {
        guard let row = answer?.first, let number = try? row.decode(0, as: String.self).flatMap({ UInt64($0) }),
            let timeline = try? row.decode(1, as: String.self)
        else { return nil }
        self.init(number: number, timeline: timeline)
    }
}

/// The number of a transaction about to be committed, once it is known.
final class TrackedID: Sendable {
    private let value = RankedMutex<PostgresTransactionID?>(nil, .leaf)

    var id: PostgresTransactionID? { value.withLock { $0 } }

    /// The question to send behind statements, in their round trip; nil if the number is known, or they give none.
    func question(after statements: [Statement], _ traits: Request.Traits) -> [Statement] {
        guard !traits.isDescription, id == nil, statements.contains(where: { $0.text.mayNumberTransaction }) else {
            return []
        }
        return [PostgresTransactionID.question]
    }

    func learn(from answer: QueryResult?) {
        guard let id = PostgresTransactionID(answer: answer) else { return }
        value.withLock { $0 = id }
    }
}

extension [Statement] {
    /// Whether they may write, and can run in a transaction, whose number tells later whether it was committed.
    var isTrackable: Bool {
        contains { $0.text.mayNumberTransaction } && allSatisfy { $0.text.effect == .plain }
    }
}
