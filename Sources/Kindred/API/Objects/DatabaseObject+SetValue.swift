import KindredPostgres

extension DatabaseObject {
    /// Sets an attribute or a relationship, and writes it at once.
    ///
    /// - An attribute, or a to-one relationship whose foreign key the object holds: one UPDATE … RETURNING.
    /// - A one-to-one relationship: the old partner's key becomes NULL and the new one's is set, two statements in one
    ///   round trip; nil is one UPDATE.
    /// - A to-many relationship takes a collection, which becomes its members as with `ToMany.set(_:)`; nil removes
    ///   all members.
    ///
    /// While the object or the one it is given is new, the change is staged and saved with it. An ``ObjectID`` is taken for
    /// its object by a to-one relationship; where more of it has to be known than the ID, and it is not in memory, it is read
    /// by one SELECT first.
    ///
    /// Throws `KindredError`: `.unknownKey` with the nearest keys, `.wrongType` naming the expected and the given type,
    /// `.missingValue` and `.requiredRelationship` for nil where there must be something, all before anything is sent;
    /// `.objectDeleted` if the row is gone, `.constraintViolation` if the database refuses.
    public func setValue(_ value: (any PropertyValue)?, forKey key: String, fileID: String = #fileID, line: Int = #line)
        async throws
    {
        try await context.client.called(at: fileID, line) {
            try context.requireLive(self)
            guard let relationship = runtime.relationship(named: key), runtime.attributeIndex(of: key) == nil else {
                return try await setValues([key: value])
            }
            if relationship.isToMany {
                return try await context.replace(
                    try await context.members(value, of: relationship), of: self, relationship)
            }
            guard relationship.model.kind == .oneToOne else { return try await setValues([key: value]) }
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
    /// Throws as `setValue(_:forKey:)` does, and `.wrongType` for a relationship that is kept in other rows.
    public func setValues(_ values: [String: (any PropertyValue)?], fileID: String = #fileID, line: Int = #line)
        async throws
    {
        try await context.client.called(at: fileID, line) {
            try context.requireLive(self)
            let given = try await context.reading(values, of: runtime)
            if isInserted { return try context.stageOnNew(self, given) }
            _ = try context.requireKey(self)
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
    }

    /// Reads the object's row again.
    ///
    /// One SELECT by key. Loaded relationships are forgotten, so that they are read again when they are used. Throws
    /// `KindredError` `.objectDeleted` if the row is gone; the object then says so in `isDeleted`. `.notStored` for a
    /// new object and `.readOnly` for an entity without a key, before anything is sent. What is staged stays staged.
    public func refresh(fileID: String = #fileID, line: Int = #line) async throws {
        try await context.client.called(at: fileID, line) {
            try await context.refresh(self)
        }
    }
}
