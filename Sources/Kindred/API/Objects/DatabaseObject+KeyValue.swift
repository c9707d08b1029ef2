public import KindredPostgres
import KindredSchema
import Synchronization

extension DatabaseObject {
    /// The value of an attribute, without I/O; nil for NULL, and for a new object that has no value yet.
    ///
    /// A getter that is used without `try` cannot throw, so a key that is no attribute reads as nil and is heard otherwise: it is logged as
    /// an error, once for each place, and the context's next save fails with `.unknownKey` and the nearest keys before
    /// anything is sent, so that nothing is stored that follows from it. ``value(forKey:as:)`` throws at once.
    ///
    /// Setting it stages the change: reads see it at once, `save()` writes it, `rollback()` takes it back, and giving the
    /// stored value again unstages it. A setter cannot throw, so a wrong key or a value that does not fit is kept as a
    /// problem that `save()` reports, and the attribute keeps the value it had. `setValue(_:forKey:)` writes at once.
    ///
    /// Use `value(forKey:)` to follow relationships. Should the server have sent
    /// bytes that are no value of the column's type, the bytes are given as they are, in `PostgresValue.other`.
    public subscript(key: String, fileID fileID: String = #fileID, line line: Int = #line) -> PostgresValue? {
        get {
            guard let position = runtime.attributeIndex(of: key) else {
                noteMisread(key, at: SourcePlace(fileID: fileID, line: line))
                return nil
            }
            return row.valueOrRaw(at: position)
        }
        set { stage(newValue, forKey: key) }
    }

    /// The loaded value of an attribute as a Swift type.
    ///
    /// Throws `KindredError` `.unknownKey`, and `PostgresError` `.decodingFailed` where the value does not fit the
    /// type exactly. Sends nothing.
    public func value<T: PostgresDecodable>(forKey key: String, as type: T.Type) throws -> T? {
        guard let position = runtime.attributeIndex(of: key) else { throw runtime.unknownKey(key) }
        return try row.decode(position, as: T.self)
    }

    /// The loaded attributes by name, NULL as nil.
    public var dictionary: [String: PostgresValue?] {
        let row = row
        var result: [String: PostgresValue?] = [:]
        for (position, attribute) in entity.attributes.enumerated() where !attribute.isHidden {
            result.updateValue(row.valueOrRaw(at: position), forKey: attribute.name)
        }
        return result
    }

    /// The value of a key: an attribute's value, a to-one relationship's object, or a to-many relationship's set.
    ///
    /// Sends one query where a relationship's object is not in memory yet; attributes and sets cost nothing.
    /// Throws `KindredError` `.unknownKey` naming the nearest keys, `.objectDeleted` for a relationship of a deleted
    /// object.
    public func value(
        forKey key: String,
        fileID: String = #fileID,
        line: Int = #line
    ) async throws -> KeyValue? {
        if let position = runtime.attributeIndex(of: key) {
            return try row[position].map(KeyValue.attribute)
        }
        guard let relationship = runtime.relationship(named: key) else { throw runtime.unknownKey(key) }
        let place = SourcePlace(fileID: fileID, line: line)
        if relationship.isToMany { return .set(ToMany(self, relationship, at: place)) }
        return try await context.destination(of: relationship, from: self, at: place).map(KeyValue.object)
    }

