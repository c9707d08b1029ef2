import KindredPostgres
import KindredSchema

extension DatabaseContext {
    /// The object of a typed class that has a key, or nil: `find(Person.self, 5)`, `find(Stock.self, store, book)`.
    ///
    /// From memory, else by one SELECT by key. The values belong to the key's columns, in their order. Where other
    /// tables inherit from the entity's, the row of its own table is found, or else a row of an inheriting table. An
    /// object that the entity's filter hides is not found; where only the server can evaluate the filter, one SELECT
    /// more asks for that.
    ///
    /// Throws `KindredError`: `.readOnly` for an entity without a key, `.invalidRequest` for the wrong number of values,
    /// `.wrongType` for a value that does not fit its column, `.classMismatch` for a class that is not registered.
    @_disfavoredOverload  // An array is many keys, not one.
    public func find<Object: TypedObject>(
        _ type: Object.Type, _ key: any PropertyValue..., fileID: String = #fileID, line: Int = #line
    ) async throws -> Object? {
        try await client.called(at: fileID, line) {
            let entity = try entity(of: type)
            guard let object = try await Fetcher(core).find(entity, key) else { return nil }
            return try entity.typed([object])[0]
        }
    }

    /// The object of an entity that has a key, or nil: `find("person", 5)`.
    ///
    /// As the look-up of a typed class; throws `.unknownEntity` with the nearest names too.
    @_disfavoredOverload
    public func find(
        _ entityName: String, _ key: any PropertyValue..., fileID: String = #fileID, line: Int = #line
    ) async throws -> DatabaseObject? {
        try await client.called(at: fileID, line) {
            try await Fetcher(core).find(try core.runtime.entity(named: entityName), key)
        }
    }

    /// The objects of a typed class that have some keys: `find(Person.self, [5, 7])`.
    ///
    /// In the order of the keys, each object once; keys without a row are left out. One SELECT reads the objects that
    /// are not in memory, for any number of keys; they load relationships together, as objects of one request do. A key
    /// of several columns is an array of its values: `find(Stock.self, [[store, book], [store, other]])`. Throws as
    /// the look-up of one object.
    public func find<Object: TypedObject, Key: PropertyValue>(
        _ type: Object.Type, _ keys: [Key], fileID: String = #fileID, line: Int = #line
    ) async throws -> [Object] {
        try await client.called(at: fileID, line) {
            let entity = try entity(of: type)
            return try entity.typed(try await Fetcher(core).find(entity, keys: keys.map { try entity.keyParts($0) }))
        }
    }

    /// The objects of a typed class that have some keys of several columns, whose values are of different types.
    ///
    /// As with keys of one type.
    public func find<Object: TypedObject>(
        _ type: Object.Type, _ keys: [[any PropertyValue]], fileID: String = #fileID, line: Int = #line
    ) async throws -> [Object] {
        try await client.called(at: fileID, line) {
            let entity = try entity(of: type)
            return try entity.typed(
                try await Fetcher(core).find(entity, keys: keys.map { try $0.map { try $0.propertyContent } }))
        }
    }

    /// The objects of an entity that have some keys: `find("person", [5, 7])`.
    ///
    /// As `find` with a typed class; throws also `.unknownEntity` with the nearest names.
    public func find<Key: PropertyValue>(
        _ entityName: String, _ keys: [Key], fileID: String = #fileID, line: Int = #line
    ) async throws -> [DatabaseObject] {
        try await client.called(at: fileID, line) {
            let entity = try core.runtime.entity(named: entityName)
            return try await Fetcher(core).find(entity, keys: keys.map { try entity.keyParts($0) })
        }
    }

    /// The objects of an entity that have some keys of several columns, whose values are of different types.
    ///
    /// As `find` with a typed class; throws also `.unknownEntity` with the nearest names.
    public func find(
        _ entityName: String, _ keys: [[any PropertyValue]], fileID: String = #fileID, line: Int = #line
    ) async throws -> [DatabaseObject] {
        try await client.called(at: fileID, line) {
            let entity = try core.runtime.entity(named: entityName)
            return try await Fetcher(core).find(entity, keys: keys.map { try $0.map { try $0.propertyContent } })
        }
    }
}

extension EntityRuntime {
    /// The values of a given key: one, or a collection if the key has several columns.
    fileprivate func keyParts(_ key: some PropertyValue) throws -> [DatabaseObject.PropertyContent] {
        let content = try key.propertyContent
        guard case .collection(let parts) = content else { return [content] }
        if referencedKey.count == 1, let bytes = content.bytes { return [.value(.bytes(bytes))] }
        return parts
    }
}
