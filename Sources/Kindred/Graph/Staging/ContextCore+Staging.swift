import KindredPostgres
import Synchronization

extension ContextCore {
    /// Whether there are unsaved changes.
    var hasStagedChanges: Bool {
        !staged.withLock { $0.isEmpty }
    }

    /// Takes back all unsaved changes.
    func rollback() {
        mistakes.withLock { $0 = [] }
        for (pair, _) in staged.withLock({ $0.pairs }) { unstage(pair) }
        for object in staged.withLock({ $0.objects }) { takeBack(object) }
    }

    /// Stages the deletion of an object; a new object is discarded.
    func stageDeletion(of object: DatabaseObject) throws {
        try requireOwn(object)
        try object.requireStageable()
        if object.isInserted { return rollback([object]) }
        changeStaging(of: object) { state in
            var staging = state.stagingToChange
            staging.isDeletion = true
            state.staging = staging
        }
    }

    /// Stages a pair of a many-to-many relationship; both sides show it.
    func stage(_ pair: StagedPair, payload: ColumnValues?) {
        journal?.record(pair, in: self)
        staged.withLock { staged in staged.insert(pair, payload: payload ?? staged.entry(of: pair)?.payload) }
    }

    /// Takes a staged pair back; both sides lose it.
    func unstage(_ pair: StagedPair) {
        journal?.record(pair, in: self)
        staged.withLock { $0.remove(pair) }
    }

    func rollback(_ objects: Set<DatabaseObject>) {
        for pair in staged.withLock({ $0.pairs(of: objects) }) { unstage(pair) }
        let new = objects.filter(\.isInserted)
        // Links to objects that are discarded go, too.
        for other in new.isEmpty ? [] : staged.withLock({ $0.objects }) where !objects.contains(other) {
            let links = other.withState { $0.staging?.destinations ?? [:] }
            for (slot, destination) in links where new.contains(destination) {
                unstage(other.runtime.relationships[slot].ownColumns, of: other)
            }
        }
        for object in objects { takeBack(object) }
    }

    /// Restores an object's stored values; gives a new one up.
    private func takeBack(_ object: DatabaseObject) {
        let temporaryKey = object.withState { $0.stagingBox?.staging.temporaryKey }
        changeStaging(of: object) { state in
            // An object that a transaction has stored meanwhile stays; after a rollback it is new again.
            guard let staging = state.staging, staging.temporaryKey == temporaryKey else { return }
            state.row = staging.stored
            // The temporary key stays: owners' loaded sets know the object by it.
            state.staging = Staging(stored: staging.stored, temporaryKey: temporaryKey)
        }
        guard let temporaryKey else { return }
        changeStaging(of: object) { state in
            state.status = .deleted
            state.stagingBox = nil
        }
        withMap { $0.remove(object, of: object.runtime, key: .temporary(temporaryKey)) }
    }

    /// Changes the staging of an object: its visible row, and whether the context holds it.
    ///
    /// Locks the staged changes before the object, so that the context holds an object exactly if something is staged
    /// on it.
    func changeStaging(of object: DatabaseObject, _ body: (inout ObjectState) -> Void) {
        change(object, body) { _ in
            staged.withLock { staged in
                let (wasStaged, isStaged) = object.withState { state in
                    let wasStaged = state.stagingBox != nil
                    body(&state)
                    return (wasStaged, state.stagingBox != nil)
                }
                switch (wasStaged, isStaged) {
                case (true, true), (false, false): staged.noteChange()
                case (false, true): staged.insert(object)
                case (true, false): staged.remove(object)
                }
            }
        }
    }

    /// Takes back the staged values of attributes that were written outside a save.
    func unstage(_ columns: [Int], of object: DatabaseObject) {
        guard object.hasStagedChanges else { return }
        changeStaging(of: object) { $0.unstage(columns, in: object.runtime) }
    }

    /// Releases an object without staged changes.
    func releaseIfUnstaged(_ object: DatabaseObject) {
        staged.withLock { staged in
            if object.withState({ $0.stagingBox == nil }) { staged.remove(object) } else { staged.insert(object) }
        }
    }

    /// The staged members that join and leave a relationship; nil for none.
    func stagedChange(_ relationship: RelationshipRuntime, of owner: DatabaseObject) -> StagedLinks.Change? {
        staged.withLock { staged in
            if staged.isEmpty { return nil }
            // Foreign keys may have been given the key that a new object will have.
            let keys = [relationship.ownKey(of: owner), owner.isInserted ? try? relationship.ownKey(owner.row) : nil]
            return staged.change(relationship, keys.compactMap(\.self), comparedAs: owner.keyToCompare(relationship))
        }
    }
}

extension DatabaseObject {
    /// The value that foreign keys are compared with, if only the server can compare them; nil if memory can.
    func keyToCompare(_ relationship: RelationshipRuntime) -> ObjectKey? {
        guard relationship.isComparedByServer, relationship.destinationHoldsForeignKey else { return nil }
        return try? relationship.ownKey(isInserted ? row : storedRow)
    }
}
