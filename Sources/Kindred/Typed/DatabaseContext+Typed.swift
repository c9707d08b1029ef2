extension DatabaseContext {
    /// A request for the objects of a typed class.
    ///
    /// Sends nothing. Throws `KindredError` `.classMismatch` for a class that is not registered with the database.
    public func fetch<Object: TypedObject>(_ type: Object.Type) throws -> FetchRequest<Object> {
        FetchRequest(context: self, entity: try entity(of: type))
    }

    /// Stores a new row of a typed class and returns its object: `create(Person.self, [\.surname: "Smith"])`.
    ///
    /// One INSERT … RETURNING. Throws as ``create(_:_:)-(String,_)`` does, and `.classMismatch` for a class that is not
    /// registered.
    @discardableResult
    public func create<Object: TypedObject>(
        _ type: Object.Type,
        _ values: [PartialKeyPath<Object>: (any PropertyValue)?] = [:]
    ) async throws -> Object {
        let entity = try entity(of: type)
        let keys = type.keys
        var named: [String: (any PropertyValue)?] = [:]
        for (keyPath, value) in values {
            guard let key = keys[keyPath] else { throw entity.unknownKey(String(describing: keyPath)) }
            named.updateValue(value, forKey: key)
        }
        return try entity.typed([try await create(entity.name.description, named)])[0]
    }

    func entity(of type: any TypedObject.Type) throws -> EntityRuntime {
        guard let entity = runtime[type.mapping.entity] else {
            throw KindredError(
                .unknownEntity,
                "The database has no entity \(type.mapping.entity) for the class \(type)",
                entity: type.mapping.entity.description
            )
        }
        guard runtime.classes.contains(type) else { throw entity.unregistered(type) }
        return entity
    }
}
