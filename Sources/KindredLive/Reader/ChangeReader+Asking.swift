import Kindred
import KindredPostgres
import Synchronization

/// Thrown where the step's snapshot does not show the rows of a table: a step with another snapshot does.
struct SnapshotIsOutdated: Error {}

// The questions of subscribers. In a step all share a transaction, so a question has little time there: a question that needs more
// goes on alone.
extension ChangeReader {
    /// Sends a question in the task's step, behind a savepoint, so that its failure takes no other question with it.
    ///
    /// - Parameter waiting: whether it waits for a lock, as long as questions of a step may.
    /// - Returns: The answer, or the failure of this question alone.
    /// - Throws: An error that ends the step, such as that of a lost connection.
    func ask<Answer: Sendable>(
        waiting: Bool = true, _ body: () async throws -> Answer
    ) async throws -> Result<Answer, any Error> {
        do {
            if !waiting {
                return .success(
                    try await database.client.withOwnSettings { scope in
                        _ = try await database.client.execute(
                            own:
                                TrackingStatements.limits(lock: .milliseconds(1), question: nil))
                        return try await counting(scope, body)
                    })
            }
            return .success(try await database.client.withTransaction { try await counting($0, body) })
        } catch  where error is CancellationError || error.isPassing && !error.isOfStatement {
            throw error
        } catch {
            if error.isPassing { try await hurry() }
            return .failure(error)
        }
    }

    /// Throws `SnapshotIsOutdated` where a table was emptied or written anew since the snapshot of the task's transaction, to which
    /// it has no rows then.
    ///
    /// To be asked about an answer that has none of the rows which were there before.
    func requireRows(of tables: some Sequence<EntityRuntime>, with settings: SessionSettings) async throws {
        let tenant = TenantNames(settings, in: database)
        let names = tables.map { tenant?.name(inDatabase: $0.name) ?? $0.name }
        // A statement of the reader, and none of the question in whose scope it is sent.
        database.live.trackingMetrics.withLock { metrics in
            metrics.readerStatements += 1
            metrics.statements -= 1
        }
        let answer = try await database.client.execute(
            own: TrackingStatements.areEmptied(names))
        if try answer.first?.decode(0, as: Bool.self) == true { throw SnapshotIsOutdated() }
    }

    /// Leaves the questions that follow in the step a tenth of the time: many may wait for the same, such as a lock.
    private func hurry() async throws {
        let limits = database.live.questionLimits
        _ = try await database.client.execute(
            own:
                TrackingStatements.limits(lock: limits.lock / 10, question: limits.timeout / 10))
        database.live.trackingMetrics.withLock { $0.readerStatements += 1 }
    }

    /// Limits the waiting of the questions that follow in the task's step.
    ///
    /// A reader never waits for a lock as long as the server's `deadlock_timeout`, so that none costs a migration its transaction.
    func limitQuestions() async throws {
        let options = database.live.questionLimits
        _ = try await database.client.execute(
            own: TrackingStatements.limits(lock: options.lock, question: options.timeout))
        database.live.trackingMetrics.withLock { $0.readerStatements += 1 }
    }

    /// An answer to a question that was sent alone.
    struct LoneAnswer<Answer: Sendable>: Sendable {
        let answer: Answer
        /// The place of its snapshot.
        let cursor: ChangeCursor
        let time: Duration
        /// Whether it came in the time that a question of a step has.
        let isQuick: Bool
    }

    /// Sends a question that is too slow for a step in a transaction of its own, which has as much time as the program's statements.
    ///
    /// - Parameter name: the question's name in the metrics.
    /// - Returns: The answer; no crash of the server can take back its rows.
    func askAlone<Answer: Sendable>(
        _ name: String, with settings: SessionSettings, _ body: () async throws -> Answer
    ) async throws -> LoneAnswer<Answer> {
        let found = try await askAlone(with: settings, body)
        let isNew = database.live.trackingMetrics.withLock { metrics in
            // Names are few, as programs have few places; the limit bounds memory.
            let isKnown = metrics.slowQuestions[name] != nil
            if isKnown || metrics.slowQuestions.count < 100 {
                metrics.slowQuestions[name] = found.isQuick ? nil : found.time
            }
            return !isKnown && !found.isQuick
        }
        if isNew {
            database.mistakes.note(
                "a question was too slow for a common step, and is asked alone",
                ["question": name, "time": "\(found.time)"])
        }
        return found
    }

    private func askAlone<Answer: Sendable>(
        with settings: SessionSettings, _ body: () async throws -> Answer
    ) async throws -> LoneAnswer<Answer> {
        // On one connection: a session that is there after the flush proves that no crash came before it.
        try await database.client.withConnection { _ in
            let answer = try await database.client.withTransaction(isolation: .repeatableRead, readOnly: true) {
                scope in
                let cursor = try await source.place()
                let limits = database.live.questionLimits
                _ = try await database.client.execute(own: TrackingStatements.limits(lock: limits.lock, question: nil))
                let start = MonotonicTime.now
                let answer =
                    if settings.isEmpty {
                        try await counting(scope, body)
                    } else {
                        try await database.client.withOwnSettings { try await counting($0, body) }
                    }
                let duration = MonotonicTime.now.since(start)
                return LoneAnswer(answer: answer, cursor: cursor, time: duration, isQuick: duration < limits.timeout)
            }
            try await source.flush()
            return answer
        }
    }

    /// Counts the statements of a question.
    ///
    /// Sent is sent, also where it fails.
    private func counting<Answer: Sendable>(
        _ scope: PostgresTransaction, _ body: () async throws -> Answer
    ) async throws -> Answer {
        let before = scope.statementCount
        defer { database.live.trackingMetrics.withLock { $0.statements += scope.statementCount - before } }
        return try await body()
    }

    /// Questions that are too slow for a step.
    func slowQuestions<Question>() -> SlowQuestions<Question> { SlowQuestions(places: slowPlaces) }
}
