import KindredPostgres
import KindredSchema

extension DatabaseContext {
    /// The object of a typed class that has a key, or nil: `find(Person.self, 5)`, `find(Stock.self, store, book)`.
    ///
    /// From memory, else by one SELECT by key. While every connection has such a look-up under way, or some of them where many
    /// tasks look up, those that come wait for the next answer and share a statement; in a transaction, and inside
    /// ``recordingStatements(_:)`` and ``withStatementLimit(_:_:)``, each is its own. The values are those of the key's columns, in their order. Throws
    /// `KindredError`: `.readOnly` for an entity without a key, `.invalidRequest` for another number of values,
    /// `.wrongType` for a value that does not fit its column, `.classMismatch` for a class that is not registered.
    @_disfavoredOverload  // An array is many keys, not one.
    public func find<Object: TypedObject>(
        _ type: Object.Type, _ key: any PropertyValue..., fileID: String = #fileID, line: Int = #line
    ) async throws -> Object? {
        try await client.called(at: fileID, line) {
            let entity = try entity(of: type)
            guard let object = try await find(entity, key) else { return nil }
            return try entity.typed([object])[0]
        }
    }

    /// The object of an entity that has a key, or nil: `find("person", 5)`.
    ///
    /// As ``find(_:_:)-(Object.Type,_)``; throws `.unknownEntity` with the nearest names too.
    @_disfavoredOverload
    public func find(
        _ entityName: String, _ key: any PropertyValue..., fileID: String = #fileID, line: Int = #line
    ) async throws -> DatabaseObject? {
        try await client.called(at: fileID, line) {
            try await find(try runtime.entity(named: entityName), key)
        }
    }

    /// The objects of a typed class that have some keys: `find(Person.self, [5, 7])`.
    ///
    /// In the order of the keys, each object once; a key that no row has is left out. Those that are not in memory are read by
    /// one SELECT, whatever their number, and stay together as objects of one request do. A key of several columns is an
    /// array of its values: `find(Stock.self, [[store, book], [store, other]])`. Throws as ``find(_:_:)-(Object.Type,_)``.
    public func find<Object: TypedObject, Key: PropertyValue>(
        _ type: Object.Type, _ keys: [Key], fileID: String = #fileID, line: Int = #line
    ) async throws -> [Object] {
        try await client.called(at: fileID, line) {
            let entity = try entity(of: type)
            return try entity.typed(try await find(entity, keys: keys.map { try entity.keyParts($0) }))
        }
    }

    /// The objects of a typed class that have some keys of several columns, whose values are of different types.
    ///
    /// As ``find(_:_:)-(Object.Type,[Key])``.
    public func find<Object: TypedObject>(
        _ type: Object.Type, _ keys: [[any PropertyValue]], fileID: String = #fileID, line: Int = #line
    ) async throws -> [Object] {
        try await client.called(at: fileID, line) {
            let entity = try entity(of: type)
            return try entity.typed(try await find(entity, keys: keys.map { try $0.map { try $0.propertyContent } }))
        }
    }

    /// The objects of an entity that have some keys: `find("person", [5, 7])`.
    ///
    /// As ``find(_:_:)-(Object.Type,[Key])``; throws `.unknownEntity` with the nearest names too.
    public func find<Key: PropertyValue>(
        _ entityName: String, _ keys: [Key], fileID: String = #fileID, line: Int = #line
    ) async throws -> [DatabaseObject] {
        try await client.called(at: fileID, line) {
            let entity = try runtime.entity(named: entityName)
            return try await find(entity, keys: keys.map { try entity.keyParts($0) })
        }
    }