    /// The values found by following a path of keys such as `person.titles.name`, or `"a.b".name` where a key holds a dot.
    ///
    /// A path through a to-many relationship gives a collection with one element per object reached, in the order of
    /// the walk, NULLs left out. Sends at most one query per relationship and level.
    ///
    /// Throws `KindredError` `.unknownKey` for a path that the model does not have, before anything is sent and whatever the
    /// values on the way are; `.objectDeleted` for a relationship of a deleted object.
    public func value(
        forKeyPath path: String,
        fileID: String = #fileID,
        line: Int = #line
    ) async throws -> KeyValue? {
        let keys = path.keys
        try requireKeyPath(path, keys)
        var objects = [self]
        var values: [KeyValue] = []
        var isCollection = false
        for (position, key) in keys.enumerated() {
            let isLast = position == keys.count - 1
            var next: [DatabaseObject] = []
            for object in objects {
                guard let value = try await object.value(forKey: key, fileID: fileID, line: line) else { continue }
                switch value {
                case .set(let set):
                    if isLast && !isCollection && objects.count == 1 { return value }
                    isCollection = true
                    next += try await set.objects
                case .object(let object):
                    next.append(object)
                case .attribute, .collection:
                    values.append(value)
                }
            }
            objects = next
            if isLast && values.isEmpty { values = objects.map(KeyValue.object) }
        }
        return isCollection ? .collection(values) : values.first
    }

    /// Refuses a path that the model does not have.
    private func requireKeyPath(_ path: String, _ keys: [String]) throws {
        var entity = runtime
        for (position, key) in keys.enumerated() {
            if entity.attributeIndex(of: key) != nil {
                guard position < keys.count - 1 else { return }
                throw KindredError(
                    .unknownKey,
                    "The path \(path) goes on after \"\(key)\", which is an attribute of \(entity.name)",
                    entity: entity.name.description,
                    key: key
                )
            }
            guard let relationship = entity.relationship(named: key) else { throw entity.unknownKey(key) }
            entity = context.runtime.entities[relationship.destination]
        }
    }

    /// The object of a to-one relationship, or nil.
    ///
    /// Sends one query where the object is not in memory yet.
    public func object(
        forKey key: String,
        fileID: String = #fileID,
        line: Int = #line
    ) async throws -> DatabaseObject? {
        let relationship = try requireRelationship(key)
        guard !relationship.isToMany else {
            throw KindredError(
                .wrongType,
                "\(runtime.name).\(key) is a to-many relationship; use set(forKey:)",
                entity: runtime.name.description,
                key: key
            )
        }
        return try await context.destination(
            of: relationship, from: self, at: SourcePlace(fileID: fileID, line: line))
    }

    /// The mutable set of a to-many relationship; each change is written at once.
    ///
    /// Sends nothing: the set loads its members when they are asked for.
    public func set(
        forKey key: String,
        fileID: String = #fileID,
        line: Int = #line
    ) async throws -> ToMany<DatabaseObject> {
        let relationship = try requireRelationship(key)
        guard relationship.isToMany else {
            throw KindredError(
                .wrongType,
                "\(runtime.name).\(key) is a to-one relationship; use object(forKey:)",
                entity: runtime.name.description,
                key: key
            )
        }
        return ToMany(self, relationship, at: SourcePlace(fileID: fileID, line: line))
    }

    package func requireRelationship(_ key: String) throws -> RelationshipRuntime {
        if let relationship = runtime.relationship(named: key) { return relationship }
        guard runtime.attributeIndex(of: key) != nil else { throw runtime.unknownKey(key) }
        throw KindredError(
            .wrongType,
            "\(runtime.name).\(key) is an attribute, not a relationship",
            entity: runtime.name.description,
            key: key
        )
    }

    /// Notes that the program has read an attribute by a key that is none, which looks like NULL to it.
    private func noteMisread(_ key: String, at place: SourcePlace) {
        let isRelationship = runtime.relationship(named: key) != nil
        let reason =
            isRelationship
            ? "\(runtime.name).\(key) is a relationship, not an attribute: value(forKey:) follows it"
            : runtime.unknownKey(key).message
        let error = KindredError(
            isRelationship ? .wrongType : .unknownKey, "Read as nil at \(place): \(reason)",
            entity: runtime.name.description, key: key)
        context.database.mistakes.add(error, at: place)
        context.core.misreads.withLock { misreads in
            // One is enough to keep a save from writing what follows from it.
            guard misreads.count < 16 else { return }
            misreads.append(
                ValidationProblem(error.code, error.message, object: nil, entity: runtime.name.description, key: key))
        }
    }
}
