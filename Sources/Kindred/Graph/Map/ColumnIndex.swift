/// The keys of an entity's objects by the values of other columns: the unique key that foreign keys lead to, or a
/// foreign key.
///
/// Says where to look, not what is there: objects go out of memory and get other rows without its being told, so that
/// who asks has to look at the rows that it names. No object that has the values is missing.
struct ColumnIndex {
    let columns: [Int]
    /// Nil until it is worth it: to look at each object once takes less than to put all of them in here.
    private var found: [ObjectKey: Set<ObjectKey>]?
    private var count = 0
    /// Objects that have come, or have got another row, since it was last asked.
    private var changed: [ObjectKey] = []
    private var wasAsked = false

    init(_ columns: [Int]) {
        self.columns = columns
    }

    /// Notes that an object has come, or has got another row.
    mutating func noteChanged(_ key: ObjectKey) {
        guard found != nil else { return }
        changed.append(key)
        // Nobody seems to ask any more.
        if changed.count > 2 * count + 64 { (found, count, changed, wasAsked) = (nil, 0, [], false) }
    }

    /// The keys of all objects of the entity that may have the values; nil to look at each.
    mutating func keys(_ values: ObjectKey, _ references: ObjectReferences, _ entity: Int) throws -> Set<ObjectKey>? {
        let live = references.count(of: entity)
        // What went out of memory is still in here.
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

    /// Takes out an object that turned out not to have the values.
    mutating func remove(_ key: ObjectKey, from values: ObjectKey) {
        if found?[values]?.remove(key) != nil { count -= 1 }
    }
}
