import KindredPostgres
import KindredSchema
import Synchronization

// The door for changes of rows: `take` gives objects their rows, or deletes them, and appends the changes to the log.
extension ContextCore {
    /// Takes changes of rows, and gaps where it is not known which rows have changed.
    ///
    /// Rows go to their objects. Without an object a row is kept, newer than in loaded relationships.
    ///
    /// - Returns: The committed changes that were left out: see `ContextCore.takeCommitted`.
    @discardableResult
    package func take(
        _ changes: some Collection<RowChange>, _ gaps: [RowGap] = [], by origin: ChangeOrigin = .written
    ) throws -> [RowChange] {
        var left: [RowChange] = []
        if case .committed(let askedAt) = origin {
            left = try takeCommitted(changes, askedAt: askedAt)
        } else {
            // Nearly always all are of one entity.
            var deletions = Deletions(held: [])
            for change in changes {
                if let row = change.after {
                    try take(row, change, of: nil)
                } else if let key = change.key {
                    if deletions.entity !== change.entity {
                        take(deletions, by: origin)
                        deletions = Deletions(entity: change.entity, held: [])
                    }
                    if let object = liveObject(change.entity, key) {
                        if let deletion = try delete(object) { deletions.held.append(deletion) }
                    } else {
                        deletions.unheld.insert(key)
                    }
                }
            }
            take(deletions, by: origin)
        }
        for gap in gaps { take(gap, by: origin) }
        return left
    }

    /// Takes a gap alone.
    package func take(_ gap: RowGap, by origin: ChangeOrigin = .written) {
        append(.gap(gap), by: origin)
        switch gap.rows {
        case .some, .deleted: appendWriteThrough(gap.entity)
        case .everything:
            appendWriteThrough(gap.entity, by: origin)
            if origin.isByOthers { appendWriteUnderViews() }
        case .members, .shown, .moved, .ofParts, .relationships: break
        }
    }

    /// Takes that anything in memory may have changed.
    func takeUnknownChanges(by origin: ChangeOrigin = .written) {
        for entity in runtime.entities where withMap({ $0.knows(entity) }) {
            take(RowGap(.everything, of: entity), by: origin)
        }
    }

    /// Takes an unknown change of an owner's members.
    func takeUnknownMembers(of owner: DatabaseObject, in relationship: RelationshipRuntime) {
        for key in ownKeys(relationship, owner) { take(RowGap(membersIn: relationship, of: key)) }
    }

    /// Takes a written row.
    ///
    /// - Parameters:
    ///   - known: the row's object, where the caller knows it: the row may have another key now.
    ///   - end: the owner that the row has joined or left by this.
    func take(
        _ row: Row, of entity: EntityRuntime, object known: DatabaseObject? = nil, at end: OwnerEnd? = nil
    ) throws {
        guard let key = try ObjectKey(row, entity.key) else { return }
        try take(row, RowChange(written: row, of: entity, key: key), of: known, at: end)
    }

    private func take(
        _ row: Row, _ change: RowChange, of known: DatabaseObject?, at end: OwnerEnd? = nil
    ) throws {
        if let object = known ?? change.key.flatMap({ liveObject(change.entity, $0) }) {
            try take(row, for: object)
        } else {
            takeUnheld(change, row, at: end)
        }
    }

    /// Takes rows that a statement has changed without saying from what: loaded relationships become stale if one of
    /// the rows has no object.
    ///
    /// - Returns: The positions of the rows without objects.
    @discardableResult
    func take(written rows: EntityRows, of entity: EntityRuntime) throws -> [Int] {
        var unheld: [Int] = []
        for position in 0..<rows.count {
            let row = try rows[position]
            guard let key = try ObjectKey(row, entity.key) else { continue }
            if let object = follower(entity, key) {
                try take(row, for: object)
            } else {
                unheld.append(position)
            }
        }
        if !unheld.isEmpty { take(RowGap(.some, of: entity)) }
        return unheld
    }

