import KindredPostgres

/// Notes on rows, by entity and key: facts that their objects, if any, and the answers in memory lack.
struct RowNotes {
    struct Table {
        /// The rows of released objects, where newer than in loaded relationships.
        var newerRows: [ObjectKey: NewerRow] = [:]
        /// Deleted rows; loaded relationships may still hold them.
        var deleted: [ObjectKey: RowDeletion] = [:]
        /// The time of the last deletion.
        var deletedAt: ContextTime = .never
        /// Rows that a running deletion will delete.
        var deleting: Set<ObjectKey> = []
        /// Changes in relationships of this entity's rows, by slot.
        var logs: [Int: RelationshipLog] = [:]
        var lostRows = LostRows()
        /// Rows that other clients have stored or moved; answers may have them at former owners.
        var moved: [ObjectKey: ContextTime] = [:]
        /// The time of the last such change.
        var movedAt: ContextTime = .never
        /// The time of the last committed move whose former owner is unknown; counts asked before are stale.
        var leftAt: ContextTime = .never
        /// The time of the last committed change of unknown rows.
        var unknownAt: ContextTime = .never
        /// Rows whose relationships are all stale, because the row was to be read again.
        var staleRows: [ObjectKey: ContextTime] = [:]
        /// The time at which these notes were last evicted: rows and relationships read before are stale.
        var staleSince: ContextTime = .never
    }

    /// A context that only reads has none.
    var tables = EntityTables<Table>()
    /// Whether anything was ever noted; a context that only reads skips the look-ups.
    private(set) var isNoted = false
    /// The limit of notes of a kind per entity, so that the memory of a long-lived context is bounded.
    var maximumNotes = 10_000
    /// The limit of entries in a relationship's log.
    var maximumEntries = 50_000
    /// An entity over the limit of notes.
    private(set) var overfullEntity: EntityRuntime?
    /// Counts the notes that have made something stale.
    private(set) var staleCount = 0
    /// Since when relationships of views may show other rows, because something was written.
    private(set) var viewsStaleSince: ContextTime = .never

    /// Reads an entity's table.
    ///
    /// Copies the table, which costs more than a look-up; hot paths read `tables` directly.
    func read<T>(_ entity: EntityRuntime, orNone none: T, _ body: (borrowing Table) -> T) -> T {
        tables.place(entity.index).map { body(tables[$0]) } ?? none
    }

    /// The position of an entity's table, made if needed.
    private mutating func place(_ entity: EntityRuntime) -> Int {
        tables.place(entity.index, orMake: Table())
    }

    /// The position of an entity's table, for a note on its rows or their relationships.
    mutating func placeToNote(_ entity: EntityRuntime) -> Int {
        isNoted = true
        return place(entity)
    }

    /// Whether anything of an entity was noted, or its relationships were read.
    func knows(_ entity: EntityRuntime) -> Bool { tables.place(entity.index) != nil }

    /// Notes that relationships of an entity are read for rows that have no object.
    mutating func noteKnown(_ entity: EntityRuntime) { _ = place(entity) }

    /// Whether there are notes that concern new objects: on rows that were deleted, are being deleted, were left by
    /// released objects, or were changed by other clients.
    ///
    /// If not, new objects skip the look-up.
    func hasNotes(_ entity: EntityRuntime) -> Bool {
        guard isNoted, let place = tables.place(entity.index) else { return false }
        return !tables[place].newerRows.isEmpty || !tables[place].deleted.isEmpty || !tables[place].deleting.isEmpty
            || tables[place].unknownAt > .never
    }

    /// Whether a row was deleted after a time.
    func isDeleted(_ entity: EntityRuntime, _ key: ObjectKey, since time: ContextTime) -> Bool {
        read(entity, orNone: false) { $0.deletedAt > time && $0.deleted[key]?.counts(since: time) == true }
    }

    /// Whether a row was deleted after a time, as a task in a transaction, or in none, sees it.
    func isDeleted(
        _ entity: EntityRuntime, _ key: ObjectKey, since time: ContextTime, in root: TransactionScope?
    ) -> Bool {
        read(entity, orNone: false) { $0.deletedAt > time && $0.deleted[key]?.counts(since: time, in: root) == true }
    }

