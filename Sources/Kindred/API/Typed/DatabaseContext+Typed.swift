extension DatabaseContext {
    /// A request for the objects of a typed class.
    ///
    /// Sends nothing. Throws `KindredError` `.classMismatch` for a class that is not registered with the database.
    public func fetch<Object: TypedObject>(_ type: Object.Type) throws -> FetchRequest<Object> {
        FetchRequest(context: self, entity: try entity(of: type))
    }

    /// Stores a new row of a typed class and returns its object: `create(Person.self, [\.surname: "Smith"])`.
    ///
    /// One INSERT … RETURNING. Throws as for an entity by name, and `.classMismatch` for a class that is not
    /// registered.
    @discardableResult
    public func create<Object: TypedObject>(
        _ type: Object.Type,
        _ values: [PartialKeyPath<Object>: (any PropertyValue)?] = [:], fileID: String = #fileID, line: Int = #line
    ) async throws -> Object {
        return try await client.called(at: fileID, line) {
            let entity = try entity(of: type)
            return try entity.typed([try await create(entity.name.description, try named(values, entity))])[0]
        }
    }

    /// Stores a new row of a typed class, or follows `onConflict` if another row has its key already.
    ///
    /// As for an entity by name.
    @discardableResult
    public func create<Object: TypedObject>(
        _ type: Object.Type,
        _ values: [PartialKeyPath<Object>: (any PropertyValue)?],
        onConflict resolution: ConflictResolution, fileID: String = #fileID, line: Int = #line
    ) async throws -> Object {
        try await create(type, [values], onConflict: resolution, fileID: fileID, line: line)[0]
    }

    /// Stores rows of a typed class by one statement; `onConflict` decides about rows whose key already exists.
    ///
    /// As for an entity by name.
    @discardableResult
    public func create<Object: TypedObject>(
        _ type: Object.Type,
        _ rows: [[PartialKeyPath<Object>: (any PropertyValue)?]],
        onConflict resolution: ConflictResolution, fileID: String = #fileID, line: Int = #line
    ) async throws -> [Object] {
        return try await client.called(at: fileID, line) {
            let entity = try entity(of: type)
            let rows = try rows.map { try named($0, entity) }
            return try entity.typed(try await create(entity.name.description, rows, onConflict: resolution))
        }
    }

    /// Makes a new object of a typed class in memory, to be stored by `save()`.
    ///
    /// Sends nothing. Throws as ``insert(_:_:)-(String,_)`` does, and `.classMismatch` for a class that is not
    /// registered.
    @discardableResult
    public func insert<Object: TypedObject>(
        _ type: Object.Type,
        _ values: [PartialKeyPath<Object>: (any PropertyValue)?] = [:]
    ) throws -> Object {
        let entity = try entity(of: type)
        return try entity.typed([try insert(entity.name.description, try named(values, entity))])[0]
    }

    /// Values by the attribute keys of the key paths.
    func named<Object: TypedObject>(
        _ values: [PartialKeyPath<Object>: (any PropertyValue)?],
        _ entity: EntityRuntime
    ) throws -> [String: (any PropertyValue)?] {
        var named: [String: (any PropertyValue)?] = [:]
        for (keyPath, value) in values {
            guard let key = Object.mapping.key(keyPath) else { throw entity.unknownKey(String(describing: keyPath)) }
            // Errors name the relationship, and not the property's stable key.
            named.updateValue(value, forKey: entity.relationship(ofProperty: key)?.model.name ?? key)
        }
        return named
    }

    func entity(of type: any TypedObject.Type) throws -> EntityRuntime {
        let name = core.runtime.classes.entity(of: type.mapping)
        guard let entity = core.runtime[name] else {
            throw KindredError(
                .unknownEntity,
                "The database has no entity \(name) for the class \(type)",
                entity: name.description
            )
        }
        guard let known = core.runtime.classes[name], known.type == type else { throw entity.unregistered(type) }
        return entity
    }
}