    /// The object of a key, also after it left memory, if the log has its row.
    private func follower(_ entity: EntityRuntime, _ key: ObjectKey) -> DatabaseObject? {
        withMap { map in
            if let object = map.object(entity, key) { return object }
            guard let newer = map.log.row(entity, key) else { return nil }
            return map.object(entity, key) {
                make(ObjectSeed(core: self, runtime: entity, row: newer.row))
            }.object
        }
    }

    /// Takes the row that a statement has just stored, and that its object shows already.
    ///
    /// - Parameter isNew: whether there was no such row; else its values before are not known.
    func take(storedRowOf object: DatabaseObject, isNew: Bool) {
        let row = object.storedRow
        let change = RowChange(
            of: object.runtime, key: object.key, from: nil, to: row, unknown: isNew ? .nothing : .before)
        takeUnheld(change, row)
        countNew(row, of: object.runtime)
    }

    /// Marks an object's row as deleted and removes it from every set.
    func take(deletionOf object: DatabaseObject, by origin: ChangeOrigin = .written) throws {
        guard let deletion = try delete(object) else { return }
        take(Deletions(entity: object.runtime, held: CollectionOfOne(deletion)), by: origin)
    }

    /// Gives an object up whose row is gone; nil if it was given up before.
    private func delete(_ object: DatabaseObject) throws -> DeletedObject? {
        if object.hasStagedChanges || staged.withLock({ $0.hasPairs(of: object) }) { rollback([object]) }
        let wasStale = object.isStale
        func markDeleted(_ state: inout ObjectState) -> Bool {
            guard state.status == .persistent || state.status == .deleting else { return false }
            state.status = .deleted
            state.seenAt = tick()
            if let staging = state.staging { state.row = staging.stored }
            state.stagingBox = nil
            state.isStale = false
            return true
        }
        let wasLive = change(object, isRead: true) {
            _ = markDeleted(&$0)
        } run: { _ in
            object.withState(markDeleted)
        }
        // Memory does not know the row that is gone if it was to be read again.
        return wasLive ? DeletedObject(object: object, row: wasStale ? nil : object.row) : nil
    }

    /// Appends deletions of one entity's rows.
    private func take(_ deletions: Deletions<some Collection<DeletedObject>>, by origin: ChangeOrigin) {
        guard let entity = deletions.entity, !deletions.isEmpty else { return }
        if !deletions.held.isEmpty {
            withMap { map in
                for deletion in deletions.held {
                    if let key = deletion.object.key { map.remove(deletion.object, of: entity, key: key) }
                }
            }
        }
        // An undone row was in no answer that is still valid; another row may have its key.
        if case .undone = origin { return }
        var events: [ChangeLog.Event] = []
        events.reserveCapacity(deletions.held.count + deletions.unheld.count + 1)
        var hasUnknown = !deletions.unheld.isEmpty
        for deletion in deletions.held {
            if let row = deletion.row { countMove(of: entity, from: row, to: nil) } else { hasUnknown = true }
            // Another client may have moved the row before.
            let row = origin.isByOthers ? nil : deletion.row
            events.append(.row(RowChange(deleted: deletion.object.key, of: entity, row), at: nil))
            // The deletions of the helpers' rows are told as changes of their own.
            if origin.isByOthers, let row = deletion.row { events += pairs(in: row, of: entity, isPaired: false) }
        }
        // The statement tells the deletion of their helpers' rows itself.
        for key in deletions.unheld { events.append(.row(RowChange(deleted: key, of: entity), at: nil)) }
        if hasUnknown { events.append(.gap(RowGap(.deleted, of: entity))) }
        if !origin.isByOthers, !deletions.held.isEmpty {
            // The rows do not have the other ends: any loaded inverse may hold them.
            for case let helper? in entity.relationships.map(\.helper) {
                events.append(.gap(RowGap(.deleted, of: helper.entity)))
            }
        }
        append(events, by: origin)
        appendWriteThrough(entity)
        if !origin.isByOthers, following != nil {
            wrote(entity, deletions.held.compactMap(\.object.key) + deletions.unheld)
        }
    }

