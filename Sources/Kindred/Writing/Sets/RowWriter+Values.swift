import KindredPostgres

// Sets values of an object by keys: written at once, or staged where new objects take part.
extension RowWriter {
    /// Sets an attribute or a relationship.
    func set(_ value: (any PropertyValue)?, forKey key: String, of object: DatabaseObject) async throws {
        // Nearly always nothing was ever undone: a call that waits for nothing costs a frame all the same.
        if core.undoCount > 0 { try await Refresher(core).readStale(CollectionOfOne(object)) }
        try object.requireLive()
        let entity = object.runtime
        if entity.attributeIndex(of: key) != nil, !object.isInserted {
            _ = try object.requireKey()
            var assignments = Assignments(entity, for: object)
            try assignments.assign(value, forKey: key, in: core)
            return try await update(object, assignments, key: key)
        }
        guard let relationship = entity.relationship(named: key), entity.attributeIndex(of: key) == nil,
            relationship.isToMany || relationship.model.kind == .oneToOne
        else { return try await setCurrent([key: value], of: object) }
        let values = RelationshipValues(core)
        if relationship.isToMany {
            return try await SetWriter(core).replace(
                with: try await values.members(value, of: relationship), of: object, relationship)
        }
        let given = try await values.reading(value, for: relationship, needsObject: true)
        let partner = try values.member(given, of: relationship)
        if object.isInserted || partner?.isInserted == true {
            return try await Stager(core).stageNewPartner(partner, of: object, relationship)
        }
        try await PartnerWriter(core).set(partner, of: object, relationship)
    }

    /// Sets several attributes, and to-one relationships whose foreign keys the object holds.
    func set(_ values: [String: (any PropertyValue)?], of object: DatabaseObject) async throws {
        try await Refresher(core).readStale(CollectionOfOne(object))
        try object.requireLive()
        try await setCurrent(values, of: object)
    }

    /// Sets values of an object whose row is current.
    private func setCurrent(_ values: [String: (any PropertyValue)?], of object: DatabaseObject) async throws {
        let stager = Stager(core)
        let given = try await RelationshipValues(core).reading(values, of: object.runtime)
        if object.isInserted { return try await stager.stageOnNew(object, given) }
        _ = try object.requireKey()
        // Relationships to new objects can only be staged.
        let links = try stager.newDestinations(given, of: object)
        let values = given.filter { links[$0.key] == nil }
        var assignments = Assignments(object.runtime, for: object)
        for (key, value) in values.sorted(by: { $0.key < $1.key }) {
            try assignments.assign(value, forKey: key, in: core)
        }
        for (relationship, destination) in links.values {
            try assignments.requireNone(of: relationship)
            try stager.requireDestination(destination, of: object, relationship)
        }
        try await update(object, assignments, key: values.count == 1 ? values.first?.key : nil)
        for (relationship, destination) in links.values {
            try stager.stageDestination(destination, of: object, relationship)
        }
    }
}
