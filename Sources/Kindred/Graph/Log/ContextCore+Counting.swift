import KindredPostgres
import KindredSchema

/// Whether the task is writing, so that changes of rows are its own and not rows it has read.
enum CountedWrite {
    @TaskLocal static var isRunning = false
}

// Tracks the owners to which a transaction adds members or from which it removes them. Their members are counted at its
// end: see `countProblems`.
extension ContextCore {
    /// The limits, and the journal that collects owners to check; nil outside writes, and without limits.
    var counting: (limits: CountLimits, journal: TransactionJournal)? {
        guard let limits = runtime.countLimits, CountedWrite.isRunning, let journal else { return nil }
        return (limits, journal)
    }

    /// Notes that a row was stored, changed or deleted.
    func countMove(of entity: EntityRuntime, from old: Row?, to new: Row?) {
        guard let (limits, journal) = counting else { return }
        for link in limits.links(of: entity) {
            // Members that their filter hides do not count, nor do pairs.
            let filter = link.relationship.linkFilter
            func owner(_ row: Row?) -> ObjectKey? {
                guard let row, filter?.shows(row) != false else { return nil }
                return try? ObjectKey(row, link.columns)
            }
            let (former, owner) = (owner(old), owner(new))
            let isUncertain = if let old, let new { link.uncertain.mayDiffer(from: old, to: new) } else { false }
            if former == owner, !isUncertain { continue }
            if let former, link.relationship.minimum != nil { journal.count(link.relationship, former, in: self) }
            if let owner, link.relationship.maximum != nil { journal.count(link.relationship, owner, in: self) }
        }
    }

    /// Notes that a row may have been shown or hidden: the owners that it is paired with are counted.
    func countPaired(_ row: Row, of entity: EntityRuntime) {
        guard let (limits, journal) = counting else { return }
        for relationship in limits.pairedSets(of: entity) {
            if let member = try? ObjectKey(row, relationship.otherColumns) {
                journal.count(relationship, member, in: self, isOfMember: true)
            }
        }
    }

    /// Notes that members of an owner came or left.
    func count(_ relationship: RelationshipRuntime, of owner: DatabaseObject) {
        guard relationship.minimum != nil || relationship.maximum != nil, let journal = counting?.journal else {
            return
        }
        for key in ownKeys(relationship, owner) where !key.isTemporary { journal.count(relationship, key, in: self) }
    }

    /// Notes that a pair of an owner came or left, where only the owner's key is known.
    func count(_ relationship: RelationshipRuntime, ofOwner key: ObjectKey) {
        guard relationship.minimum != nil || relationship.maximum != nil, let journal = counting?.journal else {
            return
        }
        journal.count(relationship, key, in: self)
    }

    /// Notes that a new row has sets that must not be empty.
    func countNew(_ row: Row, of entity: EntityRuntime) {
        guard let (limits, journal) = counting else { return }
        for relationship in limits.required(of: entity) {
            if let key = try? relationship.ownKey(row) { journal.count(relationship, key, in: self) }
        }
    }
}
