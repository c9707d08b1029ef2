public import KindredPostgres
import KindredSchema
import Synchronization

extension DatabaseObject {
    /// The value of an attribute, without I/O; nil for NULL, and for a new object's attribute without a value.
    ///
    /// A subscript getter used without `try` cannot throw, so an unknown key reads as nil. The mistake is logged as an
    /// error, once for each place, and the context's next save fails with `.unknownKey` and the nearest keys before
    /// anything is sent, so that nothing derived from the wrong value is stored. ``value(forKey:as:)`` throws at once.
    ///
    /// An attribute that was omitted by the object's request, or is lazy, and is not loaded is such a mistake too:
    /// `.notLoaded`. ``value(forKey:fileID:line:)`` loads it.
    ///
    /// Setting it stages the change: reads see it at once, `save()` writes it, `rollback()` discards it, and setting
    /// the stored value again unstages it. A setter cannot throw, so an unknown key or a value of the wrong type is
    /// kept as a problem that `save()` reports, and the attribute keeps its value. While the program does not hold the
    /// object's context nothing can be staged: that is a mistake as above, `.contextReleased`. `setValue(_:forKey:)` writes
    /// at once.
    ///
    /// Use `value(forKey:)` to follow relationships. Bytes that are not a valid value of the column's type are
    /// returned unchanged, in `PostgresValue.other`.
    public subscript(key: String, fileID fileID: String = #fileID, line line: Int = #line) -> PostgresValue? {
        get {
            guard let position = runtime.attributeIndex(of: key) else {
                noteMisread(key, at: SourcePlace(fileID: fileID, line: line))
                return nil
            }
            let row = row
            if row.isLeftOut(at: position) {
                let place = SourcePlace(fileID: fileID, line: line)
                core.note(mistake: runtime.notLoaded(position, readAt: place.description), at: place)
                return nil
            }
            return row.valueOrRaw(at: position)
        }
        set { stage(newValue, forKey: key, setAt: SourcePlace(fileID: fileID, line: line)) }
    }

    /// Stages a value of any type that `insert` and `setValue(_:forKey:)` take for an attribute, such as a date, a range
    /// or an array.
    ///
    /// The same as setting a `PostgresValue`. Write only: ``value(forKey:as:)`` reads a Swift type, and throws where the
    /// value does not fit.
    @_disfavoredOverload
    public subscript<Value: PropertyValue>(key: String) -> Value? {
        @available(*, unavailable, message: "read with value(forKey:as:), or without a type as a PostgresValue")
        get { nil }
        set { stage(property: newValue, forKey: key) }
    }

    /// The loaded value of an attribute as a Swift type.
    ///
    /// Throws `KindredError` `.unknownKey`, `.notLoaded` for an attribute that was omitted, and `PostgresError`
    /// `.decodingFailed` if the value does not fit the type exactly. Sends nothing.
    public func value<T: PostgresDecodable>(forKey key: String, as type: T.Type) throws -> T? {
        guard let position = runtime.attributeIndex(of: key) else { throw runtime.unknownKey(key) }
        let row = row
        if row.isLeftOut(at: position) { throw runtime.notLoaded(position) }
        return try row.decode(position, as: T.self)
    }

    /// The loaded attributes by name, NULL as nil; without attributes that were omitted and are not loaded.
    public var dictionary: [String: PostgresValue?] {
        let row = row
        var result: [String: PostgresValue?] = [:]
        for (position, attribute) in entity.attributes.enumerated()
        where !attribute.isHidden && !row.isLeftOut(at: position) {
            result.updateValue(row.valueOrRaw(at: position), forKey: attribute.name)
        }
        return result
    }

