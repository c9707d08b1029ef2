import KindredPostgres

/// A secondary index of an entity's objects: their keys by the values of a unique key or foreign key.
///
/// It may name too many objects, since it is not told when one leaves memory or gets another row: callers check each.
/// It misses none.
struct ColumnIndex {
    let columns: [Int]
    /// Nil until built: one scan of the objects is cheaper than to build the index.
    private var found: [ObjectKey: Set<ObjectKey>]?
    private var count = 0
    /// Objects inserted or changed since the last look-up.
    private var changed: [ObjectKey] = []
    private var wasAsked = false

    init(_ columns: [Int]) {
        self.columns = columns
    }

    /// Notes that an object was inserted, or got another row.
    mutating func noteChanged(_ key: ObjectKey) {
        guard found != nil else { return }
        changed.append(key)
        // The index is no longer used.
        if changed.count > 2 * count + 64 { (found, count, changed, wasAsked) = (nil, 0, [], false) }
    }

    /// The keys of all objects of the entity that may have the values; nil to scan them all.
    mutating func keys(
        _ values: ObjectKey, among references: ObjectReferences, of entity: EntityRuntime
    ) throws -> Set<ObjectKey>? {
        let live = references.count(of: entity)
        // The index still holds keys of released objects.
        if found == nil || count + changed.count > 2 * live + 64 {
            (found, count, changed) = (nil, 0, [])
            defer { wasAsked = true }
            guard wasAsked, live > 16 else { return nil }
            var all: [ObjectKey: Set<ObjectKey>] = [:]
            for object in references.objects(of: entity) { try insert(object, into: &all) }
            found = all
        }
        guard var known = found else { return nil }
        found = nil
        defer { found = known }
        for key in changed { try references.object(entity, key).map { try insert($0, into: &known) } }
        changed = []
        return known[values] ?? []
    }

    private mutating func insert(_ object: DatabaseObject, into known: inout [ObjectKey: Set<ObjectKey>]) throws {
        let row = object.storedRow
        guard let values = try ObjectKey(row, columns), let key = try ObjectKey(row, object.runtime.key) else { return }
        if known[values, default: []].insert(key).inserted { count += 1 }
    }

    /// Removes an object that turned out not to have the values.
    mutating func remove(_ key: ObjectKey, from values: ObjectKey) {
        if found?[values]?.remove(key) != nil { count -= 1 }
    }
}
