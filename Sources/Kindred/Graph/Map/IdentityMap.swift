import KindredPostgres

/// A row that is newer than those which loaded relationships hold, and when it became that.
struct LatestRow: Sendable {
    let row: Row
    let changedAt: UInt64
}

/// What a changed object leaves behind when it goes out of memory.
struct LeftObject: Sendable {
    let entity: EntityRuntime
    let row: Row
    /// When the row became newer than loaded relationships may hold it.
    let changedAt: UInt64

    /// Nothing where there is no row any more, or none yet, or where what was read has it.
    init?(_ entity: EntityRuntime, _ state: ObjectState) {
        guard state.isNewer, state.status == .persistent else { return nil }
        self.entity = entity
        row = state.storedRow
        changedAt = state.seenAt
    }
}

/// When rows of an entity that nobody held last went without being named; 0 for never.
struct LostRows: Sendable {
    var at: UInt64 = 0
    /// When they last may have changed or gone, without its being known which.
    var doubtedAt: UInt64 = 0
}

/// One object per row, and what is known of rows that have no object.
///
/// Those that are new have temporary keys and are held, as they are by what is staged; others are held by whoever uses
/// them, and ``ObjectReferences`` finds them. Objects are only added under this map's lock.
struct IdentityMap {
    private struct Deletion {
        let at: UInt64
        /// Where it happened: if that is undone, the row is there.
        let scope: TransactionScope?

        func isRunning(besides root: TransactionScope?) -> Bool {
            scope.map { $0.root !== root && $0.isRunning } ?? false
        }

        func counts(since time: UInt64) -> Bool { at > time && scope?.isUndone != true }
    }

    private struct Table {
        /// New objects by the numbers of their temporary keys, until they are saved or given up.
        var temporaries: [Int64: DatabaseObject] = [:]
        /// Rows newer than those that loaded relationships hold, of objects that are gone from memory.
        var latestRows: [ObjectKey: LatestRow] = [:]
        /// Rows that were deleted, and when; loaded relationships may still hold them.
        var deleted: [ObjectKey: Deletion] = [:]
        /// When the last of them was.
        var deletedAt: UInt64 = 0
        /// Rows that a deletion under way is going to take.
        var deleting: Set<ObjectKey> = []
        var lostRows = LostRows()
        /// What was changed in relationships of this entity's rows, by slot.
        var logs: [Int: RelationshipLog] = [:]
        /// When all relationships of a row were given up, because it was to be read again.
        var refreshed: [ObjectKey: UInt64] = [:]
        /// When all these notes were last given up; of what was asked for before, nothing is known.
        var forgottenAt: UInt64 = 0
        /// Other columns than the key that objects are looked up by.
        var indexes: [ColumnIndex] = []
    }

    private let references: ObjectReferences
    /// What is known beside objects with keys; a context that reads has none of these.
    private var tables = EntityTables<Table>()
    /// Whether anything was ever noted of rows without objects; where rows are only read there is nothing to look for.
    private var isNoted = false
    /// How many notes of a kind are kept of an entity: a context that lives long does not grow with all that it ever
    /// wrote.
    var maximumNotes = 10_000
    /// How many entries a relationship's log may have.
    var maximumEntries = 50_000
    /// When the context last wrote anything, where views have relationships: they may show other rows since; 0 for never.
    private(set) var writtenAt: UInt64 = 0
    /// An entity with more notes than that.
    private(set) var overfullEntity: Int?

    init(_ references: ObjectReferences) {
        self.references = references
    }

    /// What is known of an entity, or nothing.
    ///
    /// Copies the table, which costs more than a look-up; what is asked for each object goes straight to `tables`.
    private func read<T>(_ entity: Int, orNone none: T, _ body: (borrowing Table) -> T) -> T {
        tables.place(entity).map { body(tables[$0]) } ?? none
    }

    /// The place of an entity's table, which is made if there is none.
    private mutating func place(_ entity: Int) -> Int {
        tables.place(entity, orMake: Table())
    }

    /// The place of an entity's table, for a note on its rows or their relationships.
    private mutating func placeToNote(_ entity: Int) -> Int {
        isNoted = true
        return place(entity)
    }

    /// Whether the context may know anything of an entity: rows, or what relationships its rows have.
    func knows(_ entity: Int) -> Bool { tables.place(entity) != nil || references.knows(entity) }

    /// Whether the context may know anything of one of some entities.
    func knowsAny(of entities: [Int]) -> Bool { entities.contains { knows($0) } }

    /// Notes that relationships of an entity are asked for, of rows that have no object.
    mutating func noteKnown(_ entity: Int) { _ = place(entity) }

    func object(_ entity: Int, _ key: ObjectKey) -> DatabaseObject? {
        guard case .temporary(let number) = key else { return references.object(entity, key) }
        return tables.place(entity).flatMap { tables[$0].temporaries[number] }
    }

