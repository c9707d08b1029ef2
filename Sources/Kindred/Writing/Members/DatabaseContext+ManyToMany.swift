import KindredPostgres
import KindredSchema

// Changes of a many-to-many relationship: they insert and delete rows of the helper table, and leave both ends alone.
extension DatabaseContext {
    func helperStatements(
        _ owner: DatabaseObject,
        _ relationship: RelationshipRuntime,
        _ link: RelationshipRuntime.HelperLink
    ) throws -> HelperStatements {
        HelperStatements(
            relationship: relationship,
            link: link,
            ownerValues: try owner.referencedValues(relationship.ownColumns, relationship.model.name)
        )
    }

    /// One INSERT of the missing pairs.
    func insert(
        _ members: [DatabaseObject], to owner: DatabaseObject, _ statements: HelperStatements,
        through payload: [String: (any PropertyValue)?]
    ) async throws {
        guard !members.isEmpty else { return }
        let assignments = try self.payload(payload, of: statements.relationship, statements.link)
        let result = try await store(try memberKeys(members, statements), owner, statements, payload: assignments)
        try applyWrittenPairs(result, statements.helper, payload: assignments)
        for member in members { join(member, owner, statements) }
        // The pairs came with positions: the order must be read again.
        if statements.relationship.position != nil { core.noteStale(statements.relationship, of: owner) }
    }

    /// Stores pairs, all of them or none; returns their rows where they have payload.
    private func store(
        _ keys: [ObjectKey], _ owner: DatabaseObject, _ statements: HelperStatements, payload: ColumnValues?
    ) async throws -> QueryResult {
        let isChecked = statements.isChecked(payload)
        if isChecked, payload != nil || core.journal == nil {
            let statement = try statements.insert(keys, payload: payload, checks: .allPairs)
            do {
                return try await sendToHelper([statement], owner, statements)[0]
            } catch let error as KindredError where payload == nil && KeptRows(error.underlying) != nil {
                // The statement does not see pairs that another transaction has stored at the same time.
            }
        }
        var batch = [try statements.insert(keys, payload: payload, checks: isChecked ? .storedPairs : .nothing)]
        if statements.mayKeepRows(payload) { batch.append(try statements.check(keys)) }
        return try await sendToHelper(batch, owner, statements)[0]
    }

    /// One DELETE of the pairs.
    func remove(_ members: [DatabaseObject], from owner: DatabaseObject, _ statements: HelperStatements) async throws {
        guard !members.isEmpty else { return }
        let keys = try memberKeys(members, statements)
        let results = try await sendToHelper(try statements.deletion(.members(keys)), owner, statements)
        try applyDeletedPairs(results[0], of: owner, statements)
        guard statements.helper.entity.obstacles.contains(.policies), results[0].count < members.count else {
            for member in members { part(member, owner, statements) }
            return
        }
        // Pairs that a policy hides may still be stored: both ends are read again.
        let relationship = statements.relationship
        core.noteStale(relationship, of: owner)
        for member in members {
            core.noteStale(relationship.inverse, of: member)
            unloadHelperRows(member, owner, statements)
        }
    }

    /// One DELETE of all pairs of the owner.
    func removeAll(from owner: DatabaseObject, _ statements: HelperStatements) async throws {
        let results = try await sendToHelper(try statements.deletion(.all), owner, statements)
        try applyDeletedPairs(results[0], of: owner, statements)
    }

    /// Deletes the pairs that are not among the new ones and inserts the missing ones, in one atomic change.
    func replace(_ members: [DatabaseObject], of owner: DatabaseObject, _ statements: HelperStatements) async throws {
        guard !members.isEmpty else { return try await removeAll(from: owner, statements) }
        let keys = try memberKeys(members, statements)
        let insert = try statements.insert(
            keys, payload: try payload([:], of: statements.relationship, statements.link),
            checks: statements.isChecked(nil) ? .storedPairs : .nothing)
        var batch = try statements.deletion(.others(keys)) + [insert]
        if statements.mayKeepRows(nil) { batch.append(try statements.check(keys)) }
        let results = try await sendToHelper(batch, owner, statements)
        try applyDeletedPairs(results[0], of: owner, statements)
        for member in members { join(member, owner, statements) }
    }

    @discardableResult
    func sendToHelper(_ batch: [Statement], _ owner: DatabaseObject, _ statements: HelperStatements) async throws
        -> [QueryResult]
    {
        core.count(statements.relationship, of: owner)
        let key = statements.relationship.model.name
        do {
            return try await send(batch, statements.helper, key: key)
        } catch let error as KindredError where error.constraint.map(isEndOfHelper(statements)) ?? false {
            throw KindredError(
                .objectDeleted,
                "An end of \(owner.runtime.name).\(key) is no longer in the database; nothing was written",
                entity: error.entity,
                key: key,
                constraint: error.constraint,
                underlying: error.underlying
            )
        }
    }

    private func isEndOfHelper(_ statements: HelperStatements) -> (String) -> Bool {
        let helper = statements.relationship.model.helper
        return { $0 == helper?.sourceForeignKey || $0 == helper?.destinationForeignKey }
    }

