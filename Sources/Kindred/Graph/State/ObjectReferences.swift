import KindredPostgres
import Synchronization

/// Weak references to a context's objects, by entity and key.
///
/// Its lock is a leaf: an object's `deinit` takes it, and may run anywhere.
final class ObjectReferences: Sendable {
    private struct Entity {
        var integers = ObjectTable<Int64, DatabaseObject>(tag: 0)
        /// Objects whose keys are not one integer.
        var others = ObjectTable<ObjectKey, DatabaseObject>(tag: 1)

        mutating func insert(_ object: DatabaseObject, _ key: ObjectKey) -> DatabaseObject? {
            if object.tablePlace >= 0, (object.tablePlace & 1 == 0) != key.isInteger { remove(object) }
            if case .integer(let integer) = key { return integers.insert(object, integer) }
            return others.insert(object, key)
        }

        /// Whether an object was inserted with a key.
        func holds(_ object: DatabaseObject, _ key: ObjectKey) -> Bool {
            guard object.tablePlace >= 0, (object.tablePlace & 1 == 0) == key.isInteger else { return false }
            if case .integer(let integer) = key { return integers.key(of: object) == integer }
            return others.key(of: object) == key
        }

        mutating func remove(_ object: DatabaseObject) {
            if object.tablePlace & 1 == 0 { integers.remove(object) } else { others.remove(object) }
        }
    }

    private let entities = RankedMutex(EntityTables<Entity>(), .objectReferences)
    private let hasIndexes = Atomic(false)

    /// Whether there are secondary indexes, so that each change of a row must be noted.
    var isIndexed: Bool { hasIndexes.load(ordering: .relaxed) }

    /// Turns secondary indexes on; called before rows are read, so that a concurrent change is noted.
    func noteIndexed() { hasIndexes.store(true, ordering: .relaxed) }

    /// The object of a key, if it is in memory.
    func object(_ entity: EntityRuntime, _ key: ObjectKey) -> DatabaseObject? {
        entities.withLock { entities in
            guard let place = entities.place(entity.index) else { return nil }
            if case .integer(let integer) = key { return entities[place].integers.object(integer) }
            return entities[place].others.object(key)
        }
    }

    /// The objects of integer keys, where in memory; nil if the entity has none.
    func objects(_ entity: EntityRuntime, _ keys: [Int64]) -> [DatabaseObject?]? {
        entities.withLock { entities in
            guard let place = entities.place(entity.index), entities[place].integers.count > 0 else { return nil }
            return keys.map { entities[place].integers.object($0) }
        }
    }

    /// Every object of an entity in memory.
    func objects(of entity: EntityRuntime) -> [DatabaseObject] {
        entities.withLock { entities in
            guard let place = entities.place(entity.index) else { return [] }
            return entities[place].integers.objects + entities[place].others.objects
        }
    }

    /// Whether any object of an entity is in memory, or was.
    func knows(_ entity: EntityRuntime) -> Bool {
        entities.withLock { $0.place(entity.index) != nil }
    }

    /// The number of objects of an entity in memory.
    func count(of entity: EntityRuntime) -> Int {
        entities.withLock { entities in
            entities.place(entity.index).map { entities[$0].integers.count + entities[$0].others.count } ?? 0
        }
    }

    /// Reserves capacity for objects to be inserted.
    func reserve(_ more: Int, of entity: EntityRuntime) {
        entities.withLock { entities in
            let place = entities.place(entity.index, orMake: Entity())
            if entity.hasIntegerKey {
                entities[place].integers.reserve(more)
            } else {
                entities[place].others.reserve(more)
            }
        }
    }

    /// Inserts an object without a key, unless the key has an object in memory, which is returned then.
    func insert(_ object: DatabaseObject, _ entity: EntityRuntime, ifAbsent key: ObjectKey) -> DatabaseObject? {
        entities.withLock { entities in
            let place = entities.place(entity.index, orMake: Entity())
            if case .integer(let integer) = key {
                return entities[place].integers.insert(object, ifAbsent: integer)
            }
            return entities[place].others.insert(object, ifAbsent: key)
        }
    }

    /// Inserts objects by integer keys, unless a key has an object in memory.
    ///
    /// Returns the objects that existed, with their positions among the keys.
    func insert(_ objects: [DatabaseObject], of entity: EntityRuntime, keys: [Int64]) -> [(
        position: Int, object: DatabaseObject
    )] {
        entities.withLock { entities in
            let place = entities.place(entity.index, orMake: Entity())
            entities[place].integers.reserve(keys.count)
            var known: [(Int, DatabaseObject)] = []
            for position in keys.indices where objects[position].tablePlace < 0 {
                let other = entities[place].integers.insert(objects[position], ifAbsent: keys[position])
                if let other { known.append((position, other)) }
            }
            return known
        }
    }

    /// Inserts an object in place of any other, which is returned; its former key is removed.
    func insert(_ object: DatabaseObject, of entity: EntityRuntime, key: ObjectKey) -> DatabaseObject? {
        entities.withLock { entities in
            let place = entities.place(entity.index, orMake: Entity())
            return entities[place].insert(object, key)
        }
    }

    /// Removes an object, if it was inserted with a key.
    func remove(_ object: DatabaseObject, of entity: EntityRuntime, key: ObjectKey) {
        entities.withLock { entities in
            guard let place = entities.place(entity.index), entities[place].holds(object, key) else { return }
            entities[place].remove(object)
        }
    }

    /// Removes an object that leaves memory, by its place in the entity's tables.
    ///
    /// - Parameter entity: the entity's index, since a `deinit` that lent the entity would retain it first.
    func remove(_ entity: Int, at tablePlace: Int32) {
        entities.withLock { entities in
            guard let place = entities.place(entity) else { return }
            if tablePlace & 1 == 0 {
                entities[place].integers.remove(at: tablePlace)
            } else {
                entities[place].others.remove(at: tablePlace)
            }
        }
    }
}

extension ObjectKey {
    fileprivate var isInteger: Bool {
        if case .integer = self { true } else { false }
    }
}
