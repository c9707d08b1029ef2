import KindredPostgres
import Synchronization

extension DatabaseContext {
    /// Whether there are unsaved changes.
    public var hasChanges: Bool {
        !core.staged.withLock { $0.isEmpty }
    }

    /// Takes back all unsaved changes; the objects show the database's values, as last seen.
    ///
    /// New objects are discarded: from then on they refuse use, as deleted ones do. Sends nothing.
    public func rollback() {
        core.misreads.withLock { $0 = [] }
        for (pair, _) in core.staged.withLock({ $0.pairs }) { unstage(pair) }
        for object in core.staged.withLock({ $0.objects }) { takeBack(object) }
    }

    /// Stages the deletion of an object: `save()` deletes it after everything else, with its delete rules.
    ///
    /// Until then the object and its sets stay unchanged; `isDeletionStaged` tells, and `rollback()` takes it back. A
    /// new object is discarded at once. Sends nothing; `delete(_:)` deletes at once. Throws `KindredError`
    /// `.objectDeleted`, `.readOnly`, `.foreignContext`.
    public func stageDeletion(of object: DatabaseObject) throws {
        try requireOwn(object)
        try object.requireStageable()
        if object.isInserted { return rollback([object]) }
        changeStaging(of: object) { state in
            var staging = state.stagingToChange
            staging.isDeletion = true
            state.staging = staging
        }
    }

    func rollback(_ objects: Set<DatabaseObject>) {
        for pair in core.staged.withLock({ $0.pairs(of: objects) }) { unstage(pair) }
        let new = objects.filter(\.isInserted)
        // Links to objects that are discarded go, too.
        for other in new.isEmpty ? [] : core.staged.withLock({ $0.objects }) where !objects.contains(other) {
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
        withMap { $0.remove(object, object.runtime, .temporary(temporaryKey)) }
    }

    /// Changes the staging of an object: its visible row, and whether the context holds it.
    ///
    /// Locks the staged changes before the object, so that the context holds an object exactly if something is staged
    /// on it.
    func changeStaging(of object: DatabaseObject, _ body: (inout ObjectState) -> Void) {
        let (old, new) = change(object, body) { _ in
            core.staged.withLock { staged in
                let (old, new, wasStaged, isStaged) = object.withState { state in
                    let (old, wasStaged) = (RowLinks(state), state.stagingBox != nil)
                    body(&state)
                    return (old, RowLinks(state), wasStaged, state.stagingBox != nil)
                }
                switch (wasStaged, isStaged) {
                case (true, true), (false, false): staged.noteChange()
                case (false, true): staged.insert(object)
                case (true, false): staged.remove(object)
                }
                return (old, new)
            }
        }
        noteChange(of: object, object.key, from: old, to: new)
    }

    /// Takes back the staged values of attributes that were written outside a save.
    func unstage(_ columns: [Int], of object: DatabaseObject) {
        guard object.hasChanges else { return }
        changeStaging(of: object) { $0.unstage(columns, in: object.runtime) }
    }

    /// Releases an object without staged changes.
    func releaseIfUnstaged(_ object: DatabaseObject) {
        core.staged.withLock { staged in
            if object.withState({ $0.stagingBox == nil }) { staged.remove(object) } else { staged.insert(object) }
        }
    }

    /// The staged members that join and leave a relationship; nil for none.
    func stagedChange(_ relationship: RelationshipRuntime, of owner: DatabaseObject) -> StagedLinks.Change? {
        core.staged.withLock { staged in
            if staged.isEmpty { return nil }
            guard let key = relationship.ownKey(of: owner) else { return nil }
            return staged.change(relationship, key, comparedAs: owner.keyToCompare(relationship))
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