    /// Whether anything is known of rows that were deleted, are about to be, or were left by objects that are gone: if
    /// not, new objects need not be looked for there.
    func hasNotes(_ entity: Int) -> Bool {
        guard isNoted, let place = tables.place(entity) else { return false }
        return !tables[place].latestRows.isEmpty || !tables[place].deleted.isEmpty || !tables[place].deleting.isEmpty
    }

    /// Prepares for objects that will be inserted.
    func makeRoom(for more: Int, of entity: EntityRuntime) {
        if more > 1 { references.reserve(more, of: entity) }
    }

    /// The object of a key, made if there is none.
    mutating func object(
        _ entity: Int,
        _ key: ObjectKey,
        orMake make: () throws -> DatabaseObject
    ) rethrows -> (object: DatabaseObject, isNew: Bool) {
        if let object = object(entity, key) { return (object, false) }
        let object = try make()
        insert(object, entity, key)
        return (object, true)
    }

    /// The objects of rows by their keys, each one integer, made where there is none; with the positions of those that
    /// there were.
    mutating func objects(
        _ entity: Int,
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
        // A result may have a row twice.
        let repeated = references.insert(objects, entity, keys)
        if references.isIndexed { for key in keys { noteChanged(entity, .integer(key)) } }
        for (position, object) in repeated {
            objects[position] = object
            known.append(position)
        }
        return (objects, known)
    }

    mutating func insert(_ object: DatabaseObject, _ entity: Int, _ key: ObjectKey) {
        if case .temporary(let number) = key {
            tables[place(entity)].temporaries[number] = object
        } else {
            references.insert(object, entity, key)
            if references.isIndexed { noteChanged(entity, key) }
        }
    }

    /// Forgets the key, if it stands for this object.
    mutating func remove(_ object: DatabaseObject, _ entity: Int, _ key: ObjectKey) {
        if case .temporary(let number) = key {
            tables[place(entity)].temporaries[number] = nil
        } else if references.object(entity, key) === object {
            references.remove(object, entity)
        }
    }

    /// Notes that an object has come, or has got another row.
    mutating func noteChanged(_ entity: Int, _ key: ObjectKey) {
        guard let place = tables.place(entity) else { return }
        for index in tables[place].indexes.indices { tables[place].indexes[index].noteChanged(key) }
    }

    /// The objects of stored rows that have the values in the given columns.
    mutating func objects(
        _ entity: EntityRuntime, where columns: [Int], equal values: ObjectKey
    ) throws -> [DatabaseObject] {
        if columns == entity.key { return object(entity.index, values).map { [$0] } ?? [] }
        references.noteIndexed()
        let place = place(entity.index)
        let index = tables[place].indexes.firstIndex { $0.columns == columns } ?? tables[place].indexes.count
        if index == tables[place].indexes.count { tables[place].indexes.append(ColumnIndex(columns)) }
        guard let keys = try tables[place].indexes[index].keys(values, references, entity.index) else {
            return try references.objects(of: entity.index).filter { try ObjectKey($0.storedRow, columns) == values }
        }
        var objects: [DatabaseObject] = []
        for key in keys {
            if let object = references.object(entity.index, key), try ObjectKey(object.storedRow, columns) == values {
                objects.append(object)
            } else {
                tables[place].indexes[index].remove(key, from: values)
            }
        }
        return objects
    }

    /// Every object of an entity that is still in memory.
    func objects(of entity: Int) -> [DatabaseObject] {
        let saved = references.objects(of: entity)
        return tables.place(entity).map { saved + tables[$0].temporaries.values } ?? saved
    }

    /// Whether a row was deleted after a time.
    func isDeleted(_ entity: Int, _ key: ObjectKey, since time: UInt64) -> Bool {
        read(entity, orNone: false) { $0.deletedAt > time && $0.deleted[key]?.counts(since: time) == true }
    }

    /// The rows that were deleted after a time as a task sees it that is in a transaction or in none.
    func deletedKeys(_ entity: Int, since time: UInt64, in root: TransactionScope?) -> Set<ObjectKey> {
        read(entity, orNone: []) { table in
            if table.deletedAt <= time { return [] }
            let seen = table.deleted.lazy.filter { $0.value.counts(since: time) && !$0.value.isRunning(besides: root) }
            return Set(seen.map(\.key))
        }
    }

    /// The rows that were deleted after a time; nil if there were more than are noted.
    func deletedKeys(_ entity: Int, since time: UInt64) -> Set<ObjectKey>? {
        read(entity, orNone: []) { table in
            if table.forgottenAt > time { return nil }
            if table.deletedAt <= time { return [] }
            return Set(table.deleted.lazy.filter { $0.value.counts(since: time) }.map(\.key))
        }
    }

