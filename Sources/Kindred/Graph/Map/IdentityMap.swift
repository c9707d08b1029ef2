import KindredPostgres

/// A row newer than in loaded relationships, and the time of its change.
struct NewerRow: Sendable {
    let row: Row
    let changedAt: ContextTime
}

/// The newer row that a changed object leaves behind when it leaves memory.
struct ReleasedRow: Sendable {
    let entity: EntityRuntime
    let row: Row
    /// The time since when the row may be newer than in loaded relationships.
    let changedAt: ContextTime

    /// Nil if the row is not stored, unchanged since it was read, or stale.
    init?(_ entity: EntityRuntime, _ state: ObjectState) {
        guard state.isNewer, state.status == .persistent, !state.isStale else { return nil }
        self.entity = entity
        row = state.storedRow
        changedAt = state.seenAt
    }
}

/// The time of an entity's last untracked deletion.
struct LostRows: Sendable {
    var at: ContextTime = .never
    /// The time of the last possible change or deletion of unknown rows.
    var doubtedAt: ContextTime = .never
}

/// The identity map: one object per row, and notes on rows that have no object.
///
/// It holds new objects, which have temporary keys; staged changes hold theirs. All other objects live as long as the
/// program uses them, and ``ObjectReferences`` finds them. Objects are only added under this map's lock.
struct IdentityMap {
    private struct Deletion {
        let deletedAt: ContextTime
        /// The transaction of the deletion: if it is rolled back, the row exists.
        let scope: TransactionScope?
        /// The deletion that counts again if this one is rolled back.
        var former: Former?
        /// The transaction that has stored a row with the key again: if it is rolled back, the deletion counts.
        var storedIn: TransactionScope?

        /// The last deletion that was not rolled back.
        var valid: Deletion? { scope?.isUndone == true ? former?.deletion.valid : self }

        func counts(since time: ContextTime) -> Bool {
            guard let valid, valid.deletedAt > time else { return false }
            return valid.storedIn == nil || valid.storedIn?.isUndone == true
        }

        /// Whether it counts for a task in a transaction, or in none.
        func counts(since time: ContextTime, in root: TransactionScope?) -> Bool {
            func isHidden(_ scope: TransactionScope) -> Bool { scope.root !== root && scope.isRunning }
            guard let valid else { return false }
            if let scope = valid.scope, isHidden(scope) {
                return valid.former?.deletion.counts(since: time, in: root) ?? false
            }
            return valid.deletedAt > time && (valid.storedIn.map { $0.isUndone || isHidden($0) } ?? true)
        }
    }

    /// A deletion below another one; a class, because few have one.
    private final class Former: Sendable {
        let deletion: Deletion

        init(_ deletion: Deletion) { self.deletion = deletion }
    }

    private struct Table {
        /// New objects by the numbers of their temporary keys, until they are saved or discarded.
        var temporaries: [Int64: DatabaseObject] = [:]
        /// The rows of released objects, where newer than in loaded relationships.
        var newerRows: [ObjectKey: NewerRow] = [:]
        /// Deleted rows, and when; loaded relationships may still hold them.
        var deleted: [ObjectKey: Deletion] = [:]
        /// The time of the last deletion.
        var deletedAt: ContextTime = .never
        /// Rows that a running deletion will delete.
        var deleting: Set<ObjectKey> = []
        var lostRows = LostRows()
        /// Changes in relationships of this entity's rows, by slot.
        var logs: [Int: RelationshipLog] = [:]
        /// When all relationships of a row were dropped, because it was to be read again.
        var refreshed: [ObjectKey: ContextTime] = [:]
        /// When all these notes were last evicted; anything read before that is stale.
        var forgottenAt: ContextTime = .never
        /// Secondary indexes: columns besides the key by which objects are looked up.
        var indexes: [ColumnIndex] = []
    }

    private let references: ObjectReferences
    /// Notes by entity; a context that only reads has none.
    private var tables = EntityTables<Table>()
    /// Whether anything was ever noted; a context that only reads skips the look-ups.
    private var isNoted = false
    /// The limit of notes of a kind per entity, so that the memory of a long-lived context is bounded.
    var maximumNotes = 10_000
    /// The limit of entries in a relationship's log.
    var maximumEntries = 50_000
    /// The time of the last write, where views have relationships and may show other rows since.
    private(set) var writtenAt: ContextTime = .never
    /// An entity over the limit of notes.
    private(set) var overfullEntity: EntityRuntime?