    /// The value of a key: an attribute's value, a to-one relationship's object, or a to-many relationship's set.
    ///
    /// Sends one query if a relationship's object is not in memory; attributes and sets cost nothing, unless a failed
    /// transaction may have undone the row: then it is read again first. An attribute that was omitted is loaded by one
    /// query, for all objects that were read together. Throws
    /// `KindredError` `.unknownKey` naming the nearest keys, `.objectDeleted` for a relationship of a deleted object.
    public func value(
        forKey key: String,
        fileID: String = #fileID,
        line: Int = #line
    ) async throws -> DatabaseObject.KeyValue? {
        if let position = runtime.attributeIndex(of: key) {
            if isStale {
                try await called(at: fileID, line) { core in
                    try await Refresher(core).readStale(CollectionOfOne(self))
                }
            }
            let row = row
            if !row.isLeftOut(at: position) { return try row[position].map(DatabaseObject.KeyValue.attribute) }
            let place = SourcePlace(fileID: fileID, line: line)
            return try await called(at: fileID, line) { core in
                try await ColumnLoader(core).value(at: position, of: self, at: place).map(
                    DatabaseObject.KeyValue.attribute)
            }
        }
        guard let relationship = runtime.relationship(named: key) else { throw runtime.unknownKey(key) }
        let place = SourcePlace(fileID: fileID, line: line)
        if relationship.isToMany { return .set(ToMany(self, relationship, at: place)) }
        return try await destination(of: relationship, at: place).map(DatabaseObject.KeyValue.object)
    }

    /// The values at a path of keys such as `person.titles.name`, or `"a.b".name` if a key contains a dot.
    ///
    /// A path through a to-many relationship returns a collection with one element per object reached, in traversal
    /// order, without NULLs. Sends at most one query per relationship and level.
    ///
    /// Throws `KindredError` `.unknownKey` for a path that is not in the model, before anything is sent and
    /// independently of the values; `.objectDeleted` for a relationship of a deleted object.
    public func value(
        forKeyPath path: String,
        fileID: String = #fileID,
        line: Int = #line
    ) async throws -> DatabaseObject.KeyValue? {
        let keys = path.keys
        try requireKeyPath(path, keys)
        var objects = [self]
        var values: [DatabaseObject.KeyValue] = []
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
            if isLast && values.isEmpty { values = objects.map(DatabaseObject.KeyValue.object) }
        }
        return isCollection ? .collection(values) : values.first
    }

    /// Throws for a path that is not in the model.
    private func requireKeyPath(_ path: String, _ keys: [String]) throws {
        var entity = runtime
        for (position, key) in keys.enumerated() {
            if entity.attributeIndex(of: key) != nil {
                guard position < keys.count - 1 else { return }
                throw KindredError(
                    .unknownKey,
                    "The path \(path) continues after \"\(key)\", which is an attribute of \(entity.name)",
                    entity: entity.name.description,
                    key: key
                )
            }
            guard let relationship = entity.relationship(named: key) else { throw entity.unknownKey(key) }
            entity = relationship.destination
        }
    }

    /// The object of a to-one relationship, or nil.
    ///
    /// Sends one query if the object is not in memory.
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
        return try await destination(of: relationship, at: SourcePlace(fileID: fileID, line: line))
    }

    /// The object of a to-one relationship that the program asks for, or nil.
    @inline(__always)
    func destination(of relationship: RelationshipRuntime, at place: SourcePlace?) async throws -> DatabaseObject? {
        if let object = try Loader(core).destinationAtHand(of: relationship, from: self) { return object }
        return try await Loader(core).ownDestination(of: relationship, from: self, at: place)
    }

    /// The mutable set of a to-many relationship; each change is written at once.
    ///
    /// Sends nothing: the set loads its members on first use.
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

    /// Records that the program has read an attribute by an unknown key, which looks like NULL to it.
    private func noteMisread(_ key: String, at place: SourcePlace) {
        let isRelationship = runtime.relationship(named: key) != nil
        let reason =
            isRelationship
            ? "\(runtime.name).\(key) is a relationship, not an attribute: value(forKey:) follows it"
            : runtime.unknownKey(key).message
        let error = KindredError(
            isRelationship ? .wrongType : .unknownKey, "Read as nil at \(place): \(reason)",
            entity: runtime.name.description, key: key)
        core.note(mistake: error, at: place)
    }
}
