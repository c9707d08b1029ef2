import KindredPostgres
import Synchronization

// Rolls memory back to the state that a journal has recorded.
extension TransactionJournal {
    /// Restores every object, without a statement; objects first read after a write become stale.
    ///
    /// - Parameter isUnknown: whether the transaction may have been committed: objects that it wrote become stale too.
    func undo(isUnknown: Bool = false) throws {
        // Not recorded in the enclosing journal, which would bring the undone values back.
        try Self.withNone { try restore(isUnknown: isUnknown && mayHaveWritten()) }
        // Rows that other transactions have deleted stay deleted.
        let missing = entries.withLock { $0.missing }.filter { !$0.isInserted && !$0.isGone }
        for (_, objects) in Dictionary(grouping: missing, by: { ObjectIdentifier($0.core) }) {
            try objects[0].core.take(missing: objects)
        }
    }

    private func restore(isUnknown: Bool) throws {
        scope.undo()
        let entries = entries.withLock { entries in
            entries.listStored()
            return entries
        }
        let fetched = entries.fetched.compactMap(\.object)
        var cores = entries.cores
        for object in fetched where !cores.contains(where: { $0 === object.core }) { cores.append(object.core) }
        defer {
            for core in cores {
                if isUnknown { core.takeUnknownChanges() }
                core.takeRollback()
            }
            finish()
            // States put back may have staged changes of a context that is gone.
            for core in cores { core.dropUnheld() }
        }
        let created = Set(entries.created)
        for (pair, before) in entries.pairs {
            before.core.staged.withLock { $0.put(pair, before.entry) }
        }
        putBack(entries.before.values.map(\.object).filter { !created.contains($0) })
        // After the others, which no longer refer to them: changes staged instead stay.
        for (_, new) in Dictionary(grouping: created.filter(\.isInserted), by: { ObjectIdentifier($0.core) }) {
            new[0].core.rollback(Set(new))
        }
        if isUnknown {
            for (object, _) in entries.before.values where !created.contains(object) { object.markStale() }
            for object in entries.created { try settle(object) }
        } else {
            for object in created { try object.core.take(deletionOf: object, by: .undone) }
        }
        // Includes recorded objects: their recorded state was read inside.
        for object in fetched where !created.contains(object) { try settle(object) }
    }

    /// Marks an object that was first seen inside as stale; as deleted if its key is another object's again.
    private func settle(_ object: DatabaseObject) throws {
        let core = object.core
        guard let key = object.key, let other = core.liveObject(object.runtime, key), other !== object else {
            return object.markStale()
        }
        try core.take(deletionOf: object, by: .undone)
    }

    /// Restores objects' recorded states, and their places in the identity map.
    private func putBack(_ objects: [DatabaseObject]) {
        let restored = objects.compactMap { object in putBack(object).map { (object, $0.undone, $0.state) } }
        // All objects leave their places before the first takes its former place: keys may have changed hands.
        for (object, undone, _) in restored { object.core.leave(object, undone) }
        var cores: [ObjectIdentifier: ContextCore] = [:]
        for (object, undone, state) in restored {
            object.core.enter(object, from: undone, to: state)
            if state.status == .inserted { cores[ObjectIdentifier(object.core)] = object.core }
        }
        for core in cores.values { core.staged.withLock { $0.sortNew() } }
    }

    /// Restores an object's recorded state; returns its state before and after.
    private func putBack(_ object: DatabaseObject) -> (undone: ObjectState, state: ObjectState)? {
        // Under the lock of recorded states, so that a concurrent change applies to one or the other.
        return entries.withLock { entries in
            guard let state = entries.before[ObjectIdentifier(object)]?.state else { return nil }
            return object.withState { current in
                let undone = current
                current = state
                // Answers read inside the failed transaction are stale.
                current.changed(at: object.core.tick())
                // Relationships loaded outside stay, unless they were loaded by other keys.
                let finding = object.runtime.findingColumns
                let isFoundAlike = finding.allSatisfy { undone.storedRow.hasSameBytes(as: state.storedRow, at: $0) }
                if isFoundAlike { current.relationships.adopt(undone.relationships) }
                return (undone, state)
            }
        }
    }
}

extension ContextCore {
    /// Takes that a write outside transactions may have taken effect, or may do so yet: everything in memory is read again before
    /// it is used.
    func takeUnknownWrite() {
        takeUnknownChanges()
        for entity in runtime.entities {
            for object in withMap({ $0.knows(entity) ? $0.objects(of: entity) : [] }) { object.markStale() }
        }
        takeRollback()
    }

    /// Removes an object from the key that it had in an undone scope.
    fileprivate func leave(_ object: DatabaseObject, _ undone: ObjectState) {
        guard let key = undone.key(object.runtime) else { return }
        withMap { $0.remove(object, of: object.runtime, key: key) }
    }

    /// Puts a restored object at its key in the identity map.
    ///
    fileprivate func enter(_ object: DatabaseObject, from undone: ObjectState, to state: ObjectState) {
        let entity = object.runtime
        if let key = state.key(entity), state.status != .deleted {
            withMap { _ = $0.insert(object, of: entity, key: key) }
        }
        if undone.stagingBox != nil || state.stagingBox != nil { releaseIfUnstaged(object) }
    }
}

extension DatabaseObject {
    /// Marks a stored row that may have been undone: it is read again before it is used.
    func markStale() {
        guard !runtime.key.isEmpty else { return }
        let time = core.tick()
        withState { $0.becomeStale(at: time) }
    }
}
