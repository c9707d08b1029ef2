import KindredPostgres
import KindredSchema

// Finds objects by their keys: in memory, else by one SELECT.
extension DatabaseContext {
    /// The object of an ID: from memory, or by one SELECT by key.
    func identified(_ id: ObjectID) async throws -> DatabaseObject {
        guard !id.isTemporary else { throw KindredError(.invalidObjectID, of: id) }
        guard let entity = core.runtime[id.entity], let key = entity.key(of: id) else {
            throw KindredError(
                .invalidObjectID,
                "This database has no \(id): no such entity, key or table",
                entity: id.entity.description
            )
        }
        if let object = try await found(entity, key, as: key) { return object }
        throw KindredError(.notFound, "There is no row \(id)", entity: id.entity.description)
    }

    func refresh(_ object: DatabaseObject) async throws {
        try object.requireLive()
        let key = try object.requireKey()
        core.noteRefreshed(object)
        guard try await fetch(object.runtime, key) === object else {
            try core.applyDelete(object)
            throw core.gone([object])
        }
        object.withState { $0.acceptStoredVersion() }
    }

    /// `SELECT … WHERE key`: the object, refreshed if it is known.
    func fetch(_ entity: EntityRuntime, _ key: ObjectKey) async throws -> DatabaseObject? {
        let askedAt = core.now
        if let lookups = core.lookups[entity.index],
            let place = lookups.enter(for: key, of: entity, client, isBound: client.isBound)
        {
            let found = try await client.observingShared(try entity.selectByKeys()) {
                try await lookups.wait(at: place, client)
            } rowCount: {
                $0.map { $0.position == nil ? 0 : 1 }
            }
            if let found {
                return try found.position.map {
                    try core.object(from: found.result, row: $0, of: entity, askedAt: askedAt)
                }
            }
        }
        let result = try await selectAlone(entity, key)
        return result.count == 0 ? nil : try core.object(from: result, row: 0, of: entity, askedAt: askedAt)
    }

    /// Sends a look-up of its own; the entity counts it if its look-ups can share statements.
    private func selectAlone(_ entity: EntityRuntime, _ key: ObjectKey) async throws -> QueryResult {
        defer { core.lookups[entity.index]?.leave(client) }
        let text = try entity.selectByKey()
        var bindings = Bindings()
        try entity.append(key, to: &bindings)
        return try await client.execute(
            Statement(text: text, bindings: consume bindings, resultFormat: .binary), for: entity.name)
    }

    func find(_ entity: EntityRuntime, keys parts: [[PropertyContent]]) async throws -> [DatabaseObject] {
        var seen: Set<ObjectKey> = []
        let keys = try parts.compactMap { try key(of: entity, $0) }.filter { seen.insert($0).inserted }
        if entity.rowTable != nil { return try await findFirst(entity, keys) }
        // Held until the end: memory holds its objects weakly.
        var found: [ObjectKey: DatabaseObject] = [:]
        var stale: [ObjectKey: DatabaseObject] = [:]
        for key in keys {
            guard let object = core.liveObject(entity, key) else { continue }
            if object.isStale { stale[key] = object } else { found[key] = object }
        }
        let missing = keys.filter { found[$0] == nil }
        var others: [DatabaseObject] = []
        if !missing.isEmpty {
            let askedAt = core.now
            let result = try await client.execute(try entity.select(missing), for: entity.name)
            for object in try core.objects(from: result, of: entity, askedAt: askedAt) {
                // The server may find rows by keys that it treats as equal, but that differ here.
                if let key = object.key, seen.contains(key) { found[key] = object } else { others.append(object) }
            }
        }
        for (key, object) in stale where found[key] == nil { try core.applyDelete(object) }
        return keys.compactMap { found[$0] } + others
    }

    func find(_ entity: EntityRuntime, _ values: [any PropertyValue]) async throws -> DatabaseObject? {
        guard let key = try key(of: entity, values.map { try $0.propertyContent }) else { return nil }
        let identity = entity.identity(key)
        guard entity.rowTable != nil else { return try await found(entity, key, as: identity) }
        if let object = core.liveObject(entity, identity), !object.isStale { return object }
        return try await findFirst(entity, [key]).first
    }

