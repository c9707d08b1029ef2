import KindredPostgres

extension DatabaseObject {
    /// Sets an attribute or a relationship, and writes it at once.
    ///
    /// - An attribute, or a to-one relationship whose foreign key the object holds: one UPDATE … RETURNING.
    /// - A one-to-one relationship: the old partner's key becomes NULL and the new one's is set, two statements in one
    ///   round trip; nil is one UPDATE.
    /// - A to-many relationship takes a collection, which replaces its members as `ToMany.set(_:)` does; nil removes
    ///   all members.
    ///
    /// If the object or the new value is a new object, the change is staged and saved with it. A to-one relationship
    /// accepts an ``ObjectID`` for its object; if more than the ID is needed and the object is not in memory, one
    /// SELECT reads it first.
    ///
    /// Throws `KindredError`: `.unknownKey` with the nearest keys, `.wrongType` naming the expected and the given type,
    /// `.missingValue` and `.requiredRelationship` for nil where a value is required, all before anything is sent;
    /// `.objectDeleted` if the row is gone, `.constraintViolation` if the database refuses.
    public func setValue(_ value: (any PropertyValue)?, forKey key: String, fileID: String = #fileID, line: Int = #line)
        async throws
    {
        try await called(at: fileID, line) { context in
            try await Refresher(context.core).readStale(CollectionOfOne(self))
            try requireLive()
            guard let relationship = runtime.relationship(named: key), runtime.attributeIndex(of: key) == nil else {
                return try await setValues([key: value], in: context)
            }
            if relationship.isToMany {
                return try await context.replace(
                    try await context.members(value, of: relationship), of: self, relationship)
            }
            guard relationship.model.kind == .oneToOne else { return try await setValues([key: value], in: context) }
            let given = try await context.reading(value, for: relationship, needsObject: true)
            let object = try context.member(given, of: relationship)
            if isInserted || object?.isInserted == true {
                return try await context.stageNewPartner(object, of: self, relationship)
            }
            try await context.setPartner(object, of: self, relationship)
        }
    }

    /// Sets several attributes, and to-one relationships whose foreign keys the object holds, by one UPDATE … RETURNING.
    ///
    /// Throws as `setValue(_:forKey:)` does, and `.wrongType` for a relationship stored in other rows.
    public func setValues(_ values: [String: (any PropertyValue)?], fileID: String = #fileID, line: Int = #line)
        async throws
    {
        try await called(at: fileID, line) { context in
            try await Refresher(context.core).readStale(CollectionOfOne(self))
            try requireLive()
            try await setValues(values, in: context)
        }
    }

    private func setValues(_ values: [String: (any PropertyValue)?], in context: DatabaseContext) async throws {
        let given = try await context.reading(values, of: runtime)
        if isInserted { return try context.stageOnNew(self, given) }
        _ = try requireKey()
        // Relationships to new objects can only be staged.
        let links = try context.newDestinations(given, of: self)
        let values = given.filter { links[$0.key] == nil }
        var assignments = Assignments(runtime, for: self)
        for (key, value) in values.sorted(by: { $0.key < $1.key }) {
            try assignments.assign(value, forKey: key, in: context)
        }
        for (relationship, object) in links.values {
            try assignments.requireNone(of: relationship)
            try context.requireDestination(object, of: self, relationship)
        }
        try await context.update(self, assignments, key: values.count == 1 ? values.first?.key : nil)
        for (relationship, object) in links.values { try context.stageDestination(object, of: self, relationship) }
    }

    /// Reads the object's row again.
    ///
    /// One SELECT by key. Loaded relationships become stale, and are loaded again on their next use. Throws
    /// `KindredError` `.objectDeleted` if the row is gone, and `isDeleted` becomes true; `.notStored` for a new object
    /// and `.readOnly` for an entity without a key, before anything is sent. Staged changes stay staged.
    public func refresh(fileID: String = #fileID, line: Int = #line) async throws {
        try await called(at: fileID, line) { context in
            try await Refresher(context.core).refresh(self)
        }
    }
}