    init(_ references: ObjectReferences) {
        self.references = references
    }

    /// Reads an entity's table.
    ///
    /// Copies the table, which costs more than a look-up; hot paths read `tables` directly.
    private func read<T>(_ entity: EntityRuntime, orNone none: T, _ body: (borrowing Table) -> T) -> T {
        tables.place(entity.index).map { body(tables[$0]) } ?? none
    }

    /// The position of an entity's table, made if needed.
    private mutating func place(_ entity: EntityRuntime) -> Int {
        tables.place(entity.index, orMake: Table())
    }

    /// The position of an entity's table, for a note on its rows or their relationships.
    private mutating func placeToNote(_ entity: EntityRuntime) -> Int {
        isNoted = true
        return place(entity)
    }

    /// Whether the context may know anything of an entity: rows, or relationships.
    func knows(_ entity: EntityRuntime) -> Bool { tables.place(entity.index) != nil || references.knows(entity) }

    /// Whether the context may know anything of an entity with relationships that rows of the given one store.
    func knowsAny(linkedTo entity: EntityRuntime) -> Bool {
        entity.foreignKeys.contains { knows($0.destination) } || entity.helperEnds.contains { knows($0.source) }
    }

    /// Notes that relationships of an entity are read for rows that have no object.
    mutating func noteKnown(_ entity: EntityRuntime) { _ = place(entity) }

    func object(_ entity: EntityRuntime, _ key: ObjectKey) -> DatabaseObject? {
        guard case .temporary(let number) = key else { return references.object(entity, key) }
        return tables.place(entity.index).flatMap { tables[$0].temporaries[number] }
    }

    /// Whether there are notes on rows that were deleted, are being deleted, or were left by released objects: if not,
    /// new objects skip the look-up.
    func hasNotes(_ entity: EntityRuntime) -> Bool {
        guard isNoted, let place = tables.place(entity.index) else { return false }
        return !tables[place].newerRows.isEmpty || !tables[place].deleted.isEmpty || !tables[place].deleting.isEmpty
    }

    /// Reserves capacity for objects to be inserted.
    func makeRoom(for more: Int, of entity: EntityRuntime) {
        if more > 1 { references.reserve(more, of: entity) }
    }

    /// The object of a key, made if needed.
    mutating func object(
        _ entity: EntityRuntime,
        _ key: ObjectKey,
        orMake make: () throws -> DatabaseObject
    ) rethrows -> (object: DatabaseObject, isNew: Bool) {
        if let object = object(entity, key) { return (object, false) }
        let object = try make()
        insert(object, entity, key)
        return (object, true)
    }

    /// The objects of rows by integer keys, made where needed, with the positions of objects that existed.
    mutating func objects(
        _ entity: EntityRuntime,
        _ keys: [Int64],
        orMake make: (Int) throws -> DatabaseObject
    ) rethrows -> (objects: [DatabaseObject], known: [Int]) {
        let found = references.objects(entity, keys)
        var known: [Int] = []
        var objects: [DatabaseObject] = []
        objects.reserveCapacity(keys.count)
        for position in keys.indices {
            if let object = found?[position] {
                objects.append(object)
                known.append(position)
            } else {
                objects.append(try make(position))
            }
        }
        // A result may contain a row twice.
        let repeated = references.insert(objects, entity, keys)
        if references.isIndexed { for key in keys { noteChanged(entity, .integer(key)) } }
        for (position, object) in repeated {
            objects[position] = object
            known.append(position)
        }
        return (objects, known)
    }

    /// Inserts an object in place of any other, which is returned.
    @discardableResult
    mutating func insert(_ object: DatabaseObject, _ entity: EntityRuntime, _ key: ObjectKey) -> DatabaseObject? {
        guard case .temporary(let number) = key else {
            let displaced = references.insert(object, entity, key)
            if references.isIndexed { noteChanged(entity, key) }
            return displaced
        }
        tables[place(entity)].temporaries[number] = object
        return nil
    }

    /// Removes the object, if it was inserted with this key, also where another one has taken its place.
    mutating func remove(_ object: DatabaseObject, _ entity: EntityRuntime, _ key: ObjectKey) {
        if case .temporary(let number) = key {
            tables[place(entity)].temporaries[number] = nil
        } else {
            references.remove(object, entity, key)
        }
    }

