import KindredPostgres
import Synchronization

// Staged changes are held strongly while the program holds the context, and weakly after that. A context made later for
// one of the surviving objects takes them back.
extension ContextCore {
    /// The number of contexts, and the changes staged while there was none.
    struct Life: Sendable {
        /// A context in its `deinit` may still be counted beside its successor.
        fileprivate var count = 0
        fileprivate var unheld = WeakChanges()
    }

    /// The context that the program holds.
    struct Current: Sendable {
        fileprivate weak var context: DatabaseContext?
    }

    /// The context that the program holds, or a new one if it holds none.
    ///
    /// Must not be called under another lock if the program may hold no context: a new context is made under the lock
    /// of the lowest rank.
    var context: DatabaseContext {
        if let context = current.withLock({ $0.context }) { return context }
        return life.withLock { life in
            if let context = current.withLock({ $0.context }) { return context }
            let context = DatabaseContext(self)
            life.count += 1
            if life.count == 1 {
                stageAgain(life.unheld)
                life.unheld = WeakChanges()
            }
            current.withLock { $0.context = context }
            return context
        }
    }

    /// A context for staging one attribute value, which is no part of a foreign key.
    ///
    /// If the program holds no context, this one lasts for the value and does not stage weakly held changes again:
    /// staging n values would take quadratic time otherwise.
    var contextForValue: DatabaseContext {
        current.withLock { $0.context } ?? DatabaseContext(self, stagesAgain: false)
    }

    /// Called when a context is released: the last one releases the staged changes.
    func contextReleased(stagesAgain: Bool) {
        // Released after the lock: a `deinit` may run arbitrary code.
        var released: StagedChanges? = life.withLock { life in
            if stagesAgain { life.count -= 1 }
            guard life.count == 0, staged.withLock({ !$0.isEmpty }) else { return nil }
            let released = staged.withLock { $0.takeAll() }
            weaken(released, into: &life.unheld)
            return released
        }
        guard released != nil else { return }
        released = nil
        guard stagesAgain else { return }
        let isPairLost = life.withLock { $0.unheld.pairs.contains { !$0.isWhole } }
        if isPairLost { logLoss(of: "a pair of a many-to-many relationship") }
    }

    /// Logs, once per context, that unsaved changes are lost; not after a save that was refused, which its error has said.
    func logLoss(of what: String) {
        guard !isLossKnown.exchange(true, ordering: .relaxed) else { return }
        database.mistakes.warn(
            ofRequest: """
                Unsaved changes (\(what)) are lost, because their context was released: hold the context until they are saved, \
                or roll them back
                """)
    }

    /// Converts staged changes to weak references.
    private func weaken(_ changes: StagedChanges, into unheld: inout WeakChanges) {
        for object in changes.objects {
            let (links, number) = object.withState { state -> ([Int: DatabaseObject], Int64?) in
                guard var staging = state.stagingBox?.staging else { return ([:], nil) }
                let links = staging.destinations
                if !links.isEmpty {
                    staging.destinations = [:]
                    // Sets the box, not `staging`: that would drop an empty staging, although the row still shows the
                    // link's columns.
                    state.stagingBox = StagingBox(staging)
                }
                return (links, staging.temporaryKey)
            }
            if let number { withMap { $0.remove(object, of: object.runtime, key: .temporary(number)) } }
            unheld.objects.append(
                WeakChanges.Object(
                    object: object, links: links.isEmpty ? [:] : links.mapValues { WeakObject(object: $0) }))
        }
        for (pair, payload) in changes.pairs {
            unheld.pairs.append(
                WeakChanges.Pair(
                    source: pair.source, relationship: pair.relationship, destination: pair.destination,
                    payload: payload))
        }
    }

    /// Stages weakly held changes again, for the objects that still exist.
    private func stageAgain(_ unheld: WeakChanges) {
        for entry in unheld.objects {
            guard let object = entry.object else { continue }
            let number = object.withState { state -> Int64? in
                guard var staging = state.stagingBox?.staging, !entry.links.isEmpty else {
                    return state.stagingBox?.staging.temporaryKey
                }
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
            if let number { _ = withMap { $0.insert(object, of: object.runtime, key: .temporary(number)) } }
            if object.withState({ $0.stagingBox != nil }) { staged.withLock { $0.insert(object) } }
        }
        for pair in unheld.pairs {
            guard let source = pair.source, let destination = pair.destination else { continue }
            staged.withLock { $0.insert(StagedPair(source, destination, in: pair.relationship), payload: pair.payload) }
        }
    }
}

/// Staged changes with weak references only.
struct WeakChanges: Sendable {
    struct Object: Sendable {
        weak var object: DatabaseObject?
        /// The new objects that it refers to, by relationship slot.
        let links: [Int: WeakObject]
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
