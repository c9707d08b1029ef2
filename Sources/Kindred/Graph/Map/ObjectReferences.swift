import Synchronization

/// The objects of a context that somebody holds, by entity and key.
///
/// Its lock is a leaf: an object's `deinit` takes it, and may run anywhere.
final class ObjectReferences: Sendable {
    private struct Entity {
        var integers = ObjectTable<Int64, DatabaseObject>(tag: 0)
        /// Of keys that are not one integer.
        var others = ObjectTable<ObjectKey, DatabaseObject>(tag: 1)

        mutating func insert(_ object: DatabaseObject, _ key: ObjectKey) {
            if object.tablePlace >= 0, (object.tablePlace & 1 == 0) != key.isInteger { remove(object) }
            if case .integer(let integer) = key {
                integers.insert(object, integer)
            } else {
                others.insert(object, key)
            }
        }

        mutating func remove(_ object: DatabaseObject) {
            if object.tablePlace & 1 == 0 { integers.remove(object) } else { others.remove(object) }
        }
    }

    private let entities = Mutex(EntityTables<Entity>())
    private let hasIndexes = Atomic(false)

    /// Whether objects are looked up by other columns than their keys, so that each change of a row counts.
    var isIndexed: Bool { hasIndexes.load(ordering: .relaxed) }

    /// Says from now on that rows count; called before they are read, so that who changes one later knows.
    func noteIndexed() { hasIndexes.store(true, ordering: .relaxed) }

    /// The object of a key, if it is in memory.
    func object(_ entity: Int, _ key: ObjectKey) -> DatabaseObject? {
        entities.withLock { entities in
            guard let place = entities.place(entity) else { return nil }
            if case .integer(let integer) = key { return entities[place].integers.object(integer) }
            return entities[place].others.object(key)
        }
    }

    /// The objects of integer keys, where they are in memory; nil if none of the entity is.
    func objects(_ entity: Int, _ keys: [Int64]) -> [DatabaseObject?]? {
        entities.withLock { entities in
            guard let place = entities.place(entity), entities[place].integers.count > 0 else { return nil }
            return keys.map { entities[place].integers.object($0) }
        }
    }

    /// Every object of an entity that is in memory.
    func objects(of entity: Int) -> [DatabaseObject] {
        entities.withLock { entities in
            guard let place = entities.place(entity) else { return [] }
            return entities[place].integers.objects + entities[place].others.objects
        }
    }

    /// Whether any object of an entity is in memory, or was.
    func knows(_ entity: Int) -> Bool {
        entities.withLock { $0.place(entity) != nil }
    }

    /// How many objects of an entity are in memory.
    func count(of entity: Int) -> Int {
        entities.withLock { entities in
            entities.place(entity).map { entities[$0].integers.count + entities[$0].others.count } ?? 0
        }
    }

    /// Makes room for objects that will be inserted.
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

    /// Gives a key an object without one, unless it leads to one that is in memory, which is returned then.
    func insert(_ object: DatabaseObject, _ entity: Int, ifAbsent key: ObjectKey) -> DatabaseObject? {
        entities.withLock { entities in
            let place = entities.place(entity, orMake: Entity())
            if case .integer(let integer) = key {
                return entities[place].integers.insert(object, ifAbsent: integer)
            }
            return entities[place].others.insert(object, ifAbsent: key)
        }
    }

    /// Gives integer keys objects; those that have a key already keep it.
    ///
    /// Returns the objects in memory that keys led to already, with their positions among the keys.
    func insert(_ objects: [DatabaseObject], _ entity: Int, _ keys: [Int64]) -> [(
        position: Int, object: DatabaseObject
    )] {
        entities.withLock { entities in
            let place = entities.place(entity, orMake: Entity())
            entities[place].integers.reserve(keys.count)
            var known: [(Int, DatabaseObject)] = []
            for position in keys.indices where objects[position].tablePlace < 0 {
                let other = entities[place].integers.insert(objects[position], ifAbsent: keys[position])
                if let other { known.append((position, other)) }
            }
            return known
        }
    }

    /// Gives a key an object, whatever it led to, and takes away the key that the object had.
    func insert(_ object: DatabaseObject, _ entity: Int, _ key: ObjectKey) {
        entities.withLock { entities in
            let place = entities.place(entity, orMake: Entity())
            entities[place].insert(object, key)
        }
    }

    /// Forgets an object, if its key is known.
    func remove(_ object: DatabaseObject, _ entity: Int) {
        entities.withLock { entities in
            guard let place = entities.place(entity) else { return }
            entities[place].remove(object)
        }
    }

    /// Forgets an object that goes out of memory, by its place in the entity's tables.
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
