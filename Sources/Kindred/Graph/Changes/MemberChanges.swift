import KindredPostgres

/// The changes of one relationship by owner, found in the log at the next look.
///
/// An entry does not say whether a row is a member now, only that readers must check it again. A superfluous entry
/// costs one comparison and does no harm.
struct MemberChanges {
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
        /// Whether a pair of a many-to-many relationship exists; nil for other relationships, whose rows decide.
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

    let relationship: RelationshipRuntime
    /// The entities whose rows are read: the members, and a helper if that is another.
    let entities: [EntityRuntime]
    /// The numbers of the log's next entries for each entity.
    var next: [Int]
    /// The time of the log up to which entries were taken.
    var takenAt: ContextTime = .never
    private let reads: Reads
    private var owners: [ObjectKey: Owner] = [:]
    /// Answers for any owner read before this time are stale.
    private var staleSince: ContextTime = .never
    /// The last time at which a row left an owner that is not known: counts asked for before are stale.
    private var leftAt: ContextTime = .never
    /// The rows that came to an owner from an unknown owner, or went from an unknown owner: they may have come again.
    private var moved: [(key: ObjectKey, at: ContextTime)] = []
    /// The number of entries and stale owners.
    private var count = 0
    /// The limit of entries; with more, earlier answers are stale.
    private static let maximumEntries = 50_000

    init(of relationship: RelationshipRuntime) {
        self.relationship = relationship
        reads = Reads(membersOf: relationship)
        let helper = relationship.helper?.entity
        entities = [relationship.destination] + (helper.map { $0 === relationship.destination ? [] : [$0] } ?? [])
        next = entities.map { _ in 0 }
    }

    // MARK: Entries of the log

    /// Takes new entries, of the members' rows and of a helper's, in the order in which they came: what an entry makes stale needs
    /// the entries behind it.
    mutating func take(_ members: ArraySlice<ChangeLog.Entry>, _ pairs: ArraySlice<ChangeLog.Entry>) {
        var next = members.startIndex
        for pair in pairs {
            while next < members.endIndex, members[next].at <= pair.at {
                take(members[next])
                next += 1
            }
            take(pair)
        }
        for member in members[next...] { take(member) }
    }

    private mutating func take(_ entry: ChangeLog.Entry) {
        if count > Self.maximumEntries { becomeStale(at: entry.at) }
        switch entry.event {
        case .row(let change, let end):
            if relationship.helper == nil { return take(member: change, at: end, by: entry) }
            if change.entity === relationship.helper?.entity { take(helperRow: change, by: entry) }
            if change.entity === relationship.destination { take(pairedRow: change, by: entry) }
        case .pair(let pair):
            if pair.relationship === relationship {
                take(pair.destination, of: pair.source, isPaired: pair.isPaired, by: entry)
            } else if pair.relationship.inverse === relationship {
                take(pair.source, of: pair.destination, isPaired: pair.isPaired, by: entry)
            }
        case .gap(let gap):
            switch gap.rows {
            case .members(relationship, of: let owner?): becomeStale(owner, at: entry.at)
            case .members(relationship, of: nil), .shown: becomeStale(at: entry.at)
            case .moved(let key, let row):
                if relationship.helper == nil {
                    take(moved: key, row, by: entry)
                } else if gap.entity === relationship.destination, gap.entity.filter != nil {
                    becomeStale(at: entry.at)
                }
            case .members, .some, .deleted, .everything, .ofParts, .relationships: break
            }
        }
    }

    private mutating func take(
        _ member: ChangeLog.PairEnds.End, of owner: ChangeLog.PairEnds.End, isPaired: Bool, by entry: ChangeLog.Entry
    ) {
        let change = Entry(member: member.key, row: member.row, isPaired: isPaired, scope: entry.scope)
        append(change, of: owner.keys, at: entry.at)
    }

