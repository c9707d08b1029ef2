import KindredPostgres
import Synchronization

// What is staged is held as long as the program holds the context. After that it lasts as long as the objects do that the
// program holds; a context that is made for one of them later takes up what there is.
extension ContextCore {
    /// The context that the program holds, and what was staged while it held none.
    struct Life: Sendable {
        /// How many contexts there are: one that is going away may still be counted beside its successor.
        fileprivate var count = 0
        fileprivate weak var context: DatabaseContext?
        fileprivate var loose = LooseChanges()
    }

    /// The context that the program holds, or a new one if it holds none.
    var context: DatabaseContext {
        life.withLock { life in
            if let context = life.context { return context }
            let context = DatabaseContext(self)
            life.context = context
            life.count += 1
            if life.count == 1 {
                takeUp(life.loose)
                life.loose = LooseChanges()
            }
            return context
        }
    }

    /// A context to stage values of an object with, that are in no foreign key.
    ///
    /// Where the program holds no context, this one lasts for one value and takes nothing up. With a whole context each of
    /// many values would cost as much as all of them.
    var contextForValue: DatabaseContext {
        life.withLock { $0.context ?? DatabaseContext(self, takesUp: false) }
    }

    /// Says that a context goes away: with the last one, what is staged is held no longer.
    func letGo(takesUp: Bool) {
        // Released behind the lock: whatever goes out of memory then may do as it likes.
        var released: StagedChanges? = life.withLock { life in
            if takesUp { life.count -= 1 }
            guard life.count == 0, staged.withLock({ !$0.isEmpty }) else { return nil }
            let released = staged.withLock { staged in
                defer { staged = StagedChanges() }
                return staged
            }
            loosen(released, into: &life.loose)
            return released
        }
        guard released != nil else { return }
        released = nil
        guard takesUp else { return }
        let isPairLost = life.withLock { $0.loose.pairs.contains { !$0.isWhole } }
        if isPairLost { tellLoss(of: "a pair of a many-to-many relationship") }
    }

    /// Says in the log, once, that changes went with their context.
    func tellLoss(of what: String) {
        guard !hasToldLoss.exchange(true, ordering: .relaxed) else { return }
        database.mistakes.warn(
            """
            A context went away with unsaved changes (\(what)), which are given up: keep the context until they are saved, \
            or roll them back
            """)
    }

    /// Makes what is staged hold no object any more.
    private func loosen(_ changes: StagedChanges, into loose: inout LooseChanges) {
        for object in changes.objects {
            let (links, number) = object.withState { state -> ([Int: DatabaseObject], Int64?) in
                guard var staging = state.stagingBox?.staging else { return ([:], nil) }
                let links = staging.destinations
                if !links.isEmpty {
                    staging.destinations = [:]
                    // Not by `staging`, which drops one that has nothing else: the row shown has the link's columns still.
                    state.stagingBox = StagingBox(staging)
                }
                return (links, staging.temporaryKey)
            }
            if let number { withMap { $0.remove(object, object.runtime.index, .temporary(number)) } }
            loose.objects.append(
                LooseChanges.Object(object: object, links: links.mapValues { LooseChanges.End(object: $0) }))
        }
        for (pair, payload) in changes.pairs {
            loose.pairs.append(
                LooseChanges.Pair(
                    source: pair.source, relationship: pair.relationship, destination: pair.destination,
                    payload: payload))
        }
    }

    /// Holds again what is staged on objects that are still there.
    private func takeUp(_ loose: LooseChanges) {
        for entry in loose.objects {
            guard let object = entry.object else { continue }
            let number = object.withState { state -> Int64? in
                guard var staging = state.stagingBox?.staging else { return nil }
                var lost: [Int] = []
                for (slot, end) in entry.links {
                    if let destination = end.object {
                        staging.destinations[slot] = destination
                    } else {
                        lost += object.runtime.relationships[slot].ownColumns
                    }
                }
                state.stagingBox = StagingBox(staging)
                if !lost.isEmpty { state.unstage(lost, in: object.runtime) }
                return staging.temporaryKey
            }
            if let number { withMap { $0.insert(object, object.runtime.index, .temporary(number)) } }
            if object.hasChanges { staged.withLock { $0.insert(object) } }
        }
        for pair in loose.pairs {
            guard let source = pair.source, let destination = pair.destination else { continue }
            staged.withLock { $0.insert(StagedPair(source, pair.relationship, destination), payload: pair.payload) }
        }
    }
}

/// What is staged, by references that hold no object.
struct LooseChanges: Sendable {
    struct End: Sendable {
        weak var object: DatabaseObject?
    }

    struct Object: Sendable {
        weak var object: DatabaseObject?
        /// The new objects that it refers to, by slot.
        let links: [Int: End]
    }

    struct Pair: Sendable {
        weak var source: DatabaseObject?
        let relationship: RelationshipRuntime
        weak var destination: DatabaseObject?
        let payload: ColumnValues?

        var isWhole: Bool { source != nil && destination != nil }
    }

    var objects: [Object] = []
    var pairs: [Pair] = []
}
