import KindredPostgres

/// The objects that a program gives as values of relationships: they must be live, of the destination's entity, and of
/// this context.
struct RelationshipValues: Sendable {
    let core: ContextCore

    init(_ core: ContextCore) { self.core = core }

    /// The object, or nil, assigned to a to-one relationship.
    func member(_ value: (any PropertyValue)?, of relationship: RelationshipRuntime) throws -> DatabaseObject? {
        switch try value?.propertyContent {
        case nil, .value(nil): return nil
        case .object(let object):
            try requireMember(object, of: relationship)
            return object
        case .objectID(let id):
            guard case .object(let object) = try identified(id, for: relationship) else {
                throw relationship.wrongMember("the ID of one that is not in memory; read it first")
            }
            return object
        case .collection, .set: throw relationship.wrongMember("a collection")
        case .value: throw relationship.wrongMember("a plain value")
        }
    }

    /// The objects assigned to a to-many relationship, each once.
    func members(_ value: (any PropertyValue)?, of relationship: RelationshipRuntime) async throws -> [DatabaseObject] {
        if case .set(let set)? = try value?.propertyContent {
            guard let known = set.known else { throw set.owner.noProperty("relationship") }
            // The set may be one of another context.
            let objects = try await PrimaryReads.run {
                try await Loader(set.owner.core).members(of: known, owner: set.owner, at: set.place)
            }
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
                guard case .object(let object) = content else { throw relationship.wrongMember("a plain value") }
                return object
            }
            return try distinctMembers(objects, of: relationship)
        case .set: throw relationship.wrongMember("a set that may have to be read first; give its objects")
        case .object, .objectID: throw relationship.wrongMember("a single object; give a collection")
        case .value: throw relationship.wrongMember("a plain value")
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
            guard object.core.hasTenant(of: core) else {
                throw core.otherTenant(object.runtime, key: relationship.model.name)
            }
            throw KindredError(
                .foreignContext,
                "\(object) belongs to another context; fetch it in this one",
                entity: object.runtime.name.description,
                key: relationship.model.name
            )
        }
        guard object.runtime === entity else {
            throw relationship.wrongMember("an object of \(object.runtime.name)")
        }
        try object.requireLive()
    }
}

extension RelationshipRuntime {
    /// The error for a value that is no object of the destination.
    func wrongMember(_ given: String) -> KindredError {
        return KindredError(
            .wrongType,
            "\(source.name).\(model.name) takes objects of \(destination.name), not \(given)",
            entity: source.name.description,
            key: model.name
        )
    }
}
