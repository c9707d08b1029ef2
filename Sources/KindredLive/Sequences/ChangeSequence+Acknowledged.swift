public import Kindred
import KindredPostgres
public import KindredSchema
import Synchronization

extension ChangeSequence {
    /// The changes of some entities for a consumer whose cursor is kept in the database; made by
    /// `context.changes(of:consumer:)`.
    ///
    /// ```swift
    /// for try await batch in try await context.changes(of: Person.self, consumer: "search-index") {
    ///     try await database.client.withTransaction { _ in
    ///         try await index(batch.changes)
    ///         try await batch.acknowledge()
    ///     }
    /// }
    /// ```
    ///
    /// Changes that were not acknowledged come again when the consumer begins the next time, in any process. Records wait
    /// for it as long as its hold says, after its last sign of life.
    public struct Acknowledged: AsyncSequence, Sendable {
        private let subscription: ChangeSequence.Subscription
        private let progress: ConsumerProgress
        /// The place before the first batch.
        public let cursor: ChangeCursor

        init(_ subscription: ChangeSequence.Subscription, _ progress: ConsumerProgress, from cursor: ChangeCursor) {
            self.subscription = subscription
            self.progress = progress
            self.cursor = cursor
        }

        /// Continues with the pending changes.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(subscription: subscription, progress: progress)
        }

        /// Changes that are acknowledged together.
        public struct Element: Sendable {
            /// The rows that have changed.
            public let changes: ChangeBatch
            /// Entities whose rows may all have changed: read them anew; empty for almost every batch.
            public let everything: [QualifiedName]
            /// Why their rows are not named; nil if there are none.
            public let reason: Tracking.Gap?
            /// The place behind the batch.
            public let cursor: ChangeCursor

            fileprivate let progress: ConsumerProgress

            /// Moves the consumer's cursor behind the batch, in the task's transaction if there is one.
            ///
            /// So that a batch takes effect exactly once, write its effects in the same transaction. Batches before it are
            /// acknowledged, too. One statement, and one more for each acknowledgement that was rolled back before. Throws
            /// `KindredError` `.consumerMoved` if another process of the same consumer has acknowledged changes meanwhile, or if
            /// the consumer was dropped: roll back, and begin anew.
            public func acknowledge() async throws { try await progress.acknowledge(cursor) }
        }

        /// Iterates over the batches.
        public struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate let subscription: ChangeSequence.Subscription
            fileprivate let progress: ConsumerProgress

            /// The next batch; nil when the task is cancelled.
            ///
            /// Throws as `ChangeSequence` does.
            public mutating func next() async throws -> Element? {
                while true {
                    do {
                        return element(of: try await subscription.feed.next(within: progress.patience))
                    } catch is CancellationError {
                        return nil
                    } catch is WaitTimeout {
                        await progress.moveOn(subscription.feed)
                    }
                }
            }

            private func element(of delivery: ChangeFeed.Delivery) -> Element {
                progress.deliver(delivery.cursor)
                let (others, last) = delivery.elements(progress.database.runtime)
                switch last {
                case .changes(let changes):
                    return Element(
                        changes: changes, everything: [], reason: nil, cursor: delivery.cursor, progress: progress)
                case .everything(let reason, let entities, let cursor):
                    return Element(
                        changes: others ?? ChangeBatch(), everything: entities, reason: reason, cursor: cursor,
                        progress: progress)
                }
            }
        }
    }
}

/// How far a consumer has come.
final class ConsumerProgress: Sendable {
    private struct State {
        /// The places where the cursor in the database may be, the newest first: transactions that moved it may have been
        /// rolled back.
        var places: [ChangeCursor]
        /// The place behind the last batch.
        var delivered: ChangeCursor
    }

    let database: Database
    /// How long it waits for changes before it says that it is there.
    let patience: Duration
    private let name: String
    private let state: RankedMutex<State>
    private static let maximumPlaces = 16

    init(_ name: String, _ database: Database, at cursor: ChangeCursor, hold: Duration) {
        self.name = name
        self.database = database
        patience = min(.seconds(60), hold / 4)
        state = RankedMutex(State(places: [cursor], delivered: cursor), .leaf)
    }

    func deliver(_ cursor: ChangeCursor) { state.withLock { $0.delivered = cursor } }

    func acknowledge(_ cursor: ChangeCursor) async throws {
        for place in state.withLock({ $0.places }) {
            if try await move(from: place, to: cursor) { return }
        }
        throw KindredError(
            .consumerMoved,
            "Another process of the consumer \"\(name)\" has acknowledged changes meanwhile: roll back, and begin anew")
    }

    /// Says that the consumer is there, and moves its cursor on over changes of other tables, so that records need not wait.
    func moveOn(_ feed: ChangeFeed) async {
        // Taken before the feed is asked: changes that the feed has been given lie before this place.
        guard let cursor = database.changeReader.cursor, feed.isEmptied else { return }
        let delivered = state.withLock { $0.delivered }
        // Detached: it is not a part of the caller's transaction. False if the last batch is not acknowledged.
        let task = Task.detached { try await self.move(from: delivered, to: cursor) }
        if (try? await task.value) == true { deliver(cursor) }
    }

    private func move(from place: ChangeCursor, to cursor: ChangeCursor) async throws -> Bool {
        let moved: QueryResult
        do {
            moved = try await database.client.execute(
                own:
                    TrackingStatements.acknowledge(
                        consumer: name, last: place.snapshot, next: cursor.snapshot, epoch: cursor.epoch))
        } catch let error as PostgresError where error.sqlState?.rawValue == "KT004" {
            throw KindredError(tracking: error) ?? error
        }
        guard try moved.first?.decode(0, as: Bool.self) == true else { return false }
        state.withLock { state in
            state.places.removeAll { $0 == cursor }
            state.places.insert(cursor, at: 0)
            if state.places.count > Self.maximumPlaces { state.places.removeLast() }
        }
        return true
    }
}
