import KindredPostgres

/// The changes of rows that a context has learnt of, in the order in which it learnt of them.
///
/// A writer appends changes, and does nothing else. The user of an answer looks here for the changes since it was asked for. A
/// change of a scope that was rolled back counts no longer; nothing has to be taken back.
package struct ChangeLog {
    /// The changes of one entity's rows.
    private struct Table {
        var changes = RowChanges()
        /// The changes at owners of the entity's relationships, as far as these were asked for.
        var members: [MemberChanges] = []
        /// The rows whose relationships are all stale, because the row was to be read again.
        var staleRows: [ObjectKey: ContextTime] = [:]
        /// Whether a question reads the entity's rows, so that an answer may lack a new row.
        var isRead = false
    }

    private var tables = EntityTables<Table>()
    private(set) var parts = LoadedParts()
    /// The limit of entries of an entity, so that the memory of a long-lived context is bounded.
    var maximumEntries = 10_000
    /// Counts the changes that may have made an answer stale, instead of correcting it.
    private(set) var staleCount = 0
    /// Since when relationships of views may show other rows, because something was written.
    private(set) var viewsStaleSince: ContextTime = .never
    private var hasEntries = false
    /// The time of the last entry.
    private var appendedAt: ContextTime = .never
    private var isReadByViews = false

    private func table(_ entity: EntityRuntime) -> Int? { tables.place(entity.index) }

    private mutating func tableToMake(_ entity: EntityRuntime) -> Int { tables.place(entity.index, orMake: Table()) }

    // MARK: Writing

    /// Whether anything of an entity has happened, or a question about its relationships was asked.
    func knows(_ entity: EntityRuntime) -> Bool { table(entity) != nil }

    /// Whether anything was ever appended; a context that only reads skips the look-ups.
    var isEmpty: Bool { !hasEntries }

    /// Whether a new row of an entity may be missing in an answer, or has the key of a row of which something is known.
    func mayLack(newRowsOf entity: EntityRuntime) -> Bool {
        if isReadByViews { return true }
        return table(entity).map { tables[$0].isRead || !tables[$0].changes.isEmpty } ?? false
    }

    /// Appends an entry; returns whether the log was cut, so that earlier answers are stale.
    mutating func append(_ entry: Entry) -> Bool {
        let entity = entry.event.entity
        let place = tableToMake(entity)
        hasEntries = true
        appendedAt = entry.at
        if entry.event.mayMakeStale { staleCount += 1 }
        if case .gap(let gap) = entry.event, case .relationships(let key) = gap.rows {
            tables[place].staleRows[key] = entry.at
            guard tables[place].staleRows.count > maximumEntries else { return false }
            tables[place].staleRows = [:]
            tables[place].changes.forget(at: entry.at)
            return true
        }
        tables[place].changes.append(entry)
        if case .gap(let gap) = entry.event, case .everything = gap.rows { tables[place].staleRows = [:] }
        guard tables[place].changes.count > maximumEntries else { return false }
        tables[place].changes.cut()
        staleCount += 1
        return true
    }

    /// Notes a write that views may show: answers about their relationships are stale.
    mutating func appendWriteThroughViews(at time: ContextTime) {
        hasEntries = true
        staleCount += 1
        viewsStaleSince = time
        appendedAt = time
    }

    /// Notes that an answer may have become stale.
    mutating func becomeStale() { staleCount += 1 }

    /// Whether the log of an entity would be cut with some more entries.
    package func isCrowded(_ entity: EntityRuntime, by more: Int) -> Bool {
        (table(entity).map { tables[$0].changes.count } ?? 0) + more > maximumEntries
    }

    // MARK: Asking

    /// Called before a question about a relationship is sent: from now on its owners' changes are looked for.
    mutating func willAsk(_ relationship: RelationshipRuntime) {
        let place = tableToMake(relationship.source)
        // The row at the end of a foreign key is the same row, whatever happens to it.
        if relationship.holdsForeignKey { return }
        guard !tables[place].members.contains(where: { $0.relationship === relationship }) else { return }
        let asked = MemberChanges(of: relationship)
        tables[place].members.append(asked)
        for entity in asked.entities { tables[tableToMake(entity)].isRead = true }
    }

    /// Called before a part of a relationship is asked for.
    mutating func willAsk(_ query: PartQuery, in runtime: SchemaRuntime, at time: ContextTime) -> LoadedParts.Part {
        willAsk(query.relationship)
        let part = parts.part(query, in: runtime, at: time)
        // A new part has not taken any entry.
        parts.takenAt = .never
        if query.reads.isAnything { isReadByViews = true }
        for entity in part.entities { tables[tableToMake(entity)].isRead = true }
        return part
    }

    /// The place of the changes at owners of a relationship, brought up to date; nil if it was never asked for.
    private mutating func upToDate(_ relationship: RelationshipRuntime) -> (table: Int, place: Int)? {
        guard let table = table(relationship.source),
            let place = tables[table].members.firstIndex(where: { $0.relationship === relationship })
        else { return nil }
        if tables[table].members[place].takenAt == appendedAt { return (table, place) }
        tables[table].members[place].takenAt = appendedAt
        let members = newEntries(for: 0, of: (table, place))
        let pairs = tables[table].members[place].entities.count > 1 ? newEntries(for: 1, of: (table, place)) : []
        tables[table].members[place].take(members, pairs)
        return (table, place)
    }

    /// The entries on the rows of an entity that are new to the changes of a relationship; they count as taken.
    private mutating func newEntries(for number: Int, of found: (table: Int, place: Int)) -> ArraySlice<Entry> {
        let (table, place) = found
        guard let source = self.table(tables[table].members[place].entities[number]) else { return [] }
        let next = tables[table].members[place].next[number]
        guard tables[source].changes.end > next else { return [] }
        tables[table].members[place].next[number] = tables[source].changes.end
        return tables[source].changes.entries(from: next)
    }

    private mutating func bringPartsUpToDate() {
        if parts.takenAt == appendedAt { return }
        parts.takenAt = appendedAt
        let tables = tables
        parts.take { entity, next in
            guard let place = tables.place(entity.index), tables[place].changes.end > next else { return nil }
            return (tables[place].changes.entries(from: next), tables[place].changes.end)
        }
    }

    // MARK: Rows

    /// Whether there are entries that concern new objects of an entity; if not, they skip the look-up.
    func hasEntries(of entity: EntityRuntime) -> Bool {
        guard hasEntries, let place = table(entity) else { return false }
        return !tables[place].changes.isEmpty || tables[place].changes.forgottenAt > .never
    }

    /// The last entry on a row that was not rolled back, as a task sees it.
    ///
    /// - Parameter isHidden: whether the task does not see the changes of a scope.
    private mutating func last(
        _ entity: EntityRuntime, _ key: ObjectKey, isHidden: (TransactionScope) -> Bool = { _ in false }
    ) -> Entry? {
        guard hasEntries, let place = table(entity) else { return nil }
        return tables[place].changes.last(key, isHidden: isHidden)
    }

    /// The last row of a key, if it is newer than in answers, and the time before which answers lack it.
    mutating func row(_ entity: EntityRuntime, _ key: ObjectKey) -> (row: Row, changedAt: ContextTime)? {
        guard let entry = last(entity, key), case .row(let change, _) = entry.event, !entry.isDeletion(of: key) else {
            return nil
        }
        return change.after.map { ($0, entry.countsFrom) }
    }

    /// The change that a row of an answer shows; nil if the log has that row, has a later one, or has none.
    ///
    /// - Parameter isHidden: whether the task does not see the changes of a scope.
    mutating func newerRow(
        _ row: Row, of entity: EntityRuntime, _ key: ObjectKey, askedAt: ContextTime,
        isHidden: (TransactionScope) -> Bool = { _ in false }
    ) -> Event? {
        guard let last = last(entity, key), last.countsFrom <= askedAt, last.scope.map(isHidden) != true,
            case .row(let change, _) = last.event
        else { return nil }
        // A row that was deleted is there again.
        guard let former = change.after, !last.isDeletion(of: key) else {
            return .row(RowChange(of: entity, key: key, from: nil, to: row), at: nil)
        }
        if row.hasSameBytes(as: former) { return nil }
        // Left-out columns keep their values, unless the row has changed since: other answers have them.
        let whole = row.leavesOut ? entity.completed(row, by: former) ?? row : row
        if whole.hasSameBytes(as: former) { return nil }
        return .row(RowChange(of: entity, key: key, from: former, to: whole), at: nil)
    }

    /// Whether a row was deleted after a time, as a task in a transaction, or in none, sees it.
    mutating func isDeleted(
        _ entity: EntityRuntime, _ key: ObjectKey, since time: ContextTime,
        isHidden: (TransactionScope) -> Bool = { _ in false }
    ) -> Bool {
        guard hasEntries, let place = table(entity) else { return false }
        return tables[place].changes.isDeleted(key, since: time, isHidden: isHidden)
    }

    /// Whether a running transaction has written or deleted a row.
    mutating func isBeingWritten(_ entity: EntityRuntime, _ key: ObjectKey) -> Bool {
        last(entity, key)?.scope?.isRunning == true
    }

    /// The rows deleted after a time, as a task sees it.
    mutating func deletedKeys(
        _ entity: EntityRuntime, since time: ContextTime, isHidden: (TransactionScope) -> Bool
    ) -> Set<ObjectKey> {
        guard hasEntries, let place = table(entity) else { return [] }
        return tables[place].changes.deletedKeys(since: time, isHidden: isHidden)
    }

    /// The rows deleted after a time; nil if it is not known which.
    mutating func deletedKeys(_ entity: EntityRuntime, since time: ContextTime) -> Set<ObjectKey>? {
        if forgottenAt(entity) > time { return nil }
        return deletedKeys(entity, since: time) { _ in false }
    }

    /// The last time at which everything that was known of an entity may have changed.
    func forgottenAt(_ entity: EntityRuntime) -> ContextTime {
        table(entity).map { tables[$0].changes.forgottenAt } ?? .never
    }

    // MARK: Answers

    // An answer asked at t is valid for a scope (a row, an owner's relationship, an entity, everything) unless that scope, or one
    // around it, has a `staleSince` later than t. Changes that entries can correct make no answer stale.

    /// Since when answers with rows of an entity are stale.
    func staleSince(rowsOf entity: EntityRuntime) -> ContextTime {
        guard hasEntries, let place = table(entity) else { return .never }
        return max(tables[place].changes.forgottenAt, tables[place].changes.someChangedAt)
    }

    /// Since when answers with rows at a relationship's other end are stale.
    func staleSince(destinationOf relationship: RelationshipRuntime) -> ContextTime {
        if !hasEntries { return .never }
        let time = staleSince(rowsOf: relationship.destination)
        return relationship.model.isByView ? max(time, viewsStaleSince) : time
    }

    /// Since when answers for an owner's relationship are stale, apart from changes of the rows in them.
    mutating func staleSince(_ relationship: RelationshipRuntime, _ owner: ObjectKey) -> ContextTime {
        if !hasEntries { return .never }
        var time = max(forgottenAt(relationship.destination), forgottenAt(relationship.source))
        if relationship.model.isByView { time = max(time, viewsStaleSince) }
        // A pair is gone, and it is not known which.
        if let helper = relationship.helper { time = max(time, lostAt(helper.entity)) }
        guard let (table, place) = upToDate(relationship) else { return time }
        return max(time, tables[table].members[place].staleSince(owner))
    }

    /// Since when answers for every relationship of a row are stale.
    func staleSince(_ entity: EntityRuntime, _ key: ObjectKey) -> ContextTime {
        guard let place = table(entity), !tables[place].staleRows.isEmpty else { return .never }
        return tables[place].staleRows[key] ?? .never
    }

    /// Since when answers for a part of an owner are stale.
    mutating func staleSince(_ part: LoadedParts.Part, _ owner: ObjectKey) -> ContextTime {
        bringPartsUpToDate()
        let time = max(changedAt(part.query.relationship, owner), parts.staleSince(part, owner))
        if part.query.reads.isAnything { return max(time, appendedAt) }
        return part.entities.reduce(time) { max($0, forgottenAt($1)) }
    }

    /// The last change in an owner's relationship or at its other end: counts, which no entry corrects, are stale before.
    package mutating func changedAt(_ relationship: RelationshipRuntime, _ owner: ObjectKey) -> ContextTime {
        if !hasEntries { return .never }
        let time = max(lostAt(relationship), staleSince(relationship, owner))
        guard let (table, place) = upToDate(relationship) else { return time }
        return max(time, tables[table].members[place].changedAt(owner))
    }

    /// The last time at which rows at a relationship's other end, or in its helper, were lost.
    func lostAt(_ relationship: RelationshipRuntime) -> ContextTime {
        if !hasEntries { return .never }
        let time = lostAt(relationship.destination)
        guard let helper = relationship.helper else { return time }
        return max(time, lostAt(helper.entity))
    }

    private func lostAt(_ entity: EntityRuntime) -> ContextTime {
        table(entity).map { max(tables[$0].changes.lostAt, tables[$0].changes.forgottenAt) } ?? .never
    }

    // MARK: Members

    /// The entries of an owner's relationship after a time.
    mutating func entries(
        _ relationship: RelationshipRuntime, _ owner: ObjectKey, since time: ContextTime
    ) -> ArraySlice<MemberChanges.Entry> {
        guard hasEntries, let (table, place) = upToDate(relationship) else { return [] }
        return tables[table].members[place].entries(owner, since: time)
    }

    /// The entries on one row in an owner's relationship, the latest first.
    mutating func entries(
        _ relationship: RelationshipRuntime, _ owner: ObjectKey, of member: ObjectKey
    ) -> [MemberChanges.Entry] {
        guard let (table, place) = upToDate(relationship) else { return [] }
        return tables[table].members[place].entries(owner, of: member)
    }

    /// The rows that came to any owner after a time, while it is not known from where: answers may have them at former owners.
    mutating func movedKeys(_ relationship: RelationshipRuntime, since time: ContextTime) -> [ObjectKey] {
        guard hasEntries, let (table, place) = upToDate(relationship) else { return [] }
        return tables[table].members[place].movedKeys(since: time)
    }
}