    /// The objects of an entity that have some keys of several columns, whose values are of different types.
    ///
    /// As ``find(_:_:)-(Object.Type,[Key])``; throws `.unknownEntity` with the nearest names too.
    public func find(
        _ entityName: String, _ keys: [[any PropertyValue]], fileID: String = #fileID, line: Int = #line
    ) async throws -> [DatabaseObject] {
        try await client.called(at: fileID, line) {
            let entity = try runtime.entity(named: entityName)
            return try await find(entity, keys: keys.map { try $0.map { try $0.propertyContent } })
        }
    }

    private func find(_ entity: EntityRuntime, keys parts: [[PropertyContent]]) async throws -> [DatabaseObject] {
        var seen: Set<ObjectKey> = []
        let keys = try parts.compactMap { try key(of: entity, $0) }.filter { seen.insert($0).inserted }
        // Held until the end: memory holds its objects weakly.
        var found: [ObjectKey: DatabaseObject] = [:]
        for key in keys { found[key] = liveObject(entity, key) }
        let missing = keys.filter { found[$0] == nil }
        var others: [DatabaseObject] = []
        if !missing.isEmpty {
            let text = try entity.text("find keys") {
                let names = try entity.key.map { "t.\(try entity.quoted($0))" }
                let condition = KeySet.condition(names, entity.attributes(entity.key), firstParameter: 1)
                return
                    "SELECT \(try entity.selectList(alias: "t")) FROM \(try entity.quotedName) AS t WHERE \(condition)"
            }
            var bindings = Bindings()
            try KeySet.append(missing, entity.attributes(entity.key), to: &bindings)
            let askedAt = now
            let statement = Statement(text: text, bindings: bindings, resultFormat: .binary)
            let result = try await client.execute(statement, for: entity.name)
            for object in try objects(from: result, of: entity, askedAt: askedAt) {
                // A key that the server alone holds equal to one of the given ones is none of them here.
                if let key = object.key, seen.contains(key) { found[key] = object } else { others.append(object) }
            }
        }
        return keys.compactMap { found[$0] } + others
    }

    private func find(_ entity: EntityRuntime, _ values: [any PropertyValue]) async throws -> DatabaseObject? {
        guard let key = try key(of: entity, values.map { try $0.propertyContent }) else { return nil }
        if let object = liveObject(entity, key) { return object }
        return try await fetch(entity, key)
    }

    /// The key of an entity that has some values, equal to that of a row where the database holds them equal.
    private func key(of entity: EntityRuntime, _ values: [PropertyContent]) throws -> ObjectKey? {
        guard !entity.key.isEmpty else {
            throw KindredError(
                .readOnly, "\(entity.name) has no key by which an object could be found",
                entity: entity.name.description
            )
        }
        guard values.count == entity.key.count else {
            let columns = entity.key.map { entity.entity.attributes[$0].name }.joined(separator: ", ")
            throw KindredError(
                .invalidRequest,
                "The key of \(entity.name) is (\(columns)): \(entity.key.count) values, and \(values.count) were given",
                entity: entity.name.description
            )
        }
        // Mostly it is one integer, which needs no row to be compared.
        if entity.hasIntegerKey, case .value(.integer(let integer)?) = values[0],
            entity.entity.attributes[entity.key[0]].baseType.holds(integer)
        {
            return .integer(integer)
        }
        var cells = RowCells()
        for (position, value) in zip(entity.key, values) {
            guard case .value(let value?) = value else {
                throw entity.wrongType(
                    entity.entity.attributes[position],
                    "a key has one value, which is not NULL; several keys are given as one array")
            }
            try cells.set(value, at: position, of: entity, client.types)
        }
        return try ObjectKey(cells.row(entity.emptyRow(client.types).columns), entity.key)
    }
}

extension EntityRuntime {
    /// The values that a key was given as: one, or a collection where the key has several columns.
    fileprivate func keyParts(_ key: some PropertyValue) throws -> [PropertyContent] {
        let content = try key.propertyContent
        guard case .collection(let parts) = content else { return [content] }
        if self.key.count == 1, let bytes = content.bytes { return [.value(.bytes(bytes))] }
        return parts
    }
}