    // MARK: Rows without objects

    /// Takes a written row that has no object, or that was just stored and is shown by its object already.
    ///
    /// - Parameter end: the owner that the row has joined or left; the row may no longer have its key.
    private func takeUnheld(_ change: RowChange, _ row: Row, at end: OwnerEnd? = nil) {
        let entity = change.entity
        countMove(of: entity, from: nil, to: row)
        let owner = end.map { end in
            ChangeLog.OwnerKeys(relationship: end.relationship, keys: ownKeys(end.relationship, end.owner))
        }
        append(.row(change, at: owner))
        appendWriteThrough(entity)
        if let key = change.key { wrote(entity, CollectionOfOne(key)) }
        if let end, let filter = entity.filter, !filter.columns.isDisjoint(with: end.relationship.linkColumns) {
            countPaired(row, of: entity)
        }
    }
}

/// An object whose row is gone, and the row; nil if it is not known.
private struct DeletedObject {
    let object: DatabaseObject
    let row: Row?
}

/// Deletions of one entity's rows.
private struct Deletions<Held: Collection<DeletedObject>> {
    var entity: EntityRuntime?
    var held: Held
    /// The keys of rows without objects.
    var unheld: Set<ObjectKey> = []

    var isEmpty: Bool { held.isEmpty && unheld.isEmpty }
}

/// A query whose answer has come.
private struct SentQuery {
    let core: ContextCore
    let askedAt: ContextTime

    /// Whether it lacks a row that was read or written at a time: it was sent before, or beside the transaction that has written
    /// the row.
    func lacks(_ seenAt: ContextTime, isWritten: Bool) -> Bool {
        if seenAt > askedAt { return true }
        guard isWritten, core.hasTransactions.load(ordering: .acquiring) else { return false }
        let root = core.journal?.scope.root
        return core.times.withLock { $0.lacks(seenAt, askedAt: askedAt, in: root) }
    }
}

/// A row of an object that was replaced.
private struct ReplacedRow {
    /// The row that was stored before.
    let old: Row
    /// Whether `old` was a row of the database.
    let wasStored: Bool
    /// Whether something was staged before, and is staged now.
    let (wasStaged, isStaged): (Bool, Bool)
    let wasStale: Bool
}

/// An object, with its row and the row that this has replaced.
///
/// Apart from `ReplacedRow`: the optimizer of Swift 6.3 ends with an error where a closure drops a struct that has the object.
private struct FollowedRow {
    let object: DatabaseObject
    let replaced: ReplacedRow
    let new: Row

    var old: Row { replaced.old }

    /// Whether the row has another key, or another value of a column that foreign keys refer to.
    var isFoundOtherwise: Bool {
        object.runtime.findingColumns.contains { !old.hasSameBytes(as: new, at: $0) }
    }
}

extension SavedObject {
    /// Gives the object the row that its statement has returned.
    fileprivate func replaceRow(by row: Row, in core: ContextCore) -> ReplacedRow {
        core.staged.withLock { staged in
            let change = object.withState { replaceRow(in: &$0, by: row, at: core.tick()) }
            if change.isStaged { staged.insert(object) } else { staged.remove(object) }
            return change
        }
    }

    /// Gives the object its row, in the journals of other tasks' scopes, too.
    fileprivate func replaceRow(by row: Row, in core: ContextCore, _ own: TransactionJournal?) -> ReplacedRow {
        core.journals.applying(of: object, by: own) {
            _ = replaceRow(in: &$0, by: row, at: core.tick())
        } _: { _ in
            replaceRow(by: row, in: core)
        }
    }