    mutating func noteDeleted(_ entity: Int, _ key: ObjectKey, at time: UInt64, in scope: TransactionScope? = nil) {
        let place = placeToNote(entity)
        tables[place].deleted[key] = Deletion(at: time, scope: scope)
        tables[place].deletedAt = max(time, tables[place].deletedAt)
        tables[place].latestRows[key] = nil
        if tables[place].deleted.count > maximumNotes { overfullEntity = entity }
    }

    /// Forgets that a row was deleted: there is one again.
    mutating func noteStored(_ entity: Int, _ key: ObjectKey) {
        guard !read(entity, orNone: true, { $0.deleted.isEmpty }) else { return }
        tables[place(entity)].deleted[key] = nil
    }

    /// Whether notes of an entity's rows were given up after a time: rows that were read before may be older than known.
    func hasForgotten(_ entity: Int, since time: UInt64) -> Bool {
        isNoted && read(entity, orNone: false) { $0.forgottenAt > time }
    }

    func isDeleting(_ entity: Int, _ key: ObjectKey) -> Bool {
        read(entity, orNone: false) { !$0.deleting.isEmpty && $0.deleting.contains(key) }
    }

    mutating func setDeleting(_ isDeleting: Bool, _ entity: Int, _ keys: [ObjectKey]) {
        let place = placeToNote(entity)
        if isDeleting { tables[place].deleting.formUnion(keys) } else { tables[place].deleting.subtract(keys) }
    }

    /// When rows of a relationship's other end, or of its helper, went without being named; 0 for never.
    func lostRows(of relationship: RelationshipRuntime) -> UInt64 {
        if !isNoted { return 0 }
        let time = lostRows(of: relationship.destination)
        guard case .helper(let link) = relationship.link else { return time }
        return max(time, lostRows(of: link.entity))
    }

    private func lostRows(of entity: Int) -> UInt64 { tables.place(entity).map { tables[$0].lostRows.at } ?? 0 }

    /// Notes that rows went, and returns what was known before.
    mutating func noteLostRows(_ entity: Int, at time: UInt64, areInDoubt: Bool = false) -> LostRows {
        let place = placeToNote(entity)
        let before = tables[place].lostRows
        tables[place].lostRows = LostRows(at: time, doubtedAt: areInDoubt ? time : before.doubtedAt)
        return before
    }

    /// Takes back that rows went at a time, unless others have gone since.
    mutating func undoLostRows(_ entity: Int, at time: UInt64, _ before: LostRows) {
        let place = place(entity)
        if tables[place].lostRows.at == time { tables[place].lostRows = before }
    }

    /// When rows of an entity last may have changed or gone without its being known which; 0 for never.
    func doubtedAt(_ entity: Int) -> UInt64 { tables.place(entity).map { tables[$0].lostRows.doubtedAt } ?? 0 }

    /// When answers about an owner's relationship were last made useless; 0 for never.
    func staleAt(_ relationship: RelationshipRuntime, _ owner: ObjectKey) -> UInt64 {
        if !isNoted { return 0 }
        var time = tables.place(relationship.destination).map { tables[$0].forgottenAt } ?? 0
        if case .helper(let link) = relationship.link { time = max(time, lostRows(of: link.entity)) }
        if relationship.model.isByView { time = max(time, writtenAt) }
        guard let place = tables.place(relationship.source) else { return time }
        time = max(time, tables[place].forgottenAt)
        return max(time, tables[place].logs[relationship.slot]?.staleAt(owner) ?? 0)
    }

    /// When all relationships of a row were given up; 0 for never.
    func refreshedAt(_ entity: Int, _ key: ObjectKey) -> UInt64 {
        read(entity, orNone: 0) { $0.refreshed.isEmpty ? 0 : $0.refreshed[key] ?? 0 }
    }

    /// When anything was last changed in what an owner's relationship leads to; 0 for never.
    func changedAt(_ relationship: RelationshipRuntime, _ owner: ObjectKey) -> UInt64 {
        if !isNoted { return 0 }
        let time = max(lostRows(of: relationship), staleAt(relationship, owner))
        guard let place = tables.place(relationship.source) else { return time }
        return max(time, tables[place].logs[relationship.slot]?.changedAt(owner) ?? 0)
    }

    /// What was noted of an owner's relationship after a time.
    func entries(
        _ relationship: RelationshipRuntime, _ owner: ObjectKey, since time: UInt64
    ) -> ArraySlice<RelationshipLog.Entry> {
        guard isNoted, let place = tables.place(relationship.source) else { return [] }
        return tables[place].logs[relationship.slot]?.entries(owner, since: time) ?? []
    }

