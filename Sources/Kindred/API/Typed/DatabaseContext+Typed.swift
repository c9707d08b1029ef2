import KindredPostgres

extension DatabaseContext {
    /// A request for the objects of a typed class.
    ///
    /// Sends nothing. Throws `KindredError` `.classMismatch` for a class that is not registered with the database.
    public func fetch<Object: TypedObject>(_ type: Object.Type) throws -> FetchRequest<Object> {
        FetchRequest(context: self, entity: try entity(of: type))
    }

    /// Stores a new row of a typed class and returns its object: `create(Person.self) { $0.surname = "Smith" }`.
    ///
    /// One INSERT … RETURNING. Throws as for an entity by name, `.classMismatch` for a class that is not registered, and the
    /// errors of the closure.
    @discardableResult
    public func create<Object: TypedObject>(
        _ type: Object.Type,
        fileID: String = #fileID,
        line: Int = #line,
        with fill: (inout NewValues<Object>) throws -> Void = { _ in }
    ) async throws -> Object {
        try await create(try NewValues(fill), fileID: fileID, line: line)
    }

    /// Stores a new row with the values of a generated `new`: `create(Email.new(address: "jo@example.org"))`.
    ///
    /// One INSERT … RETURNING. Throws as for an entity by name, and `.classMismatch` for a class that is not registered.
    @discardableResult
    public func create<Object: TypedObject>(
        _ new: NewValues<Object>, fileID: String = #fileID, line: Int = #line
    ) async throws -> Object {
        return try await client.called(at: fileID, line) {
            let entity = try entity(of: Object.self)
            return try entity.typed([try await create(entity.name.description, try new.named(entity))])[0]
        }
    }

    /// Makes a new object of a typed class in memory, to be stored by `save()`: `add(Person.self) { $0.surname = "Smith" }`.
    ///
    /// Sends nothing. Throws as ``add(_:_:)-(String,_)`` does, `.classMismatch` for a class that is not registered, and the
    /// errors of the closure.
    @discardableResult
    public func add<Object: TypedObject>(
        _ type: Object.Type,
        with fill: (inout NewValues<Object>) throws -> Void = { _ in }
    ) throws -> Object {
        try add(try NewValues(fill))
    }

    /// Makes a new object in memory with the values of a generated `new`: `add(Email.new(address: "jo@example.org"))`.
    ///
    /// Sends nothing. Throws as ``add(_:_:)-(String,_)`` does, and `.classMismatch` for a class that is not registered.
    @discardableResult
    public func add<Object: TypedObject>(_ new: NewValues<Object>) throws -> Object {
        let entity = try entity(of: Object.self)
        guard let layout = entity.layout else { throw entity.unregistered(Object.self) }
        return try entity.typed(try Stager(core).insert(entity, try new.checked(), by: layout))
    }

    package func entity(of type: any TypedObject.Type) throws -> EntityRuntime {
        if let known = core.runtime.entity(of: type) { return known }
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