    /// Notes that an object was inserted, or got another row.
    mutating func noteChanged(_ entity: EntityRuntime, _ key: ObjectKey) {
        guard let place = tables.place(entity.index) else { return }
        for index in tables[place].indexes.indices { tables[place].indexes[index].noteChanged(key) }
    }

    /// The objects of stored rows that have the values in the given columns.
    mutating func objects(
        _ entity: EntityRuntime, where columns: [Int], equal values: ObjectKey
    ) throws -> [DatabaseObject] {
        if columns == entity.key { return object(entity, values).map { [$0] } ?? [] }
        references.noteIndexed()
        let place = place(entity)
        let index = tables[place].indexes.firstIndex { $0.columns == columns } ?? tables[place].indexes.count
        if index == tables[place].indexes.count { tables[place].indexes.append(ColumnIndex(columns)) }
        guard let keys = try tables[place].indexes[index].keys(values, references, entity) else {
            return try references.objects(of: entity).filter {
                try !$0.isStale && ObjectKey($0.storedRow, columns) == values
            }
        }
        var objects: [DatabaseObject] = []
        for key in keys {
            if let object = references.object(entity, key), try ObjectKey(object.storedRow, columns) == values {
                if !object.isStale { objects.append(object) }
            } else {
                tables[place].indexes[index].remove(key, from: values)
            }
        }
        return objects
    }

    /// Every object of an entity in memory.
    func objects(of entity: EntityRuntime) -> [DatabaseObject] {
        let saved = references.objects(of: entity)
        return tables.place(entity.index).map { saved + tables[$0].temporaries.values } ?? saved
    }

    /// Whether a row was deleted after a time.
    func isDeleted(_ entity: EntityRuntime, _ key: ObjectKey, since time: ContextTime) -> Bool {
        read(entity, orNone: false) { $0.deletedAt > time && $0.deleted[key]?.counts(since: time) == true }
    }

    /// The rows deleted after a time, as a task in a transaction, or in none, sees it.
    func deletedKeys(_ entity: EntityRuntime, since time: ContextTime, in root: TransactionScope?) -> Set<ObjectKey> {
        read(entity, orNone: []) { table in
            if table.deletedAt <= time { return [] }
            return Set(table.deleted.lazy.filter { $0.value.counts(since: time, in: root) }.map(\.key))
        }
    }

    /// The rows deleted after a time; nil if notes have been evicted since.
    func deletedKeys(_ entity: EntityRuntime, since time: ContextTime) -> Set<ObjectKey>? {
        read(entity, orNone: []) { table in
            if table.forgottenAt > time { return nil }
            if table.deletedAt <= time { return [] }
            return Set(table.deleted.lazy.filter { $0.value.counts(since: time) }.map(\.key))
        }
    }

    mutating func noteDeleted(
        _ entity: EntityRuntime, _ key: ObjectKey, at time: ContextTime, in scope: TransactionScope? = nil
    ) {
        let place = placeToNote(entity)
        var deletion = Deletion(deletedAt: time, scope: scope)
        if let scope, var before = tables[place].deleted[key]?.valid {
            // Of the notes that can no longer be rolled back, only one is needed.
            if before.scope?.isRunning != true { before.former = nil }
            deletion.former = before.scope === scope ? before.former : Former(before)
        }
        tables[place].deleted[key] = deletion
        tables[place].deletedAt = max(time, tables[place].deletedAt)
        // A rollback needs it again.
        if scope == nil { tables[place].newerRows[key] = nil }
        if tables[place].deleted.count > maximumNotes { overfullEntity = entity }
    }

    /// Takes back the note that a row was deleted, until the scope that has stored it again is rolled back.
    mutating func noteStored(_ entity: EntityRuntime, _ key: ObjectKey, in scope: TransactionScope? = nil) {
        guard !read(entity, orNone: true, { $0.deleted.isEmpty }) else { return }
        let place = place(entity)
        guard let scope else {
            tables[place].deleted[key] = nil
            return
        }
        guard var deletion = tables[place].deleted[key]?.valid else { return }
        // A savepoint that only reads the row does not take the place of the scope that stored it.
        if deletion.storedIn.map(\.isUndone) ?? true { deletion.storedIn = scope }
        tables[place].deleted[key] = deletion
    }

    /// Whether notes on an entity's rows were evicted after a time: rows read before may be stale.
    func hasForgotten(_ entity: EntityRuntime, since time: ContextTime) -> Bool {
        isNoted && read(entity, orNone: false) { $0.forgottenAt > time }
    }

