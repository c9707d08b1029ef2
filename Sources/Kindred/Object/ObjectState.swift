package import KindredPostgres

/// What an object knows: kept behind the object's mutex, copied whole into a transaction's journal.
package struct ObjectState: Sendable {
    package enum Status: Sendable {
        /// Stands for a row of the database.
        case persistent
        /// Made in memory and not stored yet.
        case inserted
        /// On its way out: a deletion that is under way takes its row.
        case deleting
        /// Its row was deleted, by this context or by someone else.
        case deleted
    }

    // In an order that leaves no gaps: 100,000 objects have one each.
    /// The row as last seen, with staged values: every attribute, in the entity's order.
    package var row: Row
    /// The place among the rows of `group`.
    package var position: Int32
    package var status: Status
    /// What is staged and not saved yet.
    package var stagingBox: StagingBox?
    /// The context's clock when the row was asked for or changed by itself, 0 for one that is as its group was read, and in
    /// the lowest bit whether it was changed: a field more is one too many for objects to be made without being copied.
    private var ownTime: UInt64 = 0
    /// The rows that this one was read with.
    package var group: LoadGroup?
    /// Loaded relationships by slot; empty until the first is loaded.
    package var relationships = LoadedRelationships()

    /// What a new object knows if something is staged, and else that of a stored row.
    init(row: Row, group: LoadGroup? = nil, position: Int32 = 0, staging: StagingBox? = nil) {
        self.row = row
        self.position = position
        status = staging == nil ? .persistent : .inserted
        stagingBox = staging
        self.group = group
    }

    /// What a new object knew when its statement was made, if that was all that there was.
    init(before saved: SavedObject) {
        self.init(row: saved.row, staging: saved.stagingBox)
    }

    /// Shows the row that another object of the same row has left.
    mutating func show(_ latest: LatestRow) {
        row = latest.row
        changed(at: latest.changedAt)
    }

    /// The context's clock when the row was asked for or changed; an answer that was asked for earlier does not overwrite it.
    package var seenAt: UInt64 {
        get { ownTime > 1 ? ownTime >> 1 : group?.askedAt ?? 0 }
        set { ownTime = newValue << 1 | ownTime & 1 }
    }

    /// Whether loaded relationships may hold an older row than this object.
    package var isNewer: Bool { ownTime & 1 == 1 }

    /// Says that the row stands there since a time of the context's clock, and not as it was read with others.
    mutating func changed(at time: UInt64) {
        ownTime = time << 1 | 1
    }

    /// Forgets every loaded relationship, and answers that were asked for before a time of the context's clock.
    mutating func forgetRelationships(at time: UInt64) {
        relationships = LoadedRelationships()
        relationships.noteChange(at: time)
    }
}

/// The relationships that an object has loaded, by slot: few, so that a list is quicker and smaller than a dictionary.
package struct LoadedRelationships: Sendable {
    private enum Entry {
        // In this order the slot fills a gap.
        case loaded(LoadedRelationship, slot: Int32)
        /// When a relationship was last changed, or all of them were where there is no slot.
        ///
        /// Stands here because few objects have it: each word of an object counts.
        case changedAt(UInt64, slot: Int32?)

        func isLoaded(_ slot: Int) -> Bool {
            if case .loaded(_, let own) = self { own == slot } else { false }
        }

        func isTime(of slot: Int32?) -> Bool {
            if case .changedAt(_, slot) = self { true } else { false }
        }
    }

    private var entries: [Entry] = []

    package init() {}

    var isEmpty: Bool { entries.isEmpty }

    package subscript(slot: Int) -> LoadedRelationship? {
        get {
            if entries.isEmpty { return nil }
            guard let place = entries.firstIndex(where: { $0.isLoaded(slot) }),
                case .loaded(let loaded, _) = entries[place]
            else { return nil }
            return loaded
        }
        set {
            let place = entries.firstIndex { $0.isLoaded(slot) }
            switch (place, newValue) {
            case (let place?, let loaded?): entries[place] = .loaded(loaded, slot: Int32(slot))
            case (let place?, nil): entries.remove(at: place)
            case (nil, let loaded?):
                // Whoever follows one relationship often follows another.
                if entries.isEmpty { entries.reserveCapacity(2) }
                entries.append(.loaded(loaded, slot: Int32(slot)))
            case (nil, nil): break
            }
        }
    }

    /// Whether a relationship is loaded, without taking it out.
    func contains(_ slot: Int) -> Bool {
        entries.contains { $0.isLoaded(slot) }
    }

    /// The context's clock when a relationship was last changed; 0 for never.
    ///
    /// An answer that was asked for earlier is not kept.
    func changedAt(_ slot: Int) -> UInt64 {
        var latest: UInt64 = 0
        for entry in entries {
            if case .changedAt(let time, let own) = entry, own == nil || own == Int32(slot) {
                latest = max(latest, time)
            }
        }
        return latest
    }

    /// Whether the time of any change is known.
    var areChanged: Bool {
        if entries.isEmpty { return false }
        return entries.contains { if case .changedAt = $0 { true } else { false } }
    }

    /// The times of the changes, by slot, or of all relationships where there is none.
    var changes: [(slot: Int?, time: UInt64)] {
        entries.compactMap { if case .changedAt(let time, let slot) = $0 { (slot.map(Int.init), time) } else { nil } }
    }

    /// Notes that a relationship was changed, or all of them if none is named.
    mutating func noteChange(of slot: Int? = nil, at time: UInt64) {
        let slot = slot.map { Int32($0) }
        if let place = entries.firstIndex(where: { $0.isTime(of: slot) }) {
            entries[place] = .changedAt(time, slot: slot)
        } else {
            entries.append(.changedAt(time, slot: slot))
        }
    }
}

/// A loaded relationship.
///
/// Holds rows, not objects, so that a graph with cycles never keeps itself alive: an object is made from its row when
/// it is asked for, once per row and context.
package enum LoadedRelationship: Sendable {
    /// A to-one relationship: the row found, and the key it was found for where this side holds the foreign key.
    case one(LoadedOne)
    case many(LoadedMembers)

    /// The context's clock at which nothing was lost of what was read.
    var validAt: UInt64 {
        get {
            switch self {
            case .one(let one): one.validAt
            case .many(let members): members.validAt
            }
        }
        set {
            switch self {
            case .one(var one):
                one.validAt = newValue
                self = .one(one)
            case .many(var members):
                members.validAt = newValue
                self = .many(members)
            }
        }
    }

    /// The keys of the rows at the other end.
    var keys: [ObjectKey] {
        switch self {
        case .one(let one): one.member.map { [$0.key] } ?? []
        case .many(let members): members.members.map(\.key)
        }
    }
}

/// The row at the other end of a to-one relationship.
package struct LoadedOne: Sendable {
    /// The foreign key's value that led to the row; nil where the other side holds the foreign key.
    package var foreignKey: ObjectKey?
    package var member: Member?
    /// The rows that the member was read with.
    package var group: LoadGroup?
    /// The context's clock at which nothing was lost of what it is.
    package var validAt: UInt64
}
