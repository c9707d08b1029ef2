/// Asks where the log ends, behind a request and under a Sync of its own: there the request's commit has been written.
///
/// Sent together with the request, also with each repetition of it, so that it costs no round trip. Nothing depends on its
/// success: without an answer the position is unknown.
final class PositionQuestion: Sendable {
    private struct State {
        var sent = 0
        var answered = 0
        var position: DatabasePosition?
    }

    /// With `synchronous_commit` off a commit may not have been flushed yet.
    static let statement = Statement(
        text: StatementText(
            catalog: """
                SELECT l::pg_catalog.text, f.file_name, f.file_offset::pg_catalog.text, \
                pg_catalog.current_setting('wal_block_size'), s.system_identifier::pg_catalog.text \
                FROM (SELECT CASE WHEN pg_catalog.current_setting('synchronous_commit') = 'off' \
                THEN pg_catalog.pg_current_wal_insert_lsn() ELSE pg_catalog.pg_current_wal_flush_lsn() END AS l) AS p, \
                pg_catalog.pg_walfile_name_offset(l) AS f, pg_catalog.pg_control_system() AS s
                """),
        resultFormat: .text)

    private let settings: SessionSettings?
    private let isSent: Bool
    /// The positions that the answer raises, with the marks from before the question.
    private let raised: [(record: PositionRecord, mark: Int)]
    private let queue = WaitQueue<State, Void, DatabasePosition?>(State(), order: .any) { state, _ in
        state.answered == state.sent ? .some(state.position) : nil
    }

    /// A question behind statements; nil if it raises no position.
    ///
    /// - Parameters:
    ///   - records: the positions of the contexts that the statements concern.
    ///   - mayWrite: whether the statements may write.
    ///   - settings: the settings of the request, which may include `synchronous_commit`.
    init?(raising records: [PositionRecord], byWriting mayWrite: Bool, settings: SessionSettings?) {
        raised = records.filter { $0.isRaised(byWriting: mayWrite) }.map { ($0, $0.mark) }
        guard let first = raised.first else { return nil }
        self.settings = settings
        // Where servers tell no positions there is no answer.
        isSent = first.record.delay == nil
    }

    /// The request to send next; nil where none is sent.
    func next() -> Request? {
        guard isSent else { return nil }
        queue.change { $0.sent += 1 }
        return Request(
            statements: [Self.statement], traits: Request.Traits(isAutocommit: true, settings: settings),
            onAnswer: { self.learn(try? $0.get().last) })
    }

    private func learn(_ answer: QueryResult?) {
        queue.change { state in
            state.answered += 1
            // The answer behind the last repetition counts.
            state.position = answer.flatMap { DatabasePosition(answer: $0) }
        }
    }

    /// Waits until everything that was sent is answered, and takes the position, known or not.
    ///
    /// - Parameter hasWritten: false where it is certain that nothing was written.
    func raise(byWriting hasWritten: Bool = true) async {
        let position = await queue.waitShielded(for: ())
        for (record, mark) in raised where record.isRaised(byWriting: hasWritten) {
            record.learn(position, since: mark)
        }
    }

    /// Notes that the position is not known: reads go to the primary until it has told one.
    func forget() {
        for (record, _) in raised { record.learn(nil) }
    }
}

extension DatabasePosition {
    /// Reads the answer to a ``PositionQuestion``.
    fileprivate init?(answer: QueryResult) {
        guard let row = answer.first, let texts = try? (0..<5).map({ try row.decode($0, as: String.self) }),
            let lsn = texts[0].flatMap({ Self.location($0) }), let file = texts[1],
            let timeline = UInt32(file.prefix(8), radix: 16), let offset = texts[2].flatMap({ UInt64($0) }),
            let block = texts[3].flatMap({ UInt64($0) }), block > 0, let system = texts[4].flatMap({ UInt64($0) })
        else { return nil }
        self.init(
            system: system, timeline: timeline, location: lsn - min(lsn, Self.header(before: offset, block: block)))
    }

    /// The number of bytes of a page's header, if a place is just behind one: no record ends there, so that a replica of an idle
    /// primary would never reach it.
    ///
    /// - Parameters:
    ///   - offset: the place in its file, whose first page has a longer header.
    ///   - block: the size of a page.
    static func header(before offset: UInt64, block: UInt64) -> UInt64 {
        if offset == 40 { return 40 }
        return offset > block && offset % block == 24 ? 24 : 0
    }
}
