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
}

/// The relationships that an object has loaded, by slot: few, so that a list is quicker and smaller than a dictionary.
package struct LoadedRelationships: Sendable {
    private struct Entry {
        // In this order the slot fills a gap.
        var loaded: LoadedRelationship
        let slot: Int32
    }

    private var entries: [Entry] = []

    package init() {}

    var isEmpty: Bool { entries.isEmpty }

    package subscript(slot: Int) -> LoadedRelationship? {
        get {
            if entries.isEmpty { return nil }
            return entries.first { $0.slot == slot }?.loaded
        }
        set {
            let place = entries.firstIndex { $0.slot == slot }
            switch (place, newValue) {
            case (let place?, let loaded?): entries[place].loaded = loaded
            case (let place?, nil): entries.remove(at: place)
            case (nil, let loaded?):
                // Whoever follows one relationship often follows another.
                if entries.isEmpty { entries.reserveCapacity(2) }
                entries.append(Entry(loaded: loaded, slot: Int32(slot)))
            case (nil, nil): break
            }
        }
    }

    /// Takes over what others are, but for the answers of transactions that were undone.
    mutating func take(_ others: LoadedRelationships) {
        for entry in others.entries where !entry.loaded.batch.isUndone { self[Int(entry.slot)] = entry.loaded }
    }
}

/// A loaded relationship.
///
/// Holds rows, not objects, so that a graph with cycles never keeps itself alive: an object is made from its row when
/// it is asked for, once per row and context.
package enum LoadedRelationship: Sendable {
    /// A to-one relationship whose foreign key this side holds.
    case one(LoadedOne)
    /// Rows that refer to this one, or that a helper's rows pair with it.
    case many(LoadedMembers)

    /// What was answered.
    var batch: LoadedBatch {
        switch self {
        case .one(let one): one.batch
        case .many(let members): members.batch
        }
    }
}

/// The row that a foreign key leads to.
package struct LoadedOne: Sendable {
    /// The foreign key's value that led to the row.
    let foreignKey: ObjectKey
    let member: Member?
    /// The answer that the member is part of.
    let batch: LoadedBatch
}
