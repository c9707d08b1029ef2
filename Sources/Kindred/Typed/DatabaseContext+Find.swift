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
    public func find(
        _ entityName: String, _ key: any PropertyValue..., fileID: String = #fileID, line: Int = #line
    ) async throws -> DatabaseObject? {
        try await client.called(at: fileID, line) {
            try await find(try runtime.entity(named: entityName), key)
        }
    }

    private func find(_ entity: EntityRuntime, _ values: [any PropertyValue]) async throws -> DatabaseObject? {
        guard let key = try key(of: entity, values) else { return nil }
        if let object = liveObject(entity, key) { return object }
        return try await fetch(entity, key)
    }

    /// The key of an entity that has some values, equal to that of a row where the database holds them equal.
    private func key(of entity: EntityRuntime, _ values: [any PropertyValue]) throws -> ObjectKey? {
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
        if entity.hasIntegerKey, case .value(.integer(let integer)?) = try values[0].propertyContent,
            entity.entity.attributes[entity.key[0]].baseType.holds(integer)
        {
            return .integer(integer)
        }
        var cells = RowCells()
        for (position, value) in zip(entity.key, values) {
            guard case .value(let value?) = try value.propertyContent else {
                throw entity.wrongType(entity.entity.attributes[position], "a key has one value, which is not NULL")
            }
            try cells.set(value, at: position, of: entity, client.types)
        }
        return try ObjectKey(cells.row(entity.emptyRow(client.types).columns), entity.key)
    }
}