    /// Takes a change of a row whose foreign key leads to an owner.
    private mutating func take(member change: RowChange, at end: ChangeLog.OwnerKeys?, by entry: ChangeLog.Entry) {
        var owners: Set<ObjectKey> = []
        if let end, end.relationship === relationship { owners.formUnion(end.keys) }
        switch change.unknown {
        case .nothing:
            switch reads.concern(change.entity, from: change.before, to: change.after) {
            case .nothing: break
            case .owners(let concerned): owners.formUnion(concerned)
            case .rows, .everything: return becomeStale(at: entry.at)
            }
        case .before:
            if let key = change.key { take(moved: key, change.after, by: entry) }
        case .beforeUnmoved: break
        }
        guard !owners.isEmpty, let key = change.key else { return }
        let isDeletion = change.after == nil
        let member = Entry(
            member: key, former: change.formerKey, row: change.after ?? change.before, isDeletion: isDeletion,
            scope: entry.scope)
        append(member, of: owners, at: entry.at)
    }

    /// Takes a row that has come to an owner from an unknown owner, or went from it.
    private mutating func take(moved key: ObjectKey, _ row: Row?, by entry: ChangeLog.Entry) {
        if relationship.isComparedByServer { return becomeStale(at: entry.at) }
        if entry.isByOthers { leftAt = entry.at }
        moved.append((key, entry.at))
        count += 1
        guard let row, let owner = try? ObjectKey(row, relationship.linkColumns) else { return }
        append(Entry(member: key, row: row, scope: entry.scope), of: CollectionOfOne(owner), at: entry.at)
    }

    /// Takes a change of a row at the other end of pairs: which owners it is paired with is not known.
    ///
    /// The pairs of a new row come by themselves, and so do the pairs of a deleted one.
    private mutating func take(pairedRow change: RowChange, by entry: ChangeLog.Entry) {
        guard let row = change.after, let filter = relationship.destination.filter else { return }
        switch (change.unknown, change.before) {
        case (.nothing, let before?): if filter.columns.mayDiffer(from: before, to: row) { becomeStale(at: entry.at) }
        case (.before, _): becomeStale(at: entry.at)
        default: break
        }
    }

    /// Takes a change of a helper's row by its own table: pairs that other clients have stored are told as such.
    private mutating func take(helperRow change: RowChange, by entry: ChangeLog.Entry) {
        if change.isBeforeKnown {
            switch reads.concern(change.entity, from: change.before, to: change.after) {
            case .nothing: break
            case .owners(let concerned): for owner in concerned { becomeStale(owner, at: entry.at) }
            case .rows, .everything: becomeStale(at: entry.at)
            }
        } else if !entry.isByOthers, let owner = change.after.flatMap({ try? ObjectKey($0, relationship.linkColumns) })
        {
            becomeStale(owner, at: entry.at)
        }
    }

    private mutating func append(_ entry: Entry, of owners: some Collection<ObjectKey>, at time: ContextTime) {
        if relationship.isComparedByServer { return becomeStale(at: time) }
        var entry = entry
        entry.changedAt = time
        for owner in owners {
            // Only the server can tell whether the row is shown.
            if relationship.filter?.isExact == false {
                becomeStale(owner, at: time)
            } else {
                self.owners[owner, default: Owner()].entries.append(entry)
                count += 1
            }
        }
    }

    private mutating func becomeStale(_ owner: ObjectKey, at time: ContextTime) {
        if relationship.isComparedByServer { return becomeStale(at: time) }
        // A stale answer needs no entries.
        owners[owner] = Owner(entries: [], staleSince: time)
        count += 1
    }

    private mutating func becomeStale(at time: ContextTime) {
        (owners, moved, count, staleSince) = ([:], [], 0, time)
    }

    // MARK: Owners

    /// Answers for an owner read before this time are stale.
    func staleSince(_ owner: ObjectKey) -> ContextTime {
        owners.isEmpty ? staleSince : max(staleSince, owners[owner]?.staleSince ?? .never)
    }

    /// The time of the last change at an owner.
    func changedAt(_ owner: ObjectKey) -> ContextTime {
        let time = max(staleSince(owner), leftAt)
        return owners.isEmpty ? time : max(time, owners[owner]?.entries.last?.changedAt ?? .never)
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

    /// The rows that came or went after a time, while it is not known from where.
    func movedKeys(since time: ContextTime) -> [ObjectKey] {
        guard let last = moved.last, last.at > time else { return [] }
        return moved.reversed().prefix { $0.at > time }.map(\.key)
    }
}
