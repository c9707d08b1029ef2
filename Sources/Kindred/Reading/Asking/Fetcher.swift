import KindredPostgres
import KindredSchema

/// Finds objects by their keys: in memory, else by one SELECT.
struct Fetcher: Sendable {
    private let core: ContextCore

    init(_ core: ContextCore) { self.core = core }

    /// The object of an ID: from memory, or by one SELECT by key.
    func get(_ id: ObjectID) async throws -> DatabaseObject {
        let (entity, key) = try identity(of: id)
        if let object = try await found(entity, key, as: key) { return object }
        guard entity.tenantColumn == nil else { throw core.otherTenant(entity) }
        throw KindredError(.notFound, "There is no row \(id)", entity: id.entity.description)
    }

    /// The object of an ID, or nil: from memory, or by one SELECT by key.
    func find(_ id: ObjectID) async throws -> DatabaseObject? {
        let (entity, key) = try identity(of: id)
        return try await found(entity, key, as: key)
    }

    private func identity(of id: ObjectID) throws -> (EntityRuntime, ObjectKey) {
        guard !id.isTemporary else { throw KindredError(.invalidObjectID, of: id) }
        guard let entity = try core.entity(named: id.entity), let key = entity.key(of: id) else {
            throw KindredError(
                .invalidObjectID,
                "This database has no \(id): no such entity, key or table",
                entity: id.entity.description
            )
        }
        try core.requireTenant(of: id, entity)
        return (entity, key)
    }

    /// `SELECT … WHERE key`: the object, refreshed if it is known.
    @inline(__always)
    func fetch(_ entity: EntityRuntime, _ key: ObjectKey) async throws -> DatabaseObject? {
        if core.following != nil { try await core.follow(entity) }
        let askedAt = core.now
        let result = try await core.read(try KeyStatements(entity: entity).select(byKey: key), for: entity.name)
        return result.count == 0 ? nil : try core.take(result, row: 0, of: entity, askedAt: askedAt)
    }

    func find(_ entity: EntityRuntime, keys parts: [[DatabaseObject.PropertyContent]]) async throws -> [DatabaseObject]
    {
        try await shown(try await findAny(entity, keys: parts), of: entity)
    }

    func find(_ entity: EntityRuntime, _ values: [any PropertyValue]) async throws -> DatabaseObject? {
        // The usual key needs no array.
        let known = values.count == 1 ? integerKey(try values[0].propertyContent, of: entity) : nil
        guard let key = try known ?? key(of: entity, values.map { try $0.propertyContent }) else { return nil }
        let identity = entity.identity(key)
        let object =
            entity.rowTable == nil
            ? try await found(entity, key, as: identity) : try await findInLine(entity, key, as: identity)
        guard entity.filter != nil, let object else { return object }
        return try await shown([object], of: entity).first
    }

    /// The object of a key in a line of inheritance.
    private func findInLine(
        _ entity: EntityRuntime, _ key: ObjectKey, as identity: ObjectKey
    ) async throws -> DatabaseObject? {
        if let object = core.liveObject(entity, identity), isWhole(object) { return object }
        return try await findFirst(entity, [key]).first
    }

    /// The objects that the entity's filter shows, by their stored rows, or else by one SELECT.
    private func shown(_ objects: [DatabaseObject], of entity: EntityRuntime) async throws -> [DatabaseObject] {
        guard let filter = entity.filter, !objects.isEmpty else { return objects }
        if filter.isExact { return objects.filter { filter.shows($0.storedRow) != false } }
        let result = try await core.read(
            try KeyStatements(entity: entity).selectShown(objects.compactMap(\.key)), for: entity.name)
        let keys = Set(try result.indices.compactMap { try ObjectKey(result, row: $0, Array(entity.key.indices)) })
        return objects.filter { $0.key.map(keys.contains) ?? false }
    }

