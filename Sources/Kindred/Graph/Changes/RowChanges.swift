import KindredPostgres

/// The entries of a log on one entity's rows.
struct RowChanges {
    /// The numbers of the entries on one key.
    private struct Numbers {
        var last: Int
        /// Nearly always none.
        var earlier: [Int] = []
    }

    private var entries: [ChangeLog.Entry] = []
    /// The number of the first entry; entries that were cut had smaller numbers.
    private(set) var first = 0
    // Made when they are first needed.
    private var keys: [ObjectKey: Numbers] = [:]
    private var deletions: [Int] = []
    /// The number of the first entry that is not in `keys` yet.
    private var nextKeyed = 0
    /// The last time at which unknown rows went: counts, and answers that a group shares, lack it.
    ///
    /// Apart from `someChangedAt`, because the answers that owners keep are corrected by key: after such a deletion they are
    /// shown without a statement.
    private var lost = ScopedTime()
    /// The last time at which unknown rows changed: every earlier answer with rows of the entity is stale.
    private var changed = ScopedTime()
    /// The last time at which everything may have changed, or the entries were cut: everything earlier is stale.
    private(set) var forgottenAt: ContextTime = .never

    var isEmpty: Bool { entries.isEmpty }
    var count: Int { entries.count }
    /// The number of the next entry.
    var end: Int { first + entries.count }
    var lostAt: ContextTime { lost.time }
    var someChangedAt: ContextTime { changed.time }

    mutating func append(_ entry: ChangeLog.Entry) {
        guard case .gap(let gap) = entry.event else { return entries.append(entry) }
        switch gap.rows {
        case .everything: return forget(at: entry.at)
        case .some:
            changed.advance(to: entry.at, in: entry.scope)
            lost.advance(to: entry.at, in: entry.scope)
        case .deleted: lost.advance(to: entry.at, in: entry.scope)
        case .members, .shown, .moved, .ofParts, .relationships: break
        }
        entries.append(entry)
    }

    /// Drops all entries: everything that was known before a time is stale.
    mutating func forget(at time: ContextTime) {
        first = end
        (entries, keys, deletions, nextKeyed) = ([], [:], [], first)
        forgottenAt = max(time, forgottenAt)
    }

    /// Drops the older half of the entries: everything that was known before the last of them is stale.
    mutating func cut() {
        let dropped = entries.count / 2
        guard dropped > 0 else { return }
        forgottenAt = max(entries[dropped - 1].at, forgottenAt)
        entries.removeFirst(dropped)
        first += dropped
        (keys, deletions, nextKeyed) = ([:], [], first)
    }

    /// The entries from a number on.
    func entries(from number: Int) -> ArraySlice<ChangeLog.Entry> { entries[max(0, number - first)...] }

    // MARK: Keys

    private mutating func addKeys() {
        while nextKeyed < end {
            let (number, entry) = (nextKeyed, entries[nextKeyed - first])
            nextKeyed += 1
            guard case .row(let change, _) = entry.event else { continue }
            if let former = change.formerKey, entry.isFormerKeyFree {
                add(number, to: former)
                deletions.append(number)
            }
            guard let key = change.key else { continue }
            add(number, to: key)
            if change.after == nil { deletions.append(number) }
        }
    }

    private mutating func add(_ number: Int, to key: ObjectKey) {
        func append(_ numbers: inout Numbers) {
            if numbers.last == number { return }
            numbers.earlier.append(numbers.last)
            numbers.last = number
        }
        append(&keys[key, default: Numbers(last: number)])
    }

    /// The last entry on a key that was not rolled back, as a task sees it.
    mutating func last(_ key: ObjectKey, isHidden: (TransactionScope) -> Bool) -> ChangeLog.Entry? {
        addKeys()
        guard let numbers = keys[key] else { return nil }
        func valid(_ number: Int) -> ChangeLog.Entry? {
            let entry = entries[number - first]
            guard let scope = entry.scope else { return entry }
            return scope.isUndone || isHidden(scope) ? nil : entry
        }
        if let last = valid(numbers.last) { return last }
        for number in numbers.earlier.reversed() {
            if let entry = valid(number) { return entry }
        }
        return nil
    }

    mutating func isDeleted(_ key: ObjectKey, since time: ContextTime, isHidden: (TransactionScope) -> Bool) -> Bool {
        guard let last = entries.last, last.at > time, let entry = self.last(key, isHidden: isHidden) else {
            return false
        }
        return entry.at > time && entry.isDeletion(of: key)
    }

    mutating func deletedKeys(since time: ContextTime, isHidden: (TransactionScope) -> Bool) -> Set<ObjectKey> {
        var deleted: Set<ObjectKey> = []
        guard let last = entries.last, last.at > time else { return deleted }
        addKeys()
        for number in deletions.reversed() {
            let entry = entries[number - first]
            guard entry.at > time else { break }
            guard case .row(let change, _) = entry.event, let key = change.after == nil ? change.key : change.formerKey,
                isDeleted(key, since: time, isHidden: isHidden)
            else { continue }
            deleted.insert(key)
        }
        return deleted
    }
}