    fileprivate func replaceRow(in state: inout ObjectState, by row: Row, at time: ContextTime) -> ReplacedRow {
        let (old, wasStored) = (state.storedRow, state.status == .persistent)
        let (wasStaged, wasStale) = (state.stagingBox != nil, state.isStale)
        state.settle(self, in: entity)
        state.rebase(on: row, of: entity)
        state.changed(at: time)
        state.isStale = false
        return ReplacedRow(
            old: old, wasStored: wasStored, wasStaged: wasStaged, isStaged: state.stagingBox != nil,
            wasStale: wasStale)
    }
}

// Rows of objects.
extension ContextCore {
    /// Gives an object its new row.
    func take(_ row: Row, for object: DatabaseObject, by origin: ChangeOrigin = .written) throws {
        let askedAt = origin.askedAt
        let query = askedAt.map { SentQuery(core: self, askedAt: $0) }
        func replaceRow(_ state: inout ObjectState, _ stored: Row) -> ReplacedRow? {
            let wasStale = state.isStale
            var row = row
            if let askedAt {
                let isWritten = state.isNewer && !state.isStale
                if query?.lacks(state.seenAt, isWritten: isWritten) == true { return nil }
                if origin.isByOthers { state.changed(at: tick()) } else { state.seenAt = askedAt }
                state.isStale = false
                if stored.hasSameBytes(as: row) { return nil }
                // Left-out columns keep the values that were read before, unless the row has changed since.
                if row.leavesOut, !wasStale, !origin.isByOthers, let whole = object.runtime.completed(row, by: stored) {
                    if stored.hasSameBytes(as: whole) { return nil }
                    row = whole
                }
            }
            let (old, wasStored, wasStaged) = (stored, state.status == .persistent, state.stagingBox != nil)
            let (entity, isRead) = (object.runtime, askedAt != nil)
            state.rebase(on: row, of: entity, keepsBase: isRead && entity.version != nil)
            state.changed(at: askedAt == nil ? tick() : state.seenAt)
            state.isStale = false
            return ReplacedRow(
                old: old, wasStored: wasStored, wasStaged: wasStaged, isStaged: state.stagingBox != nil,
                wasStale: wasStale)
        }
        let change = change(object, isRead: askedAt != nil) { state in
            _ = replaceRow(&state, state.storedRow)
        } run: { committed -> ReplacedRow? in
            object.withState { state -> ReplacedRow? in
                // The values written by a transaction stay visible while other tasks read.
                if let committed, !state.storedRow.hasSameBytes(as: committed) { return nil }
                return replaceRow(&state, state.storedRow)
            }
        }
        guard let change else {
            // Answers that were asked for before and have an older row lose to it; other columns may differ.
            if origin.isByOthers, object.storedRow.hasSameBytes(as: row) {
                append(.row(RowChange(of: object.runtime, key: object.key, from: row, to: row), at: nil), by: origin)
            }
            return
        }
        if change.wasStaged { releaseIfUnstaged(object) }
        let followed = FollowedRow(object: object, replaced: change, new: row)
        try follow(CollectionOfOne(followed), of: object.runtime, by: origin)
    }

