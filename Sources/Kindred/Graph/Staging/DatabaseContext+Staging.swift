import KindredPostgres
import Synchronization

extension DatabaseContext {
    /// Whether anything is staged that is not saved yet.
    public var hasChanges: Bool {
        !core.staged.withLock { $0.isEmpty }
    }

    /// Takes back every change that is not saved yet; the objects show what the database has, as last seen.
    ///
    /// New objects are given up: they refuse use from then on, as deleted ones do. Sends nothing.
    public func rollback() {
        core.misreads.withLock { $0 = [] }
        for (pair, _) in core.staged.withLock({ $0.pairs }) { unstage(pair) }
        for object in core.staged.withLock({ $0.objects }) { takeBack(object) }
    }

    /// Stages the deletion of an object: `save()` deletes it after everything else, with its delete rules.
    ///
    /// Until then the object and the sets that it is in show it as it is; `isDeletionStaged` tells, and `rollback()` takes it
    /// back. A new object is given up at once. Sends nothing; `delete(_:)` deletes at once. Throws `KindredError`
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
        // Nobody can point to an object that is given up.
        for other in new.isEmpty ? [] : core.staged.withLock({ $0.objects }) where !objects.contains(other) {
            let links = other.withState { $0.staging?.destinations ?? [:] }
            for (slot, destination) in links where new.contains(destination) {
                unstage(other.runtime.relationships[slot].ownColumns, of: other)
            }
        }
        for object in objects { takeBack(object) }
    }

    /// Gives an object its stored values back; gives a new one up.
    private func takeBack(_ object: DatabaseObject) {
        let temporaryKey = object.withState { $0.stagingBox?.staging.temporaryKey }
        changeStaging(of: object) { state in
            // What a transaction has stored is new again if that fails, and was not new when it was taken back.
            guard let staging = state.staging, staging.temporaryKey == temporaryKey else { return }
            state.row = staging.stored
            // A new object leaves its owners' loaded sets under the key by which they know it.
            state.staging = Staging(stored: staging.stored, temporaryKey: temporaryKey)
        }
        guard let temporaryKey else { return }
        changeStaging(of: object) { state in
            state.status = .deleted
            state.stagingBox = nil
        }
        withMap { $0.remove(object, object.runtime.index, .temporary(temporaryKey)) }
    }

    /// Changes what is staged on an object: its visible row, and whether the context holds it.
    ///
    /// The lock of the staged changes is taken around the object's, always in this order, so that an object is held
    /// exactly if something is staged on it.
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

    /// Takes back the staged values of attributes that have been written otherwise.
    func unstage(_ columns: [Int], of object: DatabaseObject) {
        guard object.hasChanges else { return }
        changeStaging(of: object) { $0.unstage(columns, in: object.runtime) }
    }

    /// Lets go of an object on which nothing is staged any more.
    func releaseIfUnstaged(_ object: DatabaseObject) {
        core.staged.withLock { staged in
            if object.withState({ $0.stagingBox == nil }) { staged.remove(object) } else { staged.insert(object) }
        }
    }

    /// Who joins and leaves a relationship that is being read, by staged changes; nil if nobody does.
    func stagedChange(_ relationship: RelationshipRuntime, of owner: DatabaseObject) -> StagedLinks.Change? {
        core.staged.withLock { staged in
            if staged.isEmpty { return nil }
            let key = owner.isInserted ? owner.key : try? ObjectKey(owner.storedRow, relationship.ownColumns)
            return key.flatMap { staged.change(relationship, $0, runtime) }
        }
    }
}
