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
    /// The unsaved changes.
    package var stagingBox: StagingBox?
    /// The raw time of the row's last own read or change, 0 if it is as its group was read; the lowest two bits tell whether
    /// it was changed, and whether it is stale (one word: an eighth field would make object creation copy the state).
    private var ownTime: UInt64 = 0
    /// The rows that the row was read with.
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

    /// Shows a row that is newer than in the answer which the object was made from.
    mutating func show(_ newer: (row: Row, changedAt: ContextTime)) {
        row = newer.row
        changed(at: newer.changedAt)
    }

    /// Marks a stored row that may differ from the database's: it is read again before it is used.
    mutating func becomeStale(at time: ContextTime) {
        guard status == .persistent || status == .deleting else { return }
        isStale = true
        seenAt = time
    }

    private static let changedBit: UInt64 = 1
    private static let staleBit: UInt64 = 2
    private static let flagBits = 2

    /// Whether a rollback may have undone the row, or another client may have changed it.
    ///
    /// It is read again before a relationship is followed or anything is written.
    var isStale: Bool {
        get { ownTime & Self.staleBit != 0 }
        set { ownTime = newValue ? ownTime | Self.staleBit : ownTime & ~Self.staleBit }
    }

    /// When the row was read or changed; an answer read earlier does not overwrite it.
    package var seenAt: ContextTime {
        get {
            let time = ownTime >> Self.flagBits
            return time > 0 ? ContextTime(rawValue: time) : group?.askedAt ?? .never
        }
        set { ownTime = newValue.rawValue << Self.flagBits | ownTime & (Self.changedBit | Self.staleBit) }
    }

    /// Whether loaded relationships may hold an older row than this object.
    package var isNewer: Bool { ownTime & Self.changedBit != 0 }

    /// Notes that the row changed at a time, and differs from its group's.
    mutating func changed(at time: ContextTime) {
        ownTime = time.rawValue << Self.flagBits | ownTime & Self.staleBit | Self.changedBit
    }
}
