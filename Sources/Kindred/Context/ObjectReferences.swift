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

    private struct Entities {
        /// Where an entity's tables stand, plus one; 0 if it has none, since a context sees few of a schema's entities.
        private var places: [Int32] = []
        var tables: [Entity] = []

        /// The place of an entity's tables; nil if it has none.
        func known(_ entity: Int) -> Int? {
            guard entity < places.count, places[entity] != 0 else { return nil }
            return Int(places[entity]) - 1
        }

        /// The place of an entity's tables, which are made if there are none.
        mutating func place(_ entity: Int) -> Int {
            if let known = known(entity) { return known }
            if entity >= places.count { places += repeatElement(0, count: entity + 1 - places.count) }
            tables.append(Entity())
            places[entity] = Int32(tables.count)
            return tables.count - 1
        }
    }

    private let entities = Mutex(Entities())

    /// The object of a key, if it is in memory.
    func object(_ entity: Int, _ key: ObjectKey) -> DatabaseObject? {
        entities.withLock { entities in
            guard let place = entities.known(entity) else { return nil }
            if case .integer(let integer) = key { return entities.tables[place].integers.object(integer) }
            return entities.tables[place].others.object(key)
        }
    }

    /// The objects of integer keys, where they are in memory; nil if none of the entity is.
    func objects(_ entity: Int, _ keys: [Int64]) -> [DatabaseObject?]? {
        entities.withLock { entities in
            guard let place = entities.known(entity), entities.tables[place].integers.count > 0 else { return nil }
            return keys.map { entities.tables[place].integers.object($0) }
        }
    }

    /// Every object of an entity that is in memory.
    func objects(of entity: Int) -> [DatabaseObject] {
        entities.withLock { entities in
            guard let place = entities.known(entity) else { return [] }
            return entities.tables[place].integers.objects + entities.tables[place].others.objects
        }
    }

    /// Whether any object of an entity is in memory.
    func hasObjects(of entity: Int) -> Bool {
        entities.withLock { entities in
            guard let place = entities.known(entity) else { return false }
            return entities.tables[place].integers.count > 0 || entities.tables[place].others.count > 0
        }
    }

    /// Makes room for objects that will be inserted.
    func reserve(_ more: Int, of entity: EntityRuntime) {
        entities.withLock { entities in
            let place = entities.place(entity.index)
            if entity.hasIntegerKey {
                entities.tables[place].integers.reserve(more)
            } else {
                entities.tables[place].others.reserve(more)
            }
        }
    }

    /// Gives a key an object without one, unless it leads to one that is in memory, which is returned then.
    func insert(_ object: DatabaseObject, _ entity: Int, ifAbsent key: ObjectKey) -> DatabaseObject? {
        entities.withLock { entities in
            let place = entities.place(entity)
            if case .integer(let integer) = key {
                return entities.tables[place].integers.insert(object, ifAbsent: integer)
            }
            return entities.tables[place].others.insert(object, ifAbsent: key)
        }
    }

    /// Gives integer keys objects; those that have a key already keep it.
    ///
    /// Returns the objects in memory that keys led to already, with their positions among the keys.
    func insert(_ objects: [DatabaseObject], _ entity: Int, _ keys: [Int64]) -> [(
        position: Int, object: DatabaseObject
    )] {
        entities.withLock { entities in
            let place = entities.place(entity)
            entities.tables[place].integers.reserve(keys.count)
            var known: [(Int, DatabaseObject)] = []
            for position in keys.indices where objects[position].tablePlace < 0 {
                let other = entities.tables[place].integers.insert(objects[position], ifAbsent: keys[position])
                if let other { known.append((position, other)) }
            }
            return known
        }
    }

    /// Gives a key an object, whatever it led to, and takes away the key that the object had.
    func insert(_ object: DatabaseObject, _ entity: Int, _ key: ObjectKey) {
        entities.withLock { entities in
            let place = entities.place(entity)
            entities.tables[place].insert(object, key)
        }
    }

    /// Forgets an object, if its key is known.
    func remove(_ object: DatabaseObject, _ entity: Int) {
        entities.withLock { entities in
            guard let place = entities.known(entity) else { return }
            entities.tables[place].remove(object)
        }
    }

    /// Forgets an object that goes out of memory, by its place in the entity's tables.
    func remove(_ entity: Int, at tablePlace: Int32) {
        entities.withLock { entities in
            guard let place = entities.known(entity) else { return }
            if tablePlace & 1 == 0 {
                entities.tables[place].integers.remove(at: tablePlace)
            } else {
                entities.tables[place].others.remove(at: tablePlace)
            }
        }
    }
}

extension ObjectKey {
    fileprivate var isInteger: Bool {
        if case .integer = self { true } else { false }
    }
}
