import KindredPostgres

/// The identity map, an index of objects: one object per row.
///
/// It holds new objects, which have temporary keys; staged changes hold theirs. All other objects live as long as the
/// program uses them, and ``ObjectReferences`` finds them. Objects are only added under this map's lock.
package struct IdentityMap {
    private struct Table {
        /// New objects by the numbers of their temporary keys, until they are saved or discarded.
        var temporaries = NumberedObjects<DatabaseObject>()
        /// Secondary indexes: columns besides the key by which objects are looked up.
        var indexes: [ColumnIndex] = []
    }

    private let references: ObjectReferences
    /// New objects and indexes by entity; most contexts have none.
    private var tables = EntityTables<Table>()
    /// The changes of rows, whether they have objects or not.
    package var log = ChangeLog()
    /// Rows that a running deletion will delete.
    private var deleting = EntityTables<Set<ObjectKey>>()

    init(_ references: ObjectReferences) {
        self.references = references
    }

    /// The position of an entity's table, made if needed.
    private mutating func place(_ entity: EntityRuntime) -> Int {
        tables.place(entity.index, orMake: Table())
    }

    /// Whether the context may know anything of an entity: rows, or relationships.
    package func knows(_ entity: EntityRuntime) -> Bool {
        log.knows(entity) || tables.place(entity.index) != nil || references.knows(entity)
    }

    /// Whether the context may know anything of an entity with relationships that rows of the given one store.
    func knowsAny(linkedTo entity: EntityRuntime) -> Bool {
        entity.foreignKeys.contains { knows($0.destination) } || entity.helperEnds.contains { knows($0.source) }
    }

    func object(_ entity: EntityRuntime, _ key: ObjectKey) -> DatabaseObject? {
        guard case .temporary(let number) = key else { return references.object(entity, key) }
        return tables.place(entity.index).flatMap { tables[$0].temporaries[number] }
    }

    /// Reserves capacity for objects to be inserted.
    func makeRoom(for more: Int, of entity: EntityRuntime) {
        if more > 1 { references.reserve(more, of: entity) }
    }

    /// The object of a key, made if needed.
    mutating func object(
        _ entity: EntityRuntime,
        _ key: ObjectKey,
        orMake make: () throws -> DatabaseObject
    ) rethrows -> (object: DatabaseObject, isNew: Bool) {
        if let object = object(entity, key) { return (object, false) }
        let object = try make()
        insert(object, of: entity, key: key)
        return (object, true)
    }

    /// The objects of rows by integer keys, made where needed, with the positions of objects that existed.
    mutating func objects(
        _ entity: EntityRuntime,
        _ keys: [Int64],
        orMake make: (Int) throws -> DatabaseObject
    ) rethrows -> (objects: [DatabaseObject], known: [Int]) {
        let found = references.objects(entity, keys)
        var known: [Int] = []
        var objects: [DatabaseObject] = []
        objects.reserveCapacity(keys.count)
        for position in keys.indices {
            if let object = found?[position] {
                objects.append(object)
                known.append(position)
            } else {
                objects.append(try make(position))
            }
        }
        // A result may contain a row twice.
        let repeated = references.insert(objects, of: entity, keys: keys)
        if references.isIndexed { for key in keys { noteChanged(entity, .integer(key)) } }
        for (position, object) in repeated {
            objects[position] = object
            known.append(position)
        }
        return (objects, known)
    }

    /// Inserts an object in place of any other, which is returned.
    @discardableResult
    mutating func insert(_ object: DatabaseObject, of entity: EntityRuntime, key: ObjectKey) -> DatabaseObject? {
        guard case .temporary(let number) = key else {
            let displaced = references.insert(object, of: entity, key: key)
            if references.isIndexed { noteChanged(entity, key) }
            return displaced
        }
        tables[place(entity)].temporaries[number] = object
        return nil
    }

    /// Removes the object, if it was inserted with this key, also where another object has taken its place.
    mutating func remove(_ object: DatabaseObject, of entity: EntityRuntime, key: ObjectKey) {
        if case .temporary(let number) = key {
            tables[place(entity)].temporaries[number] = nil
        } else {
            references.remove(object, of: entity, key: key)
        }
    }

    /// Notes that an object was inserted, or got another row.
    mutating func noteChanged(_ entity: EntityRuntime, _ key: ObjectKey) {
        guard let place = tables.place(entity.index) else { return }
        for index in tables[place].indexes.indices { tables[place].indexes[index].noteChanged(key) }
    }

    /// The objects of stored rows that have the values in the given columns.
    mutating func objects(
        _ entity: EntityRuntime, where columns: [Int], equal values: ObjectKey
    ) throws -> [DatabaseObject] {
        if columns == entity.key { return object(entity, values).map { [$0] } ?? [] }
        references.noteIndexed()
        let place = place(entity)
        let index = tables[place].indexes.firstIndex { $0.columns == columns } ?? tables[place].indexes.count
        if index == tables[place].indexes.count { tables[place].indexes.append(ColumnIndex(columns)) }
        guard let keys = try tables[place].indexes[index].keys(values, among: references, of: entity) else {
            return try references.objects(of: entity).filter {
                try !$0.isStale && ObjectKey($0.storedRow, columns) == values
            }
        }
        var objects: [DatabaseObject] = []
        for key in keys {
            if let object = references.object(entity, key), try ObjectKey(object.storedRow, columns) == values {
                if !object.isStale { objects.append(object) }
            } else {
                tables[place].indexes[index].remove(key, from: values)
            }
        }
        return objects
    }

    /// Every object of an entity in memory.
    package func objects(of entity: EntityRuntime) -> [DatabaseObject] {
        let saved = references.objects(of: entity)
        return tables.place(entity.index).map { saved + tables[$0].temporaries.objects } ?? saved
    }

    /// Whether any row of an entity has an object.
    package func holdsObjects(of entity: EntityRuntime) -> Bool {
        if let place = tables.place(entity.index), !tables[place].temporaries.isEmpty { return true }
        return references.count(of: entity) > 0
    }

    /// Whether any row of an entity has an object, or has changed.
    func holdsRows(of entity: EntityRuntime) -> Bool { log.hasEntries(of: entity) || holdsObjects(of: entity) }

    /// Whether a running deletion will delete a row.
    func isDeleting(_ entity: EntityRuntime, _ key: ObjectKey) -> Bool {
        deleting.place(entity.index).map { deleting[$0].contains(key) } ?? false
    }

    /// Whether running deletions will delete rows of an entity.
    func isDeletingAny(of entity: EntityRuntime) -> Bool {
        deleting.place(entity.index).map { !deleting[$0].isEmpty } ?? false
    }

    mutating func setDeleting(_ isDeleting: Bool, of entity: EntityRuntime, keys: [ObjectKey]) {
        let place = deleting.place(entity.index, orMake: [])
        if isDeleting { deleting[place].formUnion(keys) } else { deleting[place].subtract(keys) }
    }
}
