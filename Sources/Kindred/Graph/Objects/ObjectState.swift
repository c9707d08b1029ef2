package import KindredPostgres

/// The state of an object: kept behind the object's mutex, and copied whole into a transaction's journal.
package struct ObjectState: Sendable {
    package enum Status: Sendable {
        /// Stands for a row of the database.
        case persistent
        /// Made in memory and not stored yet.
        case inserted
        /// A running deletion is about to delete its row.
        case deleting
        /// Its row was deleted, by this context or outside it.
        case deleted
    }

    // Ordered to leave no padding: a program may have 100,000 objects.
    /// The row as last seen, with staged values: every attribute, in the entity's order.
    package var row: Row
    /// The position among the rows of `group`.
    package var position: Int32
    package var status: Status
    /// Whether a rollback may have undone the row, or others may have changed it.
    ///
    /// It is read again before a relationship is followed or anything is written. The flag lies in the padding behind
    /// `status`.
    var isStale = false
    /// The unsaved changes.
    package var stagingBox: StagingBox?
    /// The raw time of the row's last own read or change, 0 if it is as its group was read; the lowest bit tells whether
    /// it was changed (one word: another field would make object creation copy).
    private var ownTime: UInt64 = 0
    /// The rows that this one was read with.
    package var group: FetchGroup?
    /// Loaded relationships by slot; empty until the first is loaded.
    package var relationships = LoadedRelationships()

    /// The state of a new object if something is staged, else of a stored row.
    init(row: Row, group: FetchGroup? = nil, position: Int32 = 0, staging: StagingBox? = nil) {
        self.row = row
        self.position = position
        status = staging == nil ? .persistent : .inserted
        stagingBox = staging
        self.group = group
    }

    /// The state of a new object when its statement was made, if it had nothing else.
    init(before saved: SavedObject) {
        self.init(row: saved.row, staging: saved.stagingBox)
    }

    /// Shows the row that a released object of the same row has left.
    mutating func show(_ newer: NewerRow) {
        row = newer.row
        changed(at: newer.changedAt)
    }

    /// Marks a stored row that may not be the one in the database: it is read again before it is used.
    mutating func becomeStale(at time: ContextTime) {
        guard status == .persistent || status == .deleting else { return }
        isStale = true
        seenAt = time
    }

    /// When the row was read or changed; an answer read earlier does not overwrite it.
    package var seenAt: ContextTime {
        get { ownTime > 1 ? ContextTime(rawValue: ownTime >> 1) : group?.askedAt ?? .never }
        set { ownTime = newValue.rawValue << 1 | ownTime & 1 }
    }

    /// Whether loaded relationships may hold an older row than this object.
    package var isNewer: Bool { ownTime & 1 == 1 }

    /// Notes that the row changed at a time, and differs from its group's.
    mutating func changed(at time: ContextTime) {
        ownTime = time.rawValue << 1 | 1
    }
}

/// The loaded relationships of an object, by slot: few, so that a list is faster and smaller than a dictionary.
package struct LoadedRelationships: Sendable {
    private struct Entry {
        // In this order the slot fills padding.
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
                // Reserves two: a program that follows one relationship often follows another.
                if entries.isEmpty { entries.reserveCapacity(2) }
                entries.append(Entry(loaded: loaded, slot: Int32(slot)))
            case (nil, nil): break
            }
        }
    }

    /// Adopts others, except answers of transactions that were rolled back.
    mutating func adopt(_ others: LoadedRelationships) {
        for entry in others.entries where !entry.loaded.batch.isUndone { self[Int(entry.slot)] = entry.loaded }
    }
}

/// A loaded relationship.
///
/// Holds rows, not objects, so that a graph with cycles cannot keep itself alive. Objects are made from these rows on
/// access, one per row and context.
package enum LoadedRelationship: Sendable {
    /// A to-one relationship whose foreign key this side holds.
    case one(LoadedOne)
    /// Rows that refer to this one, or that a helper's rows pair with it.
    case many(LoadedMembers)

    /// The answer.
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
    /// The answer that has the member.
    let batch: LoadedBatch
}