    /// The object of a key: from memory, or read; a stale one is read again.
    private func found(
        _ entity: EntityRuntime, _ key: ObjectKey, as identity: ObjectKey
    ) async throws -> DatabaseObject? {
        let known = core.liveObject(entity, identity)
        if let known, !known.isStale { return known }
        if let object = try await fetch(entity, key) { return object }
        if let known { try core.applyDelete(known) }
        return nil
    }

    /// The objects of keys where rows of several tables may have one: the row of the entity's own table, else that of another.
    private func findFirst(_ entity: EntityRuntime, _ keys: [ObjectKey]) async throws -> [DatabaseObject] {
        // Only a row of the own table is certain to be the first. Held until the end: memory holds its objects weakly.
        var found: [ObjectKey: DatabaseObject] = [:]
        for key in keys {
            if let object = core.liveObject(entity, entity.identity(key)), !object.isStale { found[key] = object }
        }
        let missing = keys.filter { found[$0] == nil }
        var others: [DatabaseObject] = []
        if !missing.isEmpty {
            let askedAt = core.now
            let statement = try missing.count == 1 ? entity.selectFirst(missing[0]) : entity.selectFirst(missing)
            let wanted = Set(missing)
            let result = try await client.execute(statement, for: entity.name)
            for object in try core.objects(from: result, of: entity, askedAt: askedAt) {
                let key = try ObjectKey(object.storedRow, entity.referencedKey)
                if let key, wanted.contains(key) { found[key] = object } else { others.append(object) }
            }
        }
        return keys.compactMap { found[$0] } + others
    }

    /// An entity's key with some values, without the row's table, as the database has it where it treats differing values as equal.
    private func key(of entity: EntityRuntime, _ values: [PropertyContent]) throws -> ObjectKey? {
        guard !entity.key.isEmpty else {
            throw KindredError(
                .readOnly, "\(entity.name) has no key by which an object could be found",
                entity: entity.name.description
            )
        }
        let columns = entity.referencedKey
        guard values.count == columns.count else {
            let names = columns.map { entity.entity.attributes[$0].name }.joined(separator: ", ")
            throw KindredError(
                .invalidRequest,
                "The key of \(entity.name) is (\(names)): \(columns.count) values, and \(values.count) were given",
                entity: entity.name.description
            )
        }
        // The usual key is one integer, which needs no comparison with a row.
        if entity.hasIntegerKey, case .value(.integer(let integer)?) = values[0],
            entity.entity.attributes[entity.key[0]].baseType.holds(integer)
        {
            return .integer(integer)
        }
        var cells = RowCells()
        for (position, value) in zip(columns, values) {
            guard case .value(let value?) = value else {
                throw entity.wrongType(
                    entity.entity.attributes[position],
                    "a key has one value, which is not NULL; several keys are given as one array")
            }
            try cells.set(value, at: position, of: entity, client.types)
        }
        return try ObjectKey(cells.row(entity.emptyRow(client.types).columns), columns)
    }

    func lock(_ object: DatabaseObject, _ lock: RowLock, _ waiting: RowLock.Waiting) async throws {
        try object.requireLive()
        try requireTransaction()
        let key = try object.requireKey()
        let entity = object.runtime
        let askedAt = core.now
        let result = try await client.execute(try entity.select(key, lock, waiting), for: entity.name)
        if result.count == 1 {
            try core.apply(EntityRows(result, of: entity)[0], to: object, askedAt: askedAt)
            return object.withState { $0.acceptStoredVersion() }
        }
        guard waiting != .skipLocked else {
            throw KindredError(
                .notFound, "\(object) is locked by another transaction, or deleted", entity: entity.name.description)
        }
        try core.applyDelete(object)
        throw core.gone([object])
    }
}

extension KindredError {
    /// The error for the ID of a new object where a stored object's is needed.
    init(_ code: Code, of id: ObjectID) {
        self.init(
            code, "\(id) is the temporary ID of a new object; use the ID that the object has after it is saved",
            entity: id.entity.description)
    }
}
