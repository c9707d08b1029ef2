public import Kindred
import KindredPostgres
public import KindredSchema
import Synchronization

/// The committed changes of some entities, whichever client made them, from a cursor on; made by `context.changes(of:since:)`.
///
/// ```swift
/// for try await element in try await context.changes(of: Person.self) {
///     switch element {
///     case .changes(let changes): index(changes)
///     case .everything(_, let entities, _): indexAll(entities)
///     }
/// }
/// ```
///
/// Whole transactions, in an order in which no change of a row comes before an earlier change. Changes that the
/// consumer has not asked for yet are merged. A lost connection and a restart of the server lose nothing.
public struct ChangeSequence: AsyncSequence, Sendable {
    /// The rows that have changed, or the entities whose rows may all have changed.
    public enum Element: Sendable, Hashable {
        /// The rows that have changed.
        case changes(ChangeBatch)
        /// Any rows of these entities may have changed: read them anew, and then go on.
        case everything(Tracking.Gap, entities: [QualifiedName], cursor: ChangeCursor)
    }

    private let subscription: Subscription
    /// The place before the first element.
    public let cursor: ChangeCursor

    init(_ subscription: Subscription, from cursor: ChangeCursor) {
        self.subscription = subscription
        self.cursor = cursor
    }

    /// Continues with the pending changes.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(subscription: subscription) }

    /// Iterates over the changes.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let subscription: Subscription

        /// The next element; nil when the task is cancelled.
        ///
        /// Throws `KindredError` `.trackingNotInstalled` after change tracking was uninstalled, `PostgresError` `.closed`
        /// after the database was closed.
        public mutating func next() async throws -> Element? { try await subscription.next() }
    }

    /// A feed that the reader holds until the deinit.
    final class Subscription: Sendable {
        let feed: ChangeFeed
        private let reader: ChangeReader
        private let pending = RankedMutex<[Element]>([], .leaf)

        init(_ reader: ChangeReader, _ feed: ChangeFeed) {
            self.reader = reader
            self.feed = feed
        }

        deinit { reader.remove(feed) }

        func next() async throws -> Element? {
            if let element = pending.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return element }
            do {
                let (others, last) = try await feed.next().elements(reader.database.runtime)
                guard let others else { return last }
                pending.withLock { $0.append(last) }
                return .changes(others)
            } catch is CancellationError {
                return nil
            }
        }
    }
}

extension ChangeFeed.Delivery {
    /// Its elements; the last has the cursor.
    func elements(_ runtime: SchemaRuntime) -> (others: ChangeBatch?, last: ChangeSequence.Element) {
        var named = ChangeBatch()
        var gaps: [QualifiedName: Tracking.Gap] = [:]
        for (name, changes) in changes {
            if let gap = changes.gap {
                gaps[name] = gap
            } else if let entity = runtime[name] {
                named.add(changes, of: entity)
            } else {
                gaps[name] = .schemaChanged
            }
        }
        // The gravest reason, if there are several.
        let reasons: [Tracking.Gap] = [.foreignCursor, .expired, .overflow, .schemaChanged, .unrecorded, .bulk]
        guard let reason = reasons.first(where: gaps.values.contains) ?? gaps.values.first else {
            named.cursor = cursor
            return (nil, .changes(named))
        }
        return (
            named.isEmpty ? nil : named, .everything(reason, entities: gaps.keys.sorted(), cursor: cursor)
        )
    }
}