    /// Gives saved objects of one entity the rows that their statement has returned; changes staged since it was made stay
    /// staged.
    ///
    /// - Parameter rows: the objects' rows, in their order; nil for an object without a row.
    func take(_ rows: [Row?], of saved: ArraySlice<SavedObject>) throws {
        // A span: an element of an array would be copied.
        let objects = saved.span
        let own = journal
        if objects.count == 1 {
            // Without lists of one.
            guard let row = rows[0] else { return }
            own?.record(objects[0].object)
            let change = objects[0].replaceRow(by: row, in: self, own)
            let followed = FollowedRow(object: objects[0].object, replaced: change, new: row)
            return try follow(CollectionOfOne(followed), of: followed.object.runtime, by: .written)
        }
        var written: [DatabaseObject] = []
        written.reserveCapacity(rows.count)
        for place in objects.indices where rows[place] != nil { written.append(objects[place].object) }
        guard let entity = written.first?.runtime else { return }
        var replaced: [FollowedRow] = []
        replaced.reserveCapacity(written.count)
        own?.record(written)
        guard journals.others(than: own).isEmpty else {
            for case (let saved, let row?) in zip(saved, rows) {
                replaced.append(
                    FollowedRow(object: saved.object, replaced: saved.replaceRow(by: row, in: self, own), new: row))
            }
            return try follow(replaced, of: entity, by: .written)
        }
        for place in objects.indices {
            guard let row = rows[place] else { continue }
            let change = objects[place].replaceRow(by: row, in: self)
            replaced.append(FollowedRow(object: objects[place].object, replaced: change, new: row))
        }
        try follow(replaced, of: entity, by: .written)
        // A journal may have recorded objects meanwhile.
        for other in journals.others(than: own) {
            for case (let saved, let row?) in zip(saved, rows) {
                _ = other.change(saved.object) { _ = saved.replaceRow(in: &$0, by: row, at: tick()) }
            }
        }
    }

    /// Appends the changed rows of a statement at one time, and follows them to the rows that refer to them.
    private func follow(
        _ replaced: some Collection<FollowedRow>, of entity: EntityRuntime, by origin: ChangeOrigin
    ) throws {
        let isBeforeKnown: Bool
        if replaced.count == 1, let followed = replaced.first {
            let change = try take(followed, of: entity)
            isBeforeKnown = change.isBeforeKnown
            append(.row(change, at: nil), by: origin)
        } else {
            let changes = try replaced.map { try take($0, of: entity) }
            isBeforeKnown = changes.allSatisfy(\.isBeforeKnown)
            append(changes.map { .row($0, at: nil) }, by: origin)
        }
        // A change that a read has shown is no write of the context.
        guard case .written = origin else { return }
        appendWriteThrough(entity)
        if !isBeforeKnown {
            // A row has left owners which are not known, as its former row may have been undone.
            let left = entity.foreignKeys.map(\.inverse) + entity.helperEnds
            append(left.map { .gap(RowGap(membersIn: $0, of: nil)) })
        }
        if following != nil { wrote(entity, replaced.compactMap(\.object.key)) }
        for change in replaced where change.isFoundOtherwise { try followKeys(of: change.object, from: change.old) }
    }

    /// The change of an object's row; puts the object at its key, and counts the members of its owners.
    private func take(_ followed: FollowedRow, of entity: EntityRuntime) throws -> RowChange {
        let (object, replaced) = (followed.object, followed.replaced)
        let (old, new) = (followed.old, followed.new)
        var keys: (former: ObjectKey?, new: ObjectKey?) = (nil, nil)
        if followed.isFoundOtherwise, let former = try ObjectKey(old, entity.key),
            let key = try ObjectKey(new, entity.key), former != key
        {
            keys = (former, key)
            rekey(object, from: former, to: key)
        } else if references.isIndexed, let key = object.key {
            withMap { $0.noteChanged(entity, key) }
        }
        if replaced.wasStored, runtime.countLimits != nil {
            countMove(of: entity, from: old, to: new)
            // The pairs of a new row come by themselves.
            if let filter = entity.filter, filter.columns.mayDiffer(from: old, to: new) { countPaired(new, of: entity) }
        }
        return RowChange(
            of: entity, key: keys.new, formerKey: keys.former, from: replaced.wasStale ? nil : old, to: new,
            unknown: replaced.wasStale ? .before : .nothing)
    }

    /// Puts an object at the new key of its row.
    private func rekey(_ object: DatabaseObject, from former: ObjectKey, to key: ObjectKey) {
        let displaced = withMap { map in
            map.remove(object, of: object.runtime, key: former)
            return map.insert(object, of: object.runtime, key: key)
        }
        // With a key that is checked later, two rows may have it meanwhile: a rollback puts the other object back.
        if let displaced { journal?.record(displaced) }
    }
}