    func memberKeys(_ members: [DatabaseObject], _ statements: HelperStatements) throws -> [ObjectKey] {
        let (link, own) = (statements.link, statements.relationship.otherColumns)
        let name = statements.relationship.model.name
        return try members.map { member in
            let values = try member.referencedValues(own, name)
            for (helperColumn, (column, value)) in zip(link.destinationColumns, zip(own, values)) {
                if let shared = link.sourceColumns.firstIndex(of: helperColumn), statements.ownerValues[shared] != value
                {
                    throw member.disagrees(column, name)
                }
            }
            return statements.memberKey(values)
        }
    }

    /// The values for the helper's other columns; throws before anything is sent if a required one is missing.
    func payload(
        _ given: [String: (any PropertyValue)?],
        of relationship: RelationshipRuntime,
        _ link: RelationshipRuntime.HelperLink
    ) throws -> ColumnValues? {
        let helper = link.entity
        var assignments = Assignments(helper)
        for (key, value) in given.sorted(by: { $0.key < $1.key }) {
            guard let column = helper.attributeIndex(of: key), !link.pairColumns.contains(column) else {
                guard helper.attributeIndex(of: key) == nil else {
                    throw KindredError(
                        .wrongType,
                        "\(helper.name).\(key) is set by the relationship itself",
                        entity: helper.name.description,
                        key: key
                    )
                }
                throw helper.unknownKey(key)
            }
            try assignments.assign(value, forKey: key, in: self)
        }
        // The relationship sets positions itself.
        let positions = Set(link.positions.map { helper.entity.attributes[$0.column].name })
        let missing = (relationship.model.helper?.requiredPayload ?? []).filter {
            given[$0] == nil && !positions.contains($0)
        }
        guard missing.isEmpty else {
            throw KindredError(
                .missingValue,
                """
                \(relationship.source.name).\(relationship.model.name) goes through \(helper.name), which \
                requires \(missing.joined(separator: ", ")); use insert(_:through:)
                """,
                entity: helper.name.description,
                key: missing[0]
            )
        }
        return assignments.written.columns.isEmpty ? nil : assignments.written
    }

    func join(_ member: DatabaseObject, _ owner: DatabaseObject, _ statements: HelperStatements) {
        core.notePair(owner, statements.relationship, member, isPaired: true)
        unloadHelperRows(member, owner, statements)
    }

    private func part(_ member: DatabaseObject, _ owner: DatabaseObject, _ statements: HelperStatements) {
        core.notePair(owner, statements.relationship, member, isPaired: false)
        unloadHelperRows(member, owner, statements)
    }

    /// Marks the one-to-many sets of helper rows at both ends as stale.
    func unloadHelperRows(_ member: DatabaseObject, _ owner: DatabaseObject, _ statements: HelperStatements) {
        for end in statements.helper.foreignKeys {
            if end.ownColumns == statements.link.sourceColumns { core.noteHelperRows(end, of: owner) }
            if end.ownColumns == statements.link.destinationColumns { core.noteHelperRows(end, of: member) }
        }
    }

    /// Applies inserted or changed helper rows to their objects and to loaded relationships.
    ///
    /// - Parameter payload: the values written beside the keys, which are no longer staged.
    func applyWrittenPairs(_ result: QueryResult, _ helper: EntityRuntime, payload: ColumnValues?) throws {
        guard result.count > 0, !helper.key.isEmpty, core.withMap({ $0.knows(helper) }) else { return }
        let rows = try EntityRows(result, of: helper)
        for position in 0..<rows.count {
            let row = try rows[position]
            guard let key = try ObjectKey(row, helper.key) else { continue }
            let object = core.liveObject(helper, key)
            if let object, let payload { core.unstage(payload.columns, of: object) }
            try core.accept(row, of: helper, object: object)
        }
    }

    /// Removes the members of deleted pairs from the owner, and marks the pairs' objects as deleted.
    func applyDeletedPairs(_ result: QueryResult, of owner: DatabaseObject, _ statements: HelperStatements) throws {
        let helper = statements.helper
        let relationship = statements.relationship
        let destination = relationship.destination
        for row in result {
            if !helper.key.isEmpty, let key = try ObjectKey(row, helper.key), let object = core.liveObject(helper, key)
            {
                try core.applyDelete(object)
            }
            let columns = statements.link.destinationColumns
            if let member = try core.liveObject(destination, where: relationship.otherColumns, equal: row, columns) {
                part(member, owner, statements)
                continue
            }
            // The helper's rows are also members of one-to-many sets at both ends.
            for end in helper.foreignKeys {
                guard let key = try ObjectKey(row, end.ownColumns) else { continue }
                core.noteStale(end.inverse, key)
            }
            if let ownKey = owner.key, let key = try ObjectKey(row, columns) {
                core.noteUnpaired(relationship.inverse, owner: key, member: ownKey)
            }
            if let order = destination.keyOrder(of: relationship.otherColumns),
                let key = try ObjectKey(row, order.map { columns[$0] })
            {
                for ownKey in core.ownKeys(relationship, owner) {
                    core.noteUnpaired(relationship, owner: ownKey, member: destination.identity(key))
                }
            } else {
                core.noteStale(relationship, of: owner)
            }
        }
    }
}