    /// Whether a running transaction has deleted a row.
    func isBeingDeleted(_ entity: EntityRuntime, _ key: ObjectKey) -> Bool {
        read(entity, orNone: false) { $0.deleted[key]?.valid?.scope?.isRunning == true }
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
            if table.staleSince > time { return nil }
            if table.deletedAt <= time { return [] }
            return Set(table.deleted.lazy.filter { $0.value.counts(since: time) }.map(\.key))
        }
    }

    mutating func noteDeleted(
        _ entity: EntityRuntime, _ key: ObjectKey, at time: ContextTime, in scope: TransactionScope? = nil
    ) {
        let place = placeToNote(entity)
        var deletion = RowDeletion(deletedAt: time, scope: scope)
        if let scope, var before = tables[place].deleted[key]?.valid {
            // Only the last deletion that can no longer be rolled back is needed.
            if before.scope?.isRunning != true { before.former = nil }
            deletion.former = before.scope === scope ? before.former : RowDeletion.Former(before)
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

    func isDeleting(_ entity: EntityRuntime, _ key: ObjectKey) -> Bool {
        read(entity, orNone: false) { !$0.deleting.isEmpty && $0.deleting.contains(key) }
    }

    mutating func setDeleting(_ isDeleting: Bool, of entity: EntityRuntime, keys: [ObjectKey]) {
        let place = placeToNote(entity)
        if isDeleting { tables[place].deleting.formUnion(keys) } else { tables[place].deleting.subtract(keys) }
    }

    // MARK: Rows newer than in answers

    /// Whether any released object of an entity left a newer row behind.
    func hasNewerRows(of entity: EntityRuntime) -> Bool {
        guard let place = tables.place(entity.index) else { return false }
        return !tables[place].newerRows.isEmpty
    }

    /// The newer row that a released object left behind, if any.
    func newerRow(_ entity: EntityRuntime, _ key: ObjectKey) -> NewerRow? {
        read(entity, orNone: nil) { $0.newerRows.isEmpty ? nil : $0.newerRows[key] }
    }

    /// Keeps or removes the row of a released object, newer than the row that its sets hold.
    mutating func setNewerRow(_ newer: NewerRow?, of entity: EntityRuntime, key: ObjectKey) {
        if newer == nil, read(entity, orNone: true, { $0.newerRows.isEmpty }) { return }
        let place = placeToNote(entity)
        tables[place].newerRows[key] = newer
        if tables[place].newerRows.count > maximumNotes { overfullEntity = entity }
    }

    /// Keeps the row of a released object.
    mutating func keepReleasedRow(_ left: ReleasedRow) {
        guard !left.entity.key.isEmpty, let key = try? ObjectKey(left.row, left.entity.key) else { return }
        setNewerRow(NewerRow(row: left.row, changedAt: left.changedAt), of: left.entity, key: key)
    }

    /// Replaces a noted row by a row that was read later.
    ///
    /// - Returns: The noted row, if it was replaced.
    mutating func noteRead(_ row: Row, of entity: EntityRuntime, key: ObjectKey, askedAt: ContextTime) -> NewerRow? {
        guard let newer = newerRow(entity, key), newer.changedAt <= askedAt, !row.hasSameBytes(as: newer.row) else {
            return nil
        }
        // Left-out columns keep their noted values, unless the row has changed since: other answers have them.
        let whole = row.leavesOut ? entity.completed(row, by: newer.row) ?? row : row
        if whole.hasSameBytes(as: newer.row) { return nil }
        setNewerRow(NewerRow(row: whole, changedAt: askedAt), of: entity, key: key)
        return newer
    }

    // MARK: Relationships

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
    mutating func noteInLog(_ relationship: RelationshipRuntime, _ body: (inout RelationshipLog) -> Void) {
        let (entity, slot) = (relationship.source, relationship.slot)
        let place = placeToNote(entity)
        body(&tables[place].logs[slot, default: RelationshipLog()])
        if tables[place].logs[slot, default: RelationshipLog()].count > maximumEntries { overfullEntity = entity }
    }

    /// Marks an owner's relationship as stale.
    mutating func noteStale(_ relationship: RelationshipRuntime, _ owner: ObjectKey, at time: ContextTime) {
        staleCount += 1
        noteInLog(relationship) { $0.noteStale(owner, at: time) }
    }

    /// Marks a relationship of all rows of its entity as stale.
    mutating func noteAllStale(_ relationship: RelationshipRuntime, at time: ContextTime) {
        staleCount += 1
        noteInLog(relationship) { $0.noteAllStale(at: time) }
    }

    /// Called when rows were lost, which makes answers stale.
    mutating func countStale() { staleCount += 1 }

    /// Whether there would be too many notes on an entity with some more.
    func isCrowded(_ entity: EntityRuntime, by more: Int) -> Bool {
        guard let place = tables.place(entity.index) else { return more > maximumNotes }
        let counts = [tables[place].newerRows.count, tables[place].deleted.count, tables[place].moved.count]
        return counts.contains { $0 + more > maximumNotes }
    }

    /// Whether a log of an entity's relationships would have too many entries with some more.
    func isLogCrowded(_ entity: EntityRuntime, by more: Int) -> Bool {
        guard let place = tables.place(entity.index) else { return false }
        return tables[place].logs.values.contains { $0.count + more > maximumEntries }
    }

    /// Moves the entries of a new row, which has got its key, to that key.
    mutating func renameOwner(_ temporary: ObjectKey, of entity: EntityRuntime, row: Row) {
        guard isNoted, let place = tables.place(entity.index) else { return }
        for slot in tables[place].logs.keys {
            guard let key = try? entity.relationships[slot].ownKey(row) else { continue }
            tables[place].logs[slot]?.rename(temporary, to: key)
        }
    }

    // MARK: Staleness

    /// Marks everything as stale that views show.
    mutating func noteViewsStale(at time: ContextTime) {
        isNoted = true
        staleCount += 1
        viewsStaleSince = time
    }

    /// Marks all relationships of a row as stale.
    mutating func noteStale(_ entity: EntityRuntime, _ key: ObjectKey, at time: ContextTime) {
        let place = placeToNote(entity)
        staleCount += 1
        tables[place].staleRows[key] = time
        if tables[place].staleRows.count > maximumNotes { overfullEntity = entity }
    }

    /// Evicts all notes on an entity's rows and relationships; one note replaces them: everything loaded before is
    /// stale.
    mutating func forgetNotes(of entity: EntityRuntime, at time: ContextTime) {
        let place = placeToNote(entity)
        staleCount += 1
        tables[place].newerRows = [:]
        tables[place].deleted = [:]
        tables[place].logs = [:]
        tables[place].staleRows = [:]
        tables[place].moved = [:]
        tables[place].lostRows.lostAt = time
        tables[place].staleSince = time
        overfullEntity = nil
    }

    // MARK: Changes of other clients

    /// Keeps a committed row without an object, unless the context may have a later row.
    ///
    /// - Parameter askedAt: a time before the row's snapshot.
    mutating func noteCommitted(
        _ row: Row, of entity: EntityRuntime, key: ObjectKey, askedAt: ContextTime, at time: ContextTime
    ) -> Bool {
        if isDeleted(entity, key, since: askedAt) { return false }
        if let newer = newerRow(entity, key), newer.changedAt > askedAt, !newer.row.hasSameBytes(as: row) {
            return false
        }
        // Also of a known row: answers that were asked before and have an older row lose to it.
        setNewerRow(NewerRow(row: row, changedAt: time), of: entity, key: key)
        noteStored(entity, key)
        return true
    }

    /// Notes that another client has stored or moved a row.
    mutating func noteMoved(_ entity: EntityRuntime, _ key: ObjectKey, at time: ContextTime) {
        let place = placeToNote(entity)
        tables[place].moved[key] = time
        tables[place].movedAt = time
        if tables[place].moved.count > maximumNotes { overfullEntity = entity }
    }

    /// Notes that another client has taken a row from an unknown owner.
    mutating func noteLeft(_ entity: EntityRuntime, at time: ContextTime) {
        tables[placeToNote(entity)].leftAt = time
    }

    /// The rows that other clients have stored or moved after a time: answers may have them at former owners.
    func movedKeys(_ entity: EntityRuntime, since time: ContextTime) -> [ObjectKey] {
        guard let place = tables.place(entity.index), tables[place].movedAt > time else { return [] }
        return tables[place].moved.filter { $0.value > time }.map(\.key)
    }

    /// Notes that another client has changed unknown rows: everything loaded before is stale.
    mutating func noteUnknownRows(_ entity: EntityRuntime, at time: ContextTime) {
        forgetNotes(of: entity, at: time)
        tables[placeToNote(entity)].unknownAt = time
    }

    /// Whether another client may have changed a row since it was read.
    func mayHaveChanged(_ entity: EntityRuntime, since time: ContextTime) -> Bool {
        guard let place = tables.place(entity.index) else { return false }
        return tables[place].unknownAt > time
    }
}
