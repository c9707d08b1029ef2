import KindredPostgres

/// The changes of one relationship by this context, by owner.
///
/// An entry does not say whether a row is a member now, only that readers must check it again. A superfluous entry
/// costs one comparison and does no harm.
struct RelationshipLog: Sendable {
    /// A row that joined an owner, left it, or may have.
    struct Entry: Sendable {
        /// The key of the row at the other end.
        let member: ObjectKey
        /// The row's previous key, by which older answers know it.
        var former: ObjectKey?
        /// The row as stored; nil if unknown or not stored.
        var row: Row?
        /// Whether the row was deleted.
        var isDeletion = false
        /// Whether a pair of a many-to-many relationship exists; nil if rows or staged pairs decide.
        var isPaired: Bool?
        /// The transaction that stored the row: after its rollback only `member` is valid.
        var scope: TransactionScope?
        fileprivate(set) var changedAt: ContextTime = .never

        /// Whether the entry has not been rolled back.
        var counts: Bool { scope?.isUndone != true }

        /// The entry for the row's previous key; nil if the key did not change.
        var departure: Entry? {
            guard let former else { return nil }
            return Entry(
                member: former, isDeletion: true, isPaired: isPaired.map { _ in false }, scope: scope,
                changedAt: changedAt)
        }
    }

    private struct Owner {
        var entries: [Entry] = []
        /// Answers read before this time are stale.
        var staleSince: ContextTime = .never
    }

    private var owners: [ObjectKey: Owner] = [:]
    /// Answers for any owner read before this time are stale.
    private var staleSince: ContextTime = .never
    /// The number of entries and stale owners.
    private(set) var count = 0

    mutating func append(_ entry: Entry, of owner: ObjectKey, at time: ContextTime) {
        var entry = entry
        entry.changedAt = time
        owners[owner, default: Owner()].entries.append(entry)
        count += 1
    }

    mutating func noteStale(_ owner: ObjectKey, at time: ContextTime) {
        // A stale answer needs no entries.
        owners[owner] = Owner(entries: [], staleSince: time)
        count += 1
    }

    mutating func noteAllStale(at time: ContextTime) {
        self = RelationshipLog()
        staleSince = time
    }

    /// Moves the entries of a new owner to the key that it has got.
    mutating func rename(_ temporary: ObjectKey, to key: ObjectKey) {
        guard let left = owners.removeValue(forKey: temporary) else { return }
        let known = owners[key] ?? Owner()
        let entries = (known.entries + left.entries).sorted { $0.changedAt < $1.changedAt }
        owners[key] = Owner(entries: entries, staleSince: max(left.staleSince, known.staleSince))
    }

    /// Answers for an owner read before this time are stale.
    func staleSince(_ owner: ObjectKey) -> ContextTime {
        owners.isEmpty ? staleSince : max(staleSince, owners[owner]?.staleSince ?? .never)
    }

    /// The time of the last note on an owner.
    func changedAt(_ owner: ObjectKey) -> ContextTime {
        if owners.isEmpty { return staleSince }
        return max(staleSince(owner), owners[owner]?.entries.last?.changedAt ?? .never)
    }

    /// The entries of an owner after a time, in their order.
    func entries(_ owner: ObjectKey, since time: ContextTime) -> ArraySlice<Entry> {
        guard !owners.isEmpty, let entries = owners[owner]?.entries else { return [] }
        let newer = entries.reversed().prefix { $0.changedAt > time }.count
        return entries.suffix(newer)
    }

    /// All entries of an owner about a row, the latest first.
    ///
    /// A change of the row's key counts as a deletion under the former key.
    func entries(_ owner: ObjectKey, of member: ObjectKey) -> [Entry] {
        owners[owner]?.entries.reversed().compactMap { entry in
            if entry.member == member { return entry }
            return entry.former == member ? entry.departure : nil
        } ?? []
    }
}
