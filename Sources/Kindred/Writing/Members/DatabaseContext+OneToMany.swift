import KindredPostgres

// Changes of a relationship whose members hold the foreign key: one-to-many, and one-to-one seen from its other side.
extension DatabaseContext {
    func memberStatements(
        _ owner: DatabaseObject,
        _ relationship: RelationshipRuntime,
        _ referenced: [Int],
        _ columns: [Int]
    ) throws -> MemberStatements {
        let members = runtime.entities[relationship.destination]
        guard !members.entity.isReadOnly else { throw members.notWritable }
        let row = owner.storedRow
        let values = try referenced.map { column in
            guard let value = try row[column] else { throw owner.lacksReferencedValue(column, relationship.model.name) }
            return value
        }
        return MemberStatements(
            members: members,
            relationship: relationship,
            columns: columns,
            ownerValues: values
        )
    }

    /// The members join the owner and leave their old ones.
    func attach(_ members: [DatabaseObject], to owner: DatabaseObject, _ statements: MemberStatements) async throws {
        guard !members.isEmpty else { return }
        let rows = try members.map { try $0.versionedKey }
        try requireSharedColumns(members, statements)
        let key = statements.relationship.model.name
        count(statements.relationship, of: owner)
        try await countFormer(members, statements.members, writing: statements.columns)
        if members.count == 1 {
            let result = try await send([try statements.attach(rows[0])], statements.members, key: key)[0]
            if result.count == 1 { unstage(statements.columns, of: members[0]) }
            try await applyUpdated(result, members)
        } else {
            let result = try await send([try statements.attach(rows)], statements.members, key: key)[0]
            for member in members { unstage(statements.columns, of: member) }
            try await applyGuarded(result, members, owner, statements, areJoining: true)
        }
    }

    /// Those of the objects that are members leave the owner.
    func detach(_ members: [DatabaseObject], from owner: DatabaseObject, _ statements: MemberStatements) async throws {
        guard !members.isEmpty else { return }
        let statement = try statements.detach(try members.map { try $0.versionedKey }, leaving: try leaving(statements))
        count(statements.relationship, of: owner)
        let result = try await send([statement], statements.members, key: statements.relationship.model.name)[0]
        try await applyGuarded(result, members, owner, statements)
    }

    /// All members leave the owner.
    func detachAll(from owner: DatabaseObject, _ statements: MemberStatements) async throws {
        let statement = try statements.detachAll(leaving: try leaving(statements))
        count(statements.relationship, of: owner)
        let result = try await send([statement], statements.members, key: statements.relationship.model.name)[0]
        let rows = try EntityRows(result, of: statements.members)
        for position in 0..<rows.count { try applyMember(rows[position], owner, statements, [:]) }
    }

    /// The members become the owner's only ones: the others leave, the missing ones join.
    func replace(_ members: [DatabaseObject], of owner: DatabaseObject, _ statements: MemberStatements) async throws {
        guard !members.isEmpty || statements.members.leavingColumns(of: statements.columns) == nil else {
            return try await detachAll(from: owner, statements)
        }
        let rows = try members.map { try $0.versionedKey }
        try requireSharedColumns(members, statements)
        let entity = statements.members
        let own = entity.ownColumns(of: statements.columns)
        // Where the foreign key is required, the server refuses the leavers, if there are any.
        let leaving = entity.leavingColumns(of: statements.columns) ?? own
        let key = statements.relationship.model.name
        count(statements.relationship, of: owner)
        try await countFormer(members, entity, writing: statements.columns)
        do {
            var batch = [try statements.detachOthers(rows, leaving: leaving)]
            if !members.isEmpty { batch.append(try statements.attach(rows)) }
            let results = try await send(batch, entity, key: key)
            for member in members { unstage(statements.columns, of: member) }
            for (place, result) in results.enumerated() {
                try await applyGuarded(result, members, owner, statements, areJoining: place > 0)
            }
        } catch let error as KindredError where error.code == .missingValue {
            throw entity.requiredRelationship(key, own, underlying: error.underlying)
        }
    }

    /// One-to-one: the member becomes the owner's, the owner's old member is left without.
    func claim(_ member: DatabaseObject, by owner: DatabaseObject, _ statements: MemberStatements) async throws {
        let row = try member.versionedKey
        try requireSharedColumns([member], statements)
        let entity = statements.members
        let own = entity.ownColumns(of: statements.columns)
        let key = statements.relationship.model.name
        try await countFormer([member], entity, writing: statements.columns)
        do {
            let results = try await send(
                [
                    try statements.detachOthers(
                        [row],
                        leaving: entity.leavingColumns(of: statements.columns) ?? own
                    ),
                    try statements.attach(row),
                ],
                entity,
                key: key
            )
            unstage(statements.columns, of: member)
            try await applyGuarded(results[0], [member], owner, statements)
            try await applyUpdated(results[1], [member])
        } catch let error as KindredError where error.code == .missingValue {
            throw entity.requiredRelationship(key, own, underlying: error.underlying)
        }
    }

    /// Applies a guarded statement's answer: rows that changed, and in the last column how many of the members exist.
    private func applyGuarded(
        _ result: QueryResult,
        _ members: [DatabaseObject],
        _ owner: DatabaseObject,
        _ statements: MemberStatements,
        areJoining: Bool = false
    ) async throws {
        let entity = statements.members
        guard let first = result.first, try first[entity.attributeColumns.upperBound] == .integer(Int64(members.count))
        else { throw try await unwritten(members) }
        // A foreign key inside the member's key gives it a new key: look the objects up by the one they get.
        var moved: [ObjectKey: DatabaseObject] = [:]
        let joining = statements.joining
        if areJoining, joining.contains(where: entity.key.contains) {
            for member in members {
                let values = try entity.key.map { column in
                    guard joining.contains(column), let place = statements.columns.firstIndex(of: column)
                    else { return try member.storedRow[column] }
                    return statements.ownerValues[place]
                }
                moved[ObjectKey(values.compactMap { $0 })] = member
            }
        }
        let rows = try EntityRows(result, of: entity)
        for position in 0..<rows.count {
            if let row = try rows.joined(position) { try applyMember(row, owner, statements, moved) }
        }
    }

    /// Applies a member's changed row: to its object, or, where nobody holds one, to the loaded sets that hold the row.
    func applyMember(
        _ row: Row,
        _ owner: DatabaseObject,
        _ statements: MemberStatements,
        _ moved: [ObjectKey: DatabaseObject]
    ) throws {
        let entity = statements.members
        guard let key = try ObjectKey(row, entity.key) else { return }
        if let object = moved[key] ?? liveObject(entity, key) { return try apply(row, to: object) }
        keepLatestRow(row, entity, key)
        noteRow(row, key, atOwner: owner, statements.relationship)
    }

    func leaving(_ statements: MemberStatements) throws -> [Int] {
        if let columns = statements.members.leavingColumns(of: statements.columns) { return columns }
        throw statements.members.requiredRelationship(
            statements.relationship.model.name,
            statements.members.ownColumns(of: statements.columns)
        )
    }

    /// A column that the foreign key shares with the member's key or another foreign key has to agree already.
    func requireSharedColumns(_ members: [DatabaseObject], _ statements: MemberStatements) throws {
        let joining = statements.joining
        for (column, value) in zip(statements.columns, statements.ownerValues) where !joining.contains(column) {
            for member in members where try member.storedRow[column] != value {
                throw member.disagrees(column, statements.relationship.model.name)
            }
        }
    }
}
