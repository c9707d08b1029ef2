import KindredPostgres
package import KindredSchema

extension ObjectID: PropertyValue {
    /// The ID itself, which stands for its object in to-one relationships and conditions.
    public var propertyContent: PropertyContent { .objectID(self) }
}

extension ObjectID: ObjectReference {
    package var entityName: QualifiedName { entity }

    package func attributeValue(named name: String) throws -> PostgresValue? {
        attributes.firstIndex(of: name).map { values[$0] }
    }

    package func hasAttributes(_ names: [String]) -> Bool { names.allSatisfy(attributes.contains) }
}

/// What an ID that was given for the object of a to-one relationship comes down to.
enum IdentifiedObject {
    /// The object is in memory.
    case object(DatabaseObject)
    /// It is not, and its ID has all that the foreign key takes: the values, one for each of the key's columns.
    case values([PostgresValue])
    /// It is not, and it has to be, to be the other end.
    case unread
}

extension DatabaseContext {
    /// What an ID stands for at the end of a to-one relationship.
    ///
    /// Throws `.wrongType` for the ID of another entity's object, `.invalidObjectID` for that of a new object which is saved or
    /// given up meanwhile.
    func identified(_ id: ObjectID, for relationship: RelationshipRuntime) throws -> IdentifiedObject {
        let destination = runtime.entities[relationship.destination]
        guard id.entity == destination.name else {
            throw wrongMember(relationship, "the ID of an object of \(id.entity)")
        }
        if id.isTemporary {
            guard case .integer(let number)? = id.values.first, let object = liveObject(destination, .temporary(number))
            else { throw KindredError(.invalidObjectID, of: id) }
            return .object(object)
        }
        guard id.attributes == destination.entity.primaryKey else {
            throw KindredError(
                .invalidObjectID,
                "\(destination.name) has not the key (\(id.attributes.joined(separator: ", ")))",
                entity: destination.name.description
            )
        }
        if let object = liveObject(destination, ObjectKey(id.values)) { return .object(object) }
        guard case .foreignKey(_, let referenced) = relationship.link else { return .unread }
        let values = try referenced.compactMap {
            try id.attributeValue(named: destination.entity.attributes[$0].name)
        }
        return values.count == referenced.count ? .values(values) : .unread
    }

    /// The values that an object was given, with objects in the place of IDs where the ID alone is not enough.
    ///
    /// Sends one SELECT for each such object that is not in memory.
    func reading(
        _ values: [String: (any PropertyValue)?], of entity: EntityRuntime
    ) async throws -> [String: (any PropertyValue)?] {
        var result = values
        for (key, value) in values where value is ObjectID {
            guard let relationship = entity.relationship(named: key), entity.attributeIndex(of: key) == nil else {
                continue
            }
            result.updateValue(try await reading(value, for: relationship, needsObject: false), forKey: key)
        }
        return result
    }

    /// What a relationship was given, with the object in the place of an ID where the ID alone is not enough.
    func reading(
        _ value: (any PropertyValue)?, for relationship: RelationshipRuntime, needsObject: Bool
    ) async throws -> (any PropertyValue)? {
        guard let id = value as? ObjectID, !relationship.isToMany else { return value }
        switch try identified(id, for: relationship) {
        case .object(let object): return object
        case .values where !needsObject: return id
        case .values, .unread: return try await identified(id)
        }
    }
}
