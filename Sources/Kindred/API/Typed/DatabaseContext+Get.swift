import KindredPostgres

extension DatabaseContext {
    /// The object of a typed class that must have a key: `get(Person.self, 5)`.
    ///
    /// As `find`, which returns nil where there is none: from memory, else by one SELECT by key. Throws as `find` does, and
    /// `KindredError` `.notFound`, which a server answers with 404, if there is no row.
    public func get<Object: TypedObject>(
        _ type: Object.Type, _ key: any PropertyValue..., fileID: String = #fileID, line: Int = #line
    ) async throws -> Object {
        try await client.called(at: fileID, line) {
            let entity = try entity(of: type)
            return try entity.typed([try await Fetcher(core).get(entity, key)])[0]
        }
    }

    /// The object of an entity that must have a key: `get("person", 5)`.
    ///
    /// As `get` with a typed class; throws also `.unknownEntity` with the nearest names.
    public func get(
        _ entityName: String, _ key: any PropertyValue..., fileID: String = #fileID, line: Int = #line
    ) async throws -> DatabaseObject {
        try await client.called(at: fileID, line) {
            try await Fetcher(core).get(try core.runtime.entity(named: entityName), key)
        }
    }
}

extension Fetcher {
    fileprivate func get(_ entity: EntityRuntime, _ key: [any PropertyValue]) async throws -> DatabaseObject {
        if let object = try await find(entity, key) { return object }
        throw KindredError(.notFound, "There is no \(entity.name) with this key", entity: entity.name.description)
    }
}