    /// What was noted of one row in an owner's relationship, the latest first.
    func entries(
        _ relationship: RelationshipRuntime, _ owner: ObjectKey, of member: ObjectKey
    ) -> [RelationshipLog.Entry] {
        guard let place = tables.place(relationship.source) else { return [] }
        return tables[place].logs[relationship.slot]?.entries(owner, of: member) ?? []
    }

    /// Notes something of a relationship of an entity's rows.
    mutating func note(_ entity: Int, slot: Int, _ body: (inout RelationshipLog) -> Void) {
        let place = placeToNote(entity)
        body(&tables[place].logs[slot, default: RelationshipLog()])
        if tables[place].logs[slot, default: RelationshipLog()].count > maximumEntries { overfullEntity = entity }
    }

    /// Notes that the context wrote something: relationships of views are asked for again.
    mutating func noteWritten(at time: UInt64) {
        isNoted = true
        writtenAt = time
    }

    /// Notes that all relationships of a row were given up.
    mutating func noteRefreshed(_ entity: Int, _ key: ObjectKey, at time: UInt64) {
        let place = placeToNote(entity)
        tables[place].refreshed[key] = time
        if tables[place].refreshed.count > maximumNotes { overfullEntity = entity }
    }

    /// A row that was new has got its key: what was noted of its relationships follows.
    mutating func renameOwner(_ entity: EntityRuntime, _ temporary: ObjectKey, _ row: Row) {
        guard isNoted, let place = tables.place(entity.index) else { return }
        for slot in tables[place].logs.keys {
            guard let key = try? ObjectKey(row, entity.relationships[slot].ownColumns) else { continue }
            tables[place].logs[slot]?.rename(temporary, to: key)
        }
    }

    /// The newer row that an object left behind, if any.
    func latestRow(_ entity: Int, _ key: ObjectKey) -> LatestRow? {
        read(entity, orNone: nil) { $0.latestRows.isEmpty ? nil : $0.latestRows[key] }
    }

    /// Keeps the row that a vanished object left behind, newer than the one its sets hold, or forgets what was kept.
    mutating func setLatestRow(_ latest: LatestRow?, _ entity: Int, _ key: ObjectKey) {
        if latest == nil, read(entity, orNone: true, { $0.latestRows.isEmpty }) { return }
        let place = placeToNote(entity)
        tables[place].latestRows[key] = latest
        if tables[place].latestRows.count > maximumNotes { overfullEntity = entity }
    }

    /// Notes the row of an object that is gone.
    mutating func take(_ left: LeftObject) {
        guard !left.entity.key.isEmpty, let key = try? ObjectKey(left.row, left.entity.key) else { return }
        setLatestRow(LatestRow(row: left.row, changedAt: left.changedAt), left.entity.index, key)
    }

    /// Gives up what is noted of each row and relationship of an entity, for one note: whatever was loaded before is
    /// read again.
    mutating func forgetNotes(of entity: Int, at time: UInt64) {
        let place = placeToNote(entity)
        tables[place].latestRows = [:]
        tables[place].deleted = [:]
        tables[place].logs = [:]
        tables[place].refreshed = [:]
        tables[place].lostRows.at = time
        tables[place].forgottenAt = time
        overfullEntity = nil
    }

    /// Whether any row of an entity has an object.
    func holdsObjects(of entity: Int) -> Bool {
        if let place = tables.place(entity), !tables[place].temporaries.isEmpty { return true }
        return references.count(of: entity) > 0
    }

    /// Whether any row of an entity has an object, or has left one behind.
    func holdsRows(of entity: Int) -> Bool {
        if let place = tables.place(entity), !tables[place].latestRows.isEmpty { return true }
        return holdsObjects(of: entity)
    }

    /// Tells an object that was made from an answer what was noted of its row.
    ///
    /// - Returns: The row that was noted, if that of the answer is newer and stands there now.
    mutating func tellNotes(to object: DatabaseObject, _ key: ObjectKey, askedAt: UInt64) -> LatestRow? {
        let entity = object.runtime.index
        guard hasNotes(entity) else { return nil }
        noteStored(entity, key)
        if let latest = latestRow(entity, key), latest.changedAt > askedAt { object.withState { $0.show(latest) } }
        if isDeleting(entity, key) { object.markDeleting() }
        return noteRead(object.storedRow, entity, key, askedAt: askedAt)
    }

    /// Notes a row that was read in place of an older one.
    ///
    /// - Returns: The row that was noted, if this one stands there now.
    mutating func noteRead(_ row: Row, _ entity: Int, _ key: ObjectKey, askedAt: UInt64) -> LatestRow? {
        guard let latest = latestRow(entity, key), latest.changedAt <= askedAt, !row.hasSameBytes(as: latest.row) else {
            return nil
        }
        setLatestRow(LatestRow(row: row, changedAt: askedAt), entity, key)
        return latest
    }
}
