import KindredPostgres

/// What this context has changed in one relationship since it began to look, by the keys of the owners.
///
/// An entry never says who is a member now. It says which row has to be looked at again, and whoever reads the set looks.
/// An entry too many therefore costs a comparison and can do no harm.
struct RelationshipLog: Sendable {
    /// A row that came to an owner, left it, or may have.
    struct Entry: Sendable {
        /// The key of the row at the other end.
        let member: ObjectKey
        /// The key by which older answers know that row, where it has got another one.
        var former: ObjectKey?
        /// The row as it was stored; nil where that is not known or has not happened.
        var row: Row?
        /// Whether the row was deleted.
        var isDeletion = false
        /// Whether a pair of a many-to-many relationship is there; nil where rows tell, or where staged pairs do.
        var isPaired: Bool?
        /// The transaction in which the row was stored: if that is undone, only `member` counts.
        var scope: TransactionScope?
        /// The context's clock.
        fileprivate(set) var time: UInt64 = 0

        /// Whether what it says of a row has not been undone.
        var counts: Bool { scope?.isUndone != true }

        /// What it says of the key that the row had before; nil where the row kept its key.
        var departure: Entry? {
            guard let former else { return nil }
            return Entry(
                member: former, isDeletion: true, isPaired: isPaired.map { _ in false }, scope: scope, time: time)
        }
    }

    private struct Owner {
        var entries: [Entry] = []
        /// Answers that were asked for before this are not to be used.
        var staleAt: UInt64 = 0
    }

    private var owners: [ObjectKey: Owner] = [:]
    /// Answers for any owner that were asked for before this are not to be used.
    private(set) var allStaleAt: UInt64 = 0
    /// How many entries and stale owners there are.
    private(set) var count = 0

    mutating func append(_ entry: Entry, of owner: ObjectKey, at time: UInt64) {
        var entry = entry
        entry.time = time
        owners[owner, default: Owner()].entries.append(entry)
        count += 1
    }

    mutating func noteStale(_ owner: ObjectKey, at time: UInt64) {
        // What was there before counts for no answer any more.
        owners[owner] = Owner(entries: [], staleAt: time)
        count += 1
    }

    mutating func noteAllStale(at time: UInt64) {
        self = RelationshipLog()
        allStaleAt = time
    }

    /// An owner that was new has got its key.
    mutating func rename(_ temporary: ObjectKey, to key: ObjectKey) {
        guard let left = owners.removeValue(forKey: temporary) else { return }
        let known = owners[key] ?? Owner()
        let entries = (known.entries + left.entries).sorted { $0.time < $1.time }
        owners[key] = Owner(entries: entries, staleAt: max(left.staleAt, known.staleAt))
    }

    /// When answers for an owner were last made useless; 0 for never.
    func staleAt(_ owner: ObjectKey) -> UInt64 {
        owners.isEmpty ? allStaleAt : max(allStaleAt, owners[owner]?.staleAt ?? 0)
    }

    /// When anything was last noted of an owner; 0 for never.
    func changedAt(_ owner: ObjectKey) -> UInt64 {
        if owners.isEmpty { return allStaleAt }
        return max(staleAt(owner), owners[owner]?.entries.last?.time ?? 0)
    }

    /// The entries of an owner that came after a time, in their order.
    func entries(_ owner: ObjectKey, since time: UInt64) -> ArraySlice<Entry> {
        guard !owners.isEmpty, let entries = owners[owner]?.entries else { return [] }
        let newer = entries.reversed().prefix { $0.time > time }.count
        return entries.suffix(newer)
    }

    /// All entries of an owner that speak of a row, the latest first.
    ///
    /// An entry that gave the row another key says of the former key that its row is gone.
    func entries(_ owner: ObjectKey, of member: ObjectKey) -> [Entry] {
        owners[owner]?.entries.reversed().compactMap { entry in
            if entry.member == member { return entry }
            return entry.former == member ? entry.departure : nil
        } ?? []
    }
}
