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
        /// New objects by the numbers of their temporary keys: held, as they are by what is staged, until they are saved
        /// or given up.
        var temporaries: [Int64: DatabaseObject] = [:]
        var others: [ObjectKey: WeakObject] = [:]
        /// Rows newer than those that loaded relationships hold, of objects that are gone from memory.
        var latestRows: [ObjectKey: Row] = [:]
        /// Rows that were deleted; loaded relationships may still hold them.
        var deleted: Set<ObjectKey> = []
        /// Rows that a deletion under way is going to take.
        var deleting: Set<ObjectKey> = []
        /// When rows that nobody held were last deleted without being named.
        var lostRowsAt: UInt64 = 0
        /// When the relationship (by slot) of an owner that nobody holds was last changed.
        var linkChanges: [Int: [ObjectKey: UInt64]] = [:]
        /// At this many entries the dead ones are swept out; doubling keeps the cost per object constant.
        private var sweepAt = 64
        private var deathsAtSweep = 0

        var count: Int { integers.count + temporaries.count + others.count }

        /// Makes room for more entries, by sweeping if as many objects have died since the last time as stand here.
        mutating func makeRoom(for more: Int, deaths: Int) {
            guard count + more > sweepAt else { return }
            if deaths - deathsAtSweep >= count / 2 {
                integers = integers.filter { $0.value.object != nil }
                others = others.filter { $0.value.object != nil }
            }
            deathsAtSweep = deaths
            sweepAt = max(64, 2 * (count + more))
        }

        mutating func reserve(_ more: Int, hasIntegerKey: Bool) {
            if hasIntegerKey {
                integers.reserveCapacity(integers.count + more)
            } else {
                others.reserveCapacity(others.count + more)
            }
        }
    }

    /// Where in `tables` an entity's stands, plus one; 0 if it has none, since a context sees few of a schema's entities.
    private var places: [Int32]
    private var tables: [Table] = []

    init(entityCount: Int) {
        places = Array(repeating: 0, count: entityCount)
    }

    /// What is known of an entity, or nothing.
    ///
    /// Copies the table, which costs more than a look-up; what is asked for each object goes straight to `tables`.
    private func read<T>(_ entity: Int, orNone none: T, _ body: (borrowing Table) -> T) -> T {
        knownPlace(entity).map { body(tables[$0]) } ?? none
    }

    /// The place of an entity's table; nil if it has none.
    private func knownPlace(_ entity: Int) -> Int? {
        places[entity] == 0 ? nil : Int(places[entity]) - 1
    }

    /// The place of an entity's table, which is made if there is none.
    private mutating func place(_ entity: Int) -> Int {
        if places[entity] == 0 {
            tables.append(Table())
            places[entity] = Int32(tables.count)
        }
        return Int(places[entity]) - 1
    }

    /// Whether the context may know anything of an entity: rows, or what relationships its rows have.
    func knows(_ entity: Int) -> Bool { places[entity] != 0 }

    /// Notes that relationships of an entity are asked for, of rows that have no object.
    mutating func noteKnown(_ entity: Int) { _ = place(entity) }

    func object(_ entity: Int, _ key: ObjectKey) -> DatabaseObject? {
        guard let place = knownPlace(entity) else { return nil }
        return switch key {
        case .integer(let integer): tables[place].integers[integer]?.object
        case .temporary(let number): tables[place].temporaries[number]
        case .values: tables[place].others[key]?.object
        }
    }

    /// Whether anything is known of rows that were deleted, are about to be, or were left by objects that are gone: if
    /// not, new objects need not be looked for there.
    func hasNotes(_ entity: Int) -> Bool {
        guard let place = knownPlace(entity) else { return false }
        return !tables[place].latestRows.isEmpty || !tables[place].deleted.isEmpty || !tables[place].deleting.isEmpty
    }

    /// Prepares for objects that will be inserted, by the number of objects that have died in the context so far.
    mutating func makeRoom(for more: Int, of entity: EntityRuntime, deaths: Int) {
        let place = place(entity.index)
        tables[place].makeRoom(for: more, deaths: deaths)
        if more > 1 { tables[place].reserve(more, hasIntegerKey: entity.hasIntegerKey) }
    }

    /// Prepares for new objects that will be inserted.
    mutating func makeRoom(for more: Int, of entity: EntityRuntime) {
        if more > 1 { tables[place(entity.index)].reserve(more, hasIntegerKey: entity.hasIntegerKey) }
    }

    /// The object of a key, made if there is none.
    mutating func object(
        _ entity: Int,
        _ key: ObjectKey,
        orMake make: () throws -> DatabaseObject
    ) rethrows -> (object: DatabaseObject, isNew: Bool) {
        func find(_ place: inout WeakObject) throws -> (DatabaseObject, Bool) {
            if let object = place.object { return (object, false) }
            let object = try make()
            place.object = object
            return (object, true)
        }
        func find(_ place: inout DatabaseObject?) throws -> (DatabaseObject, Bool) {
            if let object = place { return (object, false) }
            let object = try make()
            place = object
            return (object, true)
        }
        let place = place(entity)
        return switch key {
        case .integer(let integer): try find(&tables[place].integers[integer, default: WeakObject()])
        case .temporary(let number): try find(&tables[place].temporaries[number])
        case .values: try find(&tables[place].others[key, default: WeakObject()])
        }
    }

    mutating func insert(_ object: DatabaseObject, _ entity: Int, _ key: ObjectKey) {
        let place = place(entity)
        switch key {
        case .integer(let integer): tables[place].integers[integer] = WeakObject(object: object)
        case .temporary(let number): tables[place].temporaries[number] = object
        case .values: tables[place].others[key] = WeakObject(object: object)
        }
    }

    /// Forgets the key, if it stands for this object.
    mutating func remove(_ object: DatabaseObject, _ entity: Int, _ key: ObjectKey) {
        if case .temporary(let number) = key {
            tables[place(entity)].temporaries[number] = nil
            return
        }
        guard self.object(entity, key) === object else { return }
        let place = place(entity)
        switch key {
        case .integer(let integer): tables[place].integers[integer] = nil
        case .temporary: break
        case .values: tables[place].others[key] = nil
        }
    }

    /// Every object of an entity that is still in memory.
    func objects(of entity: Int) -> [DatabaseObject] {
        read(entity, orNone: []) { table in
            table.integers.values.compactMap(\.object) + table.temporaries.values
                + table.others.values.compactMap(\.object)
        }
    }

    /// Every object that is still in memory.
    func allObjects() -> [DatabaseObject] {
        places.indices.flatMap(objects(of:))
    }

    func isDeleted(_ entity: Int, _ key: ObjectKey) -> Bool {
        read(entity, orNone: false) { !$0.deleted.isEmpty && $0.deleted.contains(key) }
    }

    mutating func setDeleted(_ isDeleted: Bool, _ entity: Int, _ key: ObjectKey) {
        if isDeleted {
            let place = place(entity)
            tables[place].deleted.insert(key)
            tables[place].latestRows[key] = nil
        } else if !read(entity, orNone: true, { $0.deleted.isEmpty }) {
            tables[place(entity)].deleted.remove(key)
        }
    }

    func isDeleting(_ entity: Int, _ key: ObjectKey) -> Bool {
        read(entity, orNone: false) { !$0.deleting.isEmpty && $0.deleting.contains(key) }
    }

    mutating func setDeleting(_ isDeleting: Bool, _ entity: Int, _ keys: [ObjectKey]) {
        let place = place(entity)
        if isDeleting { tables[place].deleting.formUnion(keys) } else { tables[place].deleting.subtract(keys) }
    }

    /// When rows of a relationship's other end, or of its helper, went without being named; 0 for never.
    func lostRows(of relationship: RelationshipRuntime) -> UInt64 {
        let time = lostRows(of: relationship.destination)
        guard case .helper(let link) = relationship.link else { return time }
        return max(time, lostRows(of: link.entity))
    }

    private func lostRows(of entity: Int) -> UInt64 { knownPlace(entity).map { tables[$0].lostRowsAt } ?? 0 }

    mutating func noteLostRows(_ entity: Int, at time: UInt64) {
        tables[place(entity)].lostRowsAt = time
    }

    /// When the relationship of an owner that nobody held was changed; 0 for never.
    func linkChange(_ entity: Int, slot: Int, _ owner: ObjectKey) -> UInt64 {
        guard let place = knownPlace(entity), !tables[place].linkChanges.isEmpty else { return 0 }
        return tables[place].linkChanges[slot]?[owner] ?? 0
    }

    mutating func noteLinkChange(_ entity: Int, slot: Int, _ owner: ObjectKey, at time: UInt64) {
        tables[place(entity)].linkChanges[slot, default: [:]][owner] = time
    }

    /// The newer row that an object left behind, if any.
    func latestRow(_ entity: Int, _ key: ObjectKey) -> Row? {
        read(entity, orNone: nil) { $0.latestRows.isEmpty ? nil : $0.latestRows[key] }
    }

    /// Takes out the newer row that an object left behind, if any.
    mutating func takeLatestRow(_ entity: Int, _ key: ObjectKey) -> Row? {
        guard !read(entity, orNone: true, { $0.latestRows.isEmpty }) else { return nil }
        return tables[place(entity)].latestRows.removeValue(forKey: key)
    }

    /// Whether any row of an entity has an object, or has left one behind.
    func holdsRows(of entity: Int) -> Bool {
        read(entity, orNone: false) { table in
            !table.latestRows.isEmpty || table.integers.values.contains { $0.object != nil }
                || !table.temporaries.isEmpty
                || table.others.values.contains { $0.object != nil }
        }
    }

    /// Keeps the row that a vanished object left behind, newer than the one its sets hold.
    mutating func keepLatestRow(_ left: LeftRow) {
        tables[place(left.entity)].latestRows[left.key] = left.row
    }
}