    private func findAny(_ entity: EntityRuntime, keys parts: [[DatabaseObject.PropertyContent]]) async throws
        -> [DatabaseObject]
    {
        var seen: Set<ObjectKey> = []
        let keys = try parts.compactMap { try key(of: entity, $0) }.filter { seen.insert($0).inserted }
        if entity.rowTable != nil { return try await findFirst(entity, keys) }
        // Held until the end: memory holds its objects weakly.
        var found: [ObjectKey: DatabaseObject] = [:]
        var stale: [ObjectKey: DatabaseObject] = [:]
        for key in keys {
            guard let object = core.liveObject(entity, key) else { continue }
            if object.isStale || core.isPartial(object) { stale[key] = object } else { found[key] = object }
        }
        let missing = keys.filter { found[$0] == nil }
        var others: [DatabaseObject] = []
        if !missing.isEmpty {
            try await core.follow(entity)
            let askedAt = core.now
            let result = try await core.read(try KeyStatements(entity: entity).select(missing), for: entity.name)
            for object in try core.take(result, of: entity, askedAt: askedAt) {
                // The server may find rows by keys that it treats as equal, but that differ here.
                if let key = object.key, seen.contains(key) { found[key] = object } else { others.append(object) }
            }
        }
        for (key, object) in stale where found[key] == nil { try core.take(deletionOf: object) }
        return keys.compactMap { found[$0] } + others
    }

    /// Whether an object in memory need not be read again: it is not stale, and has all columns except lazy columns.
    private func isWhole(_ object: DatabaseObject) -> Bool { !object.isStale && !core.isPartial(object) }

    /// The object of a key: from memory, or read; an object that is stale or lacks columns is read again.
    @inline(__always)
    private func found(
        _ entity: EntityRuntime, _ key: ObjectKey, as identity: ObjectKey
    ) async throws -> DatabaseObject? {
        let known = core.liveObject(entity, identity)
        if let known, isWhole(known) { return known }
        if let object = try await fetch(entity, key) { return object }
        if let known { try core.take(deletionOf: known) }
        return nil
    }

    /// The objects of keys where rows of several tables may have the same key: the row of the entity's own table, else
    /// of another table.
    private func findFirst(_ entity: EntityRuntime, _ keys: [ObjectKey]) async throws -> [DatabaseObject] {
        // Only a row of the own table is certain to be the first. Held until the end: memory holds its objects weakly.
        var found: [ObjectKey: DatabaseObject] = [:]
        for key in keys {
            if let object = core.liveObject(entity, entity.identity(key)), isWhole(object) { found[key] = object }
        }
        let missing = keys.filter { found[$0] == nil }
        var others: [DatabaseObject] = []
        if !missing.isEmpty {
            try await core.follow(entity)
            let askedAt = core.now
            let statement =
                try missing.count == 1
                ? KeyStatements(entity: entity).selectFirst(missing[0])
                : KeyStatements(entity: entity).selectFirst(missing)
            let wanted = Set(missing)
            let result = try await core.read(statement, for: entity.name)
            for object in try core.take(result, of: entity, askedAt: askedAt) {
                let key = try ObjectKey(object.storedRow, entity.referencedKey)
                if let key, wanted.contains(key) { found[key] = object } else { others.append(object) }
            }
        }
        return keys.compactMap { found[$0] } + others
    }

    /// The usual key, which is one integer and needs no comparison with a row; nil for other keys.
    private func integerKey(_ value: DatabaseObject.PropertyContent, of entity: EntityRuntime) -> ObjectKey? {
        guard entity.hasIntegerKey, case .value(.integer(let integer)?) = value,
            entity.entity.attributes[entity.key[0]].baseType.holds(integer)
        else { return nil }
        return .integer(integer)
    }

    /// An entity's key with some values, without the row's table, as the database has it where it treats differing values as equal.
    private func key(of entity: EntityRuntime, _ values: [DatabaseObject.PropertyContent]) throws -> ObjectKey? {
        guard !entity.key.isEmpty else { throw entity.withoutKey }
        let columns = entity.referencedKey
        guard values.count == columns.count else {
            let names = columns.map { entity.entity.attributes[$0].name }.joined(separator: ", ")
            throw KindredError(
                .invalidRequest,
                "The key of \(entity.name) is (\(names)): \(columns.count) values, and \(values.count) were given",
                entity: entity.name.description
            )
        }
        if let key = integerKey(values[0], of: entity) { return key }
        var cells = RowCells()
        for (position, value) in zip(columns, values) {
            guard case .value(let value?) = value else {
                throw entity.wrongType(
                    entity.entity.attributes[position],
                    "a key has one value, which is not NULL; find takes several keys as one array")
            }
            try cells.set(value, at: position, of: entity, core.types)
        }
        return try ObjectKey(cells.row(entity.emptyRow(core.types).columns), columns)
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
