import KindredPostgres
import KindredSchema

/// The object or values that an ID assigned to a to-one relationship resolves to.
enum IdentifiedObject {
    /// The object, which is in memory.
    case object(DatabaseObject)
    /// The foreign key's values, if the ID has them all; the object is not in memory.
    case values([PostgresValue])
    /// The object is not in memory, and must be read.
    case unread
}

extension RelationshipValues {
    /// Resolves an ID assigned to a to-one relationship.
    ///
    /// Throws `.wrongType` for the ID of another entity's object, `.invalidObjectID` for the ID of a new object that
    /// has been saved or discarded.
    func identified(_ id: ObjectID, for relationship: RelationshipRuntime) throws -> IdentifiedObject {
        let destination = relationship.destination
        guard try core.entity(named: id.entity) === destination else {
            throw relationship.wrongMember("the ID of an object of \(id.entity)")
        }
        if id.isTemporary {
            guard case .integer(let number)? = id.values.first,
                let object = core.liveObject(destination, .temporary(number))
            else { throw KindredError(.invalidObjectID, of: id) }
            return .object(object)
        }
        guard let key = destination.key(of: id) else {
            throw KindredError(
                .invalidObjectID,
                "\(destination.name) has no key or table as \(id) names them",
                entity: destination.name.description
            )
        }
        try core.requireTenant(of: id, destination)
        if let object = core.liveObject(destination, key) { return .object(object) }
        // The object of another table, to which no foreign key refers, is read for the error that names it.
        guard relationship.holdsForeignKey, id.table == nil else { return .unread }
        let referenced = relationship.otherColumns
        // Only the row tells whose it is.
        if let tenant = destination.tenantColumn, !referenced.contains(tenant) { return .unread }
        let values = try referenced.compactMap {
            try id.attributeValue(named: destination.entity.attributes[$0].name)
        }
        return values.count == referenced.count ? .values(values) : .unread
    }

    /// The values with objects in place of IDs, where an ID is not enough.
    ///
    /// Sends one SELECT for each such object that is not in memory.
    func reading(
        _ values: [String: (any PropertyValue)?], of entity: EntityRuntime
    ) async throws -> [String: (any PropertyValue)?] {
        if core.undoCount > 0 {
            try await Refresher(core).readStale(values.values.compactMap { $0 as? DatabaseObject })
        }
        var result = values
        for (key, value) in values {
            // A cast would look for the type at run time.
            guard let value, type(of: value) == ObjectID.self, let relationship = entity.relationship(named: key),
                entity.attributeIndex(of: key) == nil
            else {
                continue
            }
            result.updateValue(try await reading(value, for: relationship, needsObject: false), forKey: key)
        }
        return result
    }

    /// The value of a relationship, with the object in place of an ID where the ID is not enough.
    func reading(
        _ value: (any PropertyValue)?, for relationship: RelationshipRuntime, needsObject: Bool
    ) async throws -> (any PropertyValue)? {
        guard let id = value as? ObjectID, !relationship.isToMany else { return value }
        switch try identified(id, for: relationship) {
        case .object(let object): return object
        case .values where !needsObject: return id
        case .values, .unread: return try await PrimaryReads.run { try await Fetcher(core).get(id) }
        }
    }
}
