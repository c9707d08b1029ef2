import KindredPostgres

// Checks values for relationships: live objects of the destination entity, from this context.
extension DatabaseContext {
    /// The object, or nil, assigned to a to-one relationship.
    func member(_ value: (any PropertyValue)?, of relationship: RelationshipRuntime) throws -> DatabaseObject? {
        switch try value?.propertyContent {
        case nil, .value(nil): return nil
        case .object(let object):
            try requireMember(object, of: relationship)
            return object
        case .objectID(let id):
            guard case .object(let object) = try identified(id, for: relationship) else {
                throw wrongMember(relationship, "the ID of one that is not in memory; read it first")
            }
            return object
        case .collection, .set: throw wrongMember(relationship, "a collection")
        case .value: throw wrongMember(relationship, "a plain value")
        }
    }

    /// The objects assigned to a to-many relationship, each once.
    func members(_ value: (any PropertyValue)?, of relationship: RelationshipRuntime) async throws -> [DatabaseObject] {
        if case .set(let set)? = try value?.propertyContent {
            guard let known = set.known else { throw set.owner.noProperty("relationship") }
            let objects = try await set.owner.context.members(of: known, owner: set.owner, at: set.place)
            return try distinctMembers(objects, of: relationship)
        }
        return try stageableMembers(value, of: relationship)
    }

    /// The objects assigned to a to-many relationship of a new object, each once, without I/O.
    func stageableMembers(
        _ value: (any PropertyValue)?,
        of relationship: RelationshipRuntime
    ) throws -> [DatabaseObject] {
        switch try value?.propertyContent {
        case nil, .value(nil): return []
        case .collection(let contents):
            let objects = try contents.map { content in
                guard case .object(let object) = content else { throw wrongMember(relationship, "a plain value") }
                return object
            }
            return try distinctMembers(objects, of: relationship)
        case .set: throw wrongMember(relationship, "a set that may have to be read first; give its objects")
        case .object, .objectID: throw wrongMember(relationship, "a single object; give a collection")
        case .value: throw wrongMember(relationship, "a plain value")
        }
    }

    /// The distinct objects, each checked.
    func distinctMembers(
        _ objects: some Sequence<DatabaseObject>,
        of relationship: RelationshipRuntime
    ) throws -> [DatabaseObject] {
        var seen = Set<DatabaseObject>()
        return try objects.filter { object in
            try requireMember(object, of: relationship)
            return seen.insert(object).inserted
        }
    }

    private func requireMember(_ object: DatabaseObject, of relationship: RelationshipRuntime) throws {
        let entity = relationship.destination
        guard object.core === core else {
            throw KindredError(
                .foreignContext,
                "\(object) belongs to another context; fetch it in this one",
                entity: object.runtime.name.description,
                key: relationship.model.name
            )
        }
        guard object.runtime === entity else {
            throw wrongMember(relationship, "an object of \(object.runtime.name)")
        }
        try object.requireLive()
    }

    func wrongMember(_ relationship: RelationshipRuntime, _ given: String) -> KindredError {
        let source = relationship.source.name
        let destination = relationship.destination.name
        return KindredError(
            .wrongType,
            "\(source).\(relationship.model.name) takes objects of \(destination), not \(given)",
            entity: source.description,
            key: relationship.model.name
        )
    }

    func requireValues(_ assignments: Assignments, _ entity: EntityRuntime) throws {
        let missing = entity.entity.attributes.enumerated().filter { position, attribute in
            attribute.isNotNull && !attribute.hasDefault && attribute.identity == .none && !attribute.isGenerated
                && assignments.written[position] == nil
        }.map(\.element.name)
        guard missing.isEmpty || entity.mayFillNewRows else {
            throw KindredError(
                .missingValue,
                "A new row of \(entity.name) needs a value for \(missing.joined(separator: ", "))",
                entity: entity.name.description,
                key: missing[0]
            )
        }
    }
}
