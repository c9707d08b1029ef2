public import Kindred
import KindredPostgres

/// A request that is answered again whenever its answer changes: made by ``Kindred/FetchRequest/live(since:atMostEvery:fileID:line:)``.
///
/// ```swift
/// let tracks = try context.fetch("track").where("album.title == %@", title).sorted("position")
/// for try await update in try await tracks.live() {
///     print(update.objects.count, update.removals, update.insertions, update.updates)
/// }
/// ```
///
/// The first update is the result; each further update has the new result with its difference to the last. Every update
/// is the result in one committed state of the database, never older than the update before; updates that `next()` has
/// not returned yet are merged. If nothing has changed, there is no update.
///
/// Each iteration has a context of its own, whose objects change only while `next()` runs: until the next update is
/// asked for, objects, values and prefetched relationships come from one snapshot. A part of a set that was prefetched
/// is answered from that snapshot too. Relationships that are not prefetched are read at their first access, and may be
/// newer. The objects are read-only: a write throws `KindredError` `.readOnly`; take the object with
/// `context.get(id)` from another context to change it.
///
/// A table, view, type or policy that is changed while the request runs is read as it is then: at once where change tracking
/// tells of it, otherwise within ten seconds. An update comes only if the result has changed; its objects have the new columns.
/// If the request cannot be asked any more, the sequence ends with an error: a table, its key or a column that the request names
/// is gone, a table has another name, the class does not fit, or a table whose changes are not recorded stands behind it now.
public struct LiveRequest<Object: DatabaseObject>: Sendable {
    let query: LiveQuery
    let loading: RelationshipLoading
    let interval: Duration?
    /// The place where a client comes back.
    let cursor: LiveCursor?
}

extension LiveRequest: AsyncSequence {
    /// The updates of one iteration.
    public struct AsyncIterator: AsyncIteratorProtocol {
        /// The request in the model of the shown answer.
        private var query: LiveQuery
        private let interval: Duration?
        private let loading: RelationshipLoading
        private let subscription: LiveSubscription
        private var context: DatabaseContext
        /// The answer that the context shows.
        private var shown: LiveSnapshot?
        private var givenAt = ContinuousClock.now
        /// Leads a client that comes back from its last list to the first update.
        private let resumption: LiveResumption?

        /// - Parameter takesDifference: whether the first update may be the difference to a list of the client's.
        init(_ request: LiveRequest, takesDifference: Bool = true) {
            resumption = request.cursor.map { LiveResumption(cursor: $0, takesDifference: takesDifference) }
            (query, interval, loading) = (request.query, request.interval, request.loading)
            context = Self.context(of: request.query, request.loading)
            subscription = LiveSubscription(request.query, isTyped: Object.self != DatabaseObject.self)
        }

        private static func context(of query: LiveQuery, _ loading: RelationshipLoading) -> DatabaseContext {
            let core = query.core
            return ContextCore(
                database: core.database, model: core.runtime, client: core.client, tenant: core.tenant,
                loading: loading, isReadOnly: true
            ).context
        }

        /// The next update, once the result has changed.
        ///
        /// Throws `CancellationError` in a cancelled task, `KindredError` and `PostgresError` where the request can no
        /// longer be answered, such as `.schemaChanged`. A connection that is lost after the first update is no error:
        /// the database is asked again.
        public mutating func next() async throws -> LiveUpdate<Object>? {
            while true {
                if let interval, shown != nil { try await Task.sleep(until: givenAt + interval, clock: .continuous) }
                let answer = try await subscription.consumer.next()
                guard let update = try await update(answer) else { continue }
                givenAt = .now
                return update
            }
        }

        /// Shows an answer; nil if it equals the last update.
        private mutating func update(_ answer: LiveAnswer) async throws -> LiveUpdate<Object>? {
            let entity = answer.query.entity
            var update = LiveResumption.Start(snapshot: answer.snapshot, cause: shown == nil ? .first : answer.cause)
            if let shown {
                if !query.isSorted { update.snapshot = update.snapshot.keepingOrder(of: shown) }
                update.difference = update.snapshot.difference(from: shown, of: query.entity, as: entity)
                guard !update.difference.isEmpty else { return nil }
                if answer.query.core.runtime !== query.core.runtime {
                    update.difference.updates = answer.query.updates(
                        update.difference.updates, to: update.snapshot, from: shown, of: query)
                }
            } else if let resumption {
                update = try await resumption.start(answer)
            }
            let (snapshot, difference) = (update.snapshot, update.difference)
            let removed = difference.removals.compactMap { place in
                shown.map { ObjectID(query.entity, $0.rows[place].key, in: query.core.tenantSchema?.name) }
            }
            if answer.query.core.runtime !== query.core.runtime {
                // Objects keep their model, so that others take their place.
                context = Self.context(of: answer.query, loading)
            }
            query = answer.query
            let (core, rows) = (context.core, snapshot.rows(of: entity))
            // The rollback of a transaction that the caller is in takes back nothing of it.
            let objects: [Object] = try entity.typed(try await TransactionJournal.with(nil) { try core.take(rows) })
            shown = snapshot
            return LiveUpdate(
                objects, difference, removed: removed, cause: update.cause, query: query, snapshot: snapshot,
                at: answer.cursor)
        }
    }

    /// Begins to follow the request, with a context of its own.
    ///
    /// The first update is not older than this call.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}

/// One iteration's subscription to a request; it ends with the iteration.
private final class LiveSubscription: Sendable {
    let consumer: LiveConsumer
    private let hub: LiveHub

    init(_ query: LiveQuery, isTyped: Bool) {
        consumer = LiveConsumer(query, isTyped: isTyped)
        hub = LiveHub.join(consumer)
    }

    deinit { hub.leave(consumer) }
}