    func isDeleting(_ entity: EntityRuntime, _ key: ObjectKey) -> Bool {
        read(entity, orNone: false) { !$0.deleting.isEmpty && $0.deleting.contains(key) }
    }

    mutating func setDeleting(_ isDeleting: Bool, _ entity: EntityRuntime, _ keys: [ObjectKey]) {
        let place = placeToNote(entity)
        if isDeleting { tables[place].deleting.formUnion(keys) } else { tables[place].deleting.subtract(keys) }
    }

    /// The last untracked loss at a relationship's other end or in its helper.
    func lostRows(of relationship: RelationshipRuntime) -> ContextTime {
        if !isNoted { return .never }
        let time = lostRows(of: relationship.destination)
        guard let helper = relationship.helper else { return time }
        return max(time, lostRows(of: helper.entity))
    }

    private func lostRows(of entity: EntityRuntime) -> ContextTime {
        tables.place(entity.index).map { tables[$0].lostRows.at } ?? .never
    }

    /// Notes an untracked loss; returns the note before.
    mutating func noteLostRows(_ entity: EntityRuntime, at time: ContextTime, areInDoubt: Bool = false) -> LostRows {
        let place = placeToNote(entity)
        let before = tables[place].lostRows
        tables[place].lostRows = LostRows(at: time, doubtedAt: areInDoubt ? time : before.doubtedAt)
        return before
    }

    /// Takes back an untracked loss, unless a later one was noted.
    mutating func undoLostRows(_ entity: EntityRuntime, at time: ContextTime, _ before: LostRows) {
        let place = place(entity)
        if tables[place].lostRows.at == time { tables[place].lostRows = before }
    }

    /// When rows of an entity may last have changed or gone, not known which.
    func doubtedAt(_ entity: EntityRuntime) -> ContextTime {
        tables.place(entity.index).map { tables[$0].lostRows.doubtedAt } ?? .never
    }

    /// Answers for an owner's relationship read before this time are stale.
    func staleSince(_ relationship: RelationshipRuntime, _ owner: ObjectKey) -> ContextTime {
        if !isNoted { return .never }
        var time = tables.place(relationship.destination.index).map { tables[$0].forgottenAt } ?? .never
        if let helper = relationship.helper { time = max(time, lostRows(of: helper.entity)) }
        if relationship.model.isByView { time = max(time, writtenAt) }
        guard let place = tables.place(relationship.source.index) else { return time }
        time = max(time, tables[place].forgottenAt)
        return max(time, tables[place].logs[relationship.slot]?.staleSince(owner) ?? .never)
    }

    /// When all relationships of a row were dropped.
    func staleSince(_ entity: EntityRuntime, _ key: ObjectKey) -> ContextTime {
        read(entity, orNone: .never) { $0.refreshed.isEmpty ? .never : $0.refreshed[key] ?? .never }
    }

    /// The last change in an owner's relationship or at its other end.
    func changedAt(_ relationship: RelationshipRuntime, _ owner: ObjectKey) -> ContextTime {
        if !isNoted { return .never }
        let time = max(lostRows(of: relationship), staleSince(relationship, owner))
        guard let place = tables.place(relationship.source.index) else { return time }
        return max(time, tables[place].logs[relationship.slot]?.changedAt(owner) ?? .never)
    }

    /// The entries of an owner's relationship after a time.
    func entries(
        _ relationship: RelationshipRuntime, _ owner: ObjectKey, since time: ContextTime
    ) -> ArraySlice<RelationshipLog.Entry> {
        guard isNoted, let place = tables.place(relationship.source.index) else { return [] }
        return tables[place].logs[relationship.slot]?.entries(owner, since: time) ?? []
    }

    /// The entries on one row in an owner's relationship, the latest first.
    func entries(
        _ relationship: RelationshipRuntime, _ owner: ObjectKey, of member: ObjectKey
    ) -> [RelationshipLog.Entry] {
        guard let place = tables.place(relationship.source.index) else { return [] }
        return tables[place].logs[relationship.slot]?.entries(owner, of: member) ?? []
    }

    /// Changes the log of a relationship.
    mutating func note(_ relationship: RelationshipRuntime, _ body: (inout RelationshipLog) -> Void) {
        let (entity, slot) = (relationship.source, relationship.slot)
        let place = placeToNote(entity)
        body(&tables[place].logs[slot, default: RelationshipLog()])
        if tables[place].logs[slot, default: RelationshipLog()].count > maximumEntries { overfullEntity = entity }
    }

