public import Kindred
import KindredPostgres
public import KindredSchema
import Synchronization

extension Tracking {
    /// The entities that change when tables and views are made, changed or dropped; each element is told together.
    ///
    /// ```swift
    /// for try await entities in database.schemaChanges {
    ///     // Contexts made from now on have the new model.
    /// }
    /// ```
    ///
    /// The model is read again before an element comes. Needs change tracking to be installed. Where the role that installed it
    /// could make no event triggers, the catalog is compared every ten seconds.
    public struct SchemaChanges: AsyncSequence, Sendable {
        /// The names of entities that are new, changed, or gone.
        public typealias Element = Set<QualifiedName>

        let database: Database

        /// Begins with the first call of `next()`.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(subscription: Subscription(database)) }

        /// Iterates over the changes.
        public struct AsyncIterator: AsyncIteratorProtocol {
            let subscription: Subscription

            /// The next change; nil when the task is cancelled.
            ///
            /// Throws `KindredError` `.trackingNotInstalled`, `.trackingVersion`, `.trackingOnStandby`, `.accessDenied`;
            /// `PostgresError`, as after the database was closed.
            public mutating func next() async throws -> Set<QualifiedName>? {
                try await subscription.next()
            }
        }

        /// Its deinit ends the subscription.
        final class Subscription: Sendable {
            private let reader: ChangeReader
            private let feed = SchemaChangeFeed()
            private let isAdded = RankedMutex(false, .leaf)

            init(_ database: Database) { reader = database.changeReader }

            deinit { reader.remove(feed) }

            func next() async throws -> Set<QualifiedName>? {
                let isFirst = isAdded.withLock { isAdded in
                    defer { isAdded = true }
                    return !isAdded
                }
                if isFirst {
                    do {
                        try await reader.add(feed)
                    } catch {
                        // The next call begins anew.
                        isAdded.withLock { $0 = false }
                        if error is CancellationError { return nil }
                        throw error
                    }
                }
                return try await feed.next()
            }
        }
    }
}

extension Database {
    /// Changes of the schema by any client, told after the model was read again.
    public var schemaChanges: Tracking.SchemaChanges { Tracking.SchemaChanges(database: self) }
}

/// Collects the entities that have changed until they are taken.
final class SchemaChangeFeed: ChangeSubscriber {
    private struct State {
        var names: Set<QualifiedName> = []
        var failure: (any Error)?
    }

    private let queue = WaitQueue<State, Void, Result<Set<QualifiedName>, any Error>>(State()) { state, _ in
        if !state.names.isEmpty {
            defer { state.names = [] }
            return .success(state.names)
        }
        return state.failure.map { .failure($0) }
    }

    var wantsStep: Bool { false }

    var hearsOfUnrelatedTables: Bool { true }

    func evaluate(_ batch: CommittedBatch?, at cursor: ChangeCursor) {}

    func commit(at cursor: ChangeCursor) {}

    func fail(_ error: any Error) { queue.change { $0.failure = error } }

    func schemaChanged(_ names: Set<QualifiedName>) { queue.change { $0.names.formUnion(names) } }

    func next() async throws -> Set<QualifiedName>? {
        do {
            return try await queue.wait(for: ()).get()
        } catch is CancellationError {
            return nil
        }
    }
}
