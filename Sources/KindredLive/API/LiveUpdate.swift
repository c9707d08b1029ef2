public import Kindred
import KindredPostgres

/// The result of a live request in one committed state of the database, and its difference to the last result.
public struct LiveUpdate<Object: DatabaseObject>: Sendable {
    /// The whole result, in its order.
    ///
    /// The objects stay the same from update to update; they change while the next update is asked for.
    public let objects: [Object]
    /// The offsets of objects that have left their place, in the last list, ascending.
    public let removals: [Int]
    /// The offsets of objects that have come to their place, in this list, ascending.
    public let insertions: [Int]
    /// The removals and insertions that are of the same object; as few objects as possible move.
    public let moves: [LiveMove]
    /// The offsets in this list of objects that were in the last list, too, and whose attributes or prefetched
    /// relationships have changed; moved objects are among them.
    public let updates: [Int]
    /// Why the update was given.
    public let cause: LiveCause
    /// The objects that are removed, in the order of `removals`.
    private let removed: [ObjectID]
    private let query: LiveQuery
    private let snapshot: LiveSnapshot
    private let place: ChangeCursor

    init(
        _ objects: [Object], _ difference: LiveDifference, removed: [ObjectID], cause: LiveCause, query: LiveQuery,
        snapshot: LiveSnapshot, at place: ChangeCursor
    ) {
        self.objects = objects
        (removals, insertions) = (difference.removals, difference.insertions)
        (moves, updates) = (difference.moves, difference.updates)
        (self.removed, self.cause) = (removed, cause)
        (self.query, self.snapshot, self.place) = (query, snapshot, place)
    }

    /// The cursor for a client that is shown this update, and may come back: see
    /// ``Kindred/FetchRequest/live(since:atMostEvery:fileID:line:)``.
    ///
    /// Made at each access, from all rows of a list of at most 200.
    public var cursor: LiveCursor {
        LiveCursor(changes: place, request: query.hash, list: LiveListHashes(of: snapshot))
    }

    /// The difference of the two lists, as objects' IDs: empty for the first update.
    ///
    /// Of a list that a client alone has, the IDs of removed objects are not known: its difference is ``removals``, ``insertions``,
    /// ``moves`` and ``updates``.
    public var difference: CollectionDifference<ObjectID> {
        guard removed.count == removals.count else { return [].difference(from: []) }
        let targets = Dictionary(moves.map { ($0.from, $0.to) }, uniquingKeysWith: { first, _ in first })
        let origins = Dictionary(moves.map { ($0.to, $0.from) }, uniquingKeysWith: { first, _ in first })
        typealias Change = CollectionDifference<ObjectID>.Change
        var changes = zip(removals, removed).map { offset, id in
            Change.remove(offset: offset, element: id, associatedWith: targets[offset])
        }
        changes += insertions.compactMap { offset in
            objects[offset].objectID.map {
                Change.insert(offset: offset, element: $0, associatedWith: origins[offset])
            }
        }
        return CollectionDifference(changes) ?? [].difference(from: [])
    }

    /// The IDs of the objects that were in the last list and are not in this list.
    public var removedIDs: [ObjectID] {
        let moved = Set(moves.map(\.from))
        return zip(removals, removed).filter { !moved.contains($0.0) }.map(\.1)
    }
}