    /// Notes a write: relationships of views become stale.
    mutating func noteWritten(at time: ContextTime) {
        isNoted = true
        writtenAt = time
    }

    /// Notes that all relationships of a row were dropped.
    mutating func noteRefreshed(_ entity: EntityRuntime, _ key: ObjectKey, at time: ContextTime) {
        let place = placeToNote(entity)
        tables[place].refreshed[key] = time
        if tables[place].refreshed.count > maximumNotes { overfullEntity = entity }
    }

    /// Moves the entries of a new row, which has got its key, to that key.
    mutating func renameOwner(_ entity: EntityRuntime, _ temporary: ObjectKey, _ row: Row) {
        guard isNoted, let place = tables.place(entity.index) else { return }
        for slot in tables[place].logs.keys {
            guard let key = try? entity.relationships[slot].ownKey(row) else { continue }
            tables[place].logs[slot]?.rename(temporary, to: key)
        }
    }

    /// The newer row that a released object left behind, if any.
    func newerRow(_ entity: EntityRuntime, _ key: ObjectKey) -> NewerRow? {
        read(entity, orNone: nil) { $0.newerRows.isEmpty ? nil : $0.newerRows[key] }
    }

    /// Keeps or removes the row of a released object, newer than the one that its sets hold.
    mutating func setNewerRow(_ newer: NewerRow?, _ entity: EntityRuntime, _ key: ObjectKey) {
        if newer == nil, read(entity, orNone: true, { $0.newerRows.isEmpty }) { return }
        let place = placeToNote(entity)
        tables[place].newerRows[key] = newer
        if tables[place].newerRows.count > maximumNotes { overfullEntity = entity }
    }

    /// Keeps the row of a released object.
    mutating func keepReleasedRow(_ left: ReleasedRow) {
        guard !left.entity.key.isEmpty, let key = try? ObjectKey(left.row, left.entity.key) else { return }
        setNewerRow(NewerRow(row: left.row, changedAt: left.changedAt), left.entity, key)
    }

    /// Evicts all notes on an entity's rows and relationships; one note replaces them: everything loaded before is
    /// stale.
    mutating func forgetNotes(of entity: EntityRuntime, at time: ContextTime) {
        let place = placeToNote(entity)
        tables[place].newerRows = [:]
        tables[place].deleted = [:]
        tables[place].logs = [:]
        tables[place].refreshed = [:]
        tables[place].lostRows.at = time
        tables[place].forgottenAt = time
        overfullEntity = nil
    }

    /// Whether any row of an entity has an object.
    func holdsObjects(of entity: EntityRuntime) -> Bool {
        if let place = tables.place(entity.index), !tables[place].temporaries.isEmpty { return true }
        return references.count(of: entity) > 0
    }

    /// Whether any row of an entity has an object, or has left a newer row behind.
    func holdsRows(of entity: EntityRuntime) -> Bool {
        if let place = tables.place(entity.index), !tables[place].newerRows.isEmpty { return true }
        return holdsObjects(of: entity)
    }

    /// Applies the notes on a row to an object made from an answer.
    ///
    /// - Returns: The noted row, if the answer's row is newer and replaces it.
    mutating func tellNotes(
        to object: DatabaseObject, _ key: ObjectKey, askedAt: ContextTime, in scope: TransactionScope?
    ) -> NewerRow? {
        let entity = object.runtime
        guard hasNotes(entity) else { return nil }
        noteStored(entity, key, in: scope)
        if let newer = newerRow(entity, key), newer.changedAt > askedAt { object.withState { $0.show(newer) } }
        if isDeleting(entity, key) { object.markDeleting() }
        return noteRead(object.storedRow, entity, key, askedAt: askedAt)
    }

    /// Replaces a noted row by one that was read later.
    ///
    /// - Returns: The noted row, if it was replaced.
    mutating func noteRead(_ row: Row, _ entity: EntityRuntime, _ key: ObjectKey, askedAt: ContextTime) -> NewerRow? {
        guard let newer = newerRow(entity, key), newer.changedAt <= askedAt, !row.hasSameBytes(as: newer.row) else {
            return nil
        }
        setNewerRow(NewerRow(row: row, changedAt: askedAt), entity, key)
        return newer
    }
}
