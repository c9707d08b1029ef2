import KindredPostgres
import Synchronization

extension DatabaseContext {
    /// Whether any object has changes that are not saved yet.
    public var hasChanges: Bool {
        !staged.withLock { $0.isEmpty }
    }

    /// Takes back every change that is not saved yet; the objects show what the database has, as last seen.
    ///
    /// Sends nothing.
    public func rollback() {
        for object in staged.withLock({ $0.objects }) { rollback(object) }
    }

    func rollback(_ object: DatabaseObject) {
        changeStaging(of: object) { state in
            guard let staging = state.staging else { return }
            state.row = staging.stored
            state.staging = nil
        }
    }

    /// Changes what is staged on an object: its visible row, its place in its owners' loaded sets, and whether the
    /// context holds it.
    ///
    /// The lock of the staged changes is taken around the object's, always in this order, so that an object is held
    /// exactly if something is staged on it.
    func changeStaging(of object: DatabaseObject, _ change: (inout ObjectState) -> Void) {
        TransactionJournal.current?.record(object)
        let (old, new) = staged.withLock { staged in
            let (old, new, isStaged) = object.withState { state in
                let old = state.row
                change(&state)
                return (old, state.row, state.staging != nil)
            }
            if isStaged { staged.insert(object) } else { staged.remove(object) }
            return (old, new)
        }
        try? relink(object, from: old, to: new)
    }

    /// Takes back the staged values of attributes that have been written otherwise.
    func unstage(_ columns: [Int], of object: DatabaseObject) {
        guard object.hasChanges else { return }
        changeStaging(of: object) { $0.unstage(columns) }
    }

    /// Lets go of an object on which nothing is staged any more.
    func releaseIfUnstaged(_ object: DatabaseObject) {
        staged.withLock { staged in
            if object.withState({ $0.staging == nil }) { staged.remove(object) } else { staged.insert(object) }
        }
    }
}
