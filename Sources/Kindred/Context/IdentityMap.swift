import KindredPostgres

/// What a changed object leaves behind when it goes out of memory.
struct LeftRow: Sendable {
    let entity: Int
    let key: ObjectKey
    let row: Row
}

/// One object per row: weak references by entity and key.
///
/// A weak reference that is read becomes a strong one for a moment, and may be the last: an object's `deinit` can
/// therefore run while this map is locked, and must not lock it.
struct IdentityMap {
    private struct WeakObject {
        weak var object: DatabaseObject?
    }

    private struct Table {
        var integers: [Int64: WeakObject] = [:]
        var others: [ObjectKey: WeakObject] = [:]
        /// Rows newer than those that loaded relationships hold, of objects that are gone from memory.
        var latestRows: [ObjectKey: Row] = [:]
        /// Rows that were deleted; loaded relationships may still hold them.
        var deleted: Set<ObjectKey> = []
        /// When the relationship (by slot) of an owner that nobody holds was last changed.
        var linkChanges: [Int: [ObjectKey: UInt64]] = [:]
        /// At this many entries the dead ones are swept out; doubling keeps the cost per object constant.
        var sweepAt = 64

        mutating func sweepIfFull() {
            guard integers.count + others.count >= sweepAt else { return }
            integers = integers.filter { $0.value.object != nil }
            others = others.filter { $0.value.object != nil }
            sweepAt = max(64, 2 * (integers.count + others.count))
        }
    }

    private var tables: [Table]

    init(entityCount: Int) {
        tables = Array(repeating: Table(), count: entityCount)
    }

    func object(_ entity: Int, _ key: ObjectKey) -> DatabaseObject? {
        switch key {
        case .integer(let integer): tables[entity].integers[integer]?.object
        case .values: tables[entity].others[key]?.object
        }
    }

    mutating func insert(_ object: DatabaseObject, _ entity: Int, _ key: ObjectKey) {
        tables[entity].sweepIfFull()
        switch key {
        case .integer(let integer): tables[entity].integers[integer] = WeakObject(object: object)
        case .values: tables[entity].others[key] = WeakObject(object: object)
        }
    }

    /// Forgets the key, if it stands for this object.
    mutating func remove(_ object: DatabaseObject, _ entity: Int, _ key: ObjectKey) {
        guard self.object(entity, key) === object else { return }
        switch key {
        case .integer(let integer): tables[entity].integers[integer] = nil
        case .values: tables[entity].others[key] = nil
        }
    }

    /// Every object of an entity that is still in memory.
    func objects(of entity: Int) -> [DatabaseObject] {
        tables[entity].integers.values.compactMap(\.object) + tables[entity].others.values.compactMap(\.object)
    }

    /// Every object that is still in memory.
    func allObjects() -> [DatabaseObject] {
        tables.indices.flatMap(objects(of:))
    }

    func isDeleted(_ entity: Int, _ key: ObjectKey) -> Bool {
        !tables[entity].deleted.isEmpty && tables[entity].deleted.contains(key)
    }

    mutating func setDeleted(_ isDeleted: Bool, _ entity: Int, _ key: ObjectKey) {
        if isDeleted {
            tables[entity].deleted.insert(key)
            tables[entity].latestRows[key] = nil
        } else if !tables[entity].deleted.isEmpty {
            tables[entity].deleted.remove(key)
        }
    }

    /// When the relationship of an owner that nobody held was changed; 0 for never.
    func linkChange(_ entity: Int, slot: Int, _ owner: ObjectKey) -> UInt64 {
        tables[entity].linkChanges.isEmpty ? 0 : tables[entity].linkChanges[slot]?[owner] ?? 0
    }

    mutating func noteLinkChange(_ entity: Int, slot: Int, _ owner: ObjectKey, at time: UInt64) {
        tables[entity].linkChanges[slot, default: [:]][owner] = time
    }

    /// Takes out the newer row that an object left behind, if any.
    mutating func takeLatestRow(_ entity: Int, _ key: ObjectKey) -> Row? {
        tables[entity].latestRows.isEmpty ? nil : tables[entity].latestRows.removeValue(forKey: key)
    }

    /// Keeps the row that a vanished object left behind, newer than the one its sets hold.
    mutating func keepLatestRow(_ left: LeftRow) {
        tables[left.entity].latestRows[left.key] = left.row
    }
}
