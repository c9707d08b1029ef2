import KindredPostgres

// Changes of a relationship whose members hold the foreign key: one-to-many, and one-to-one from its other side.
extension DatabaseContext {
    func memberStatements(
        _ owner: DatabaseObject, _ relationship: RelationshipRuntime
    ) throws -> MemberStatements {
        let members = relationship.destination
        guard !members.entity.isReadOnly else { throw members.notWritable }
        return MemberStatements(
            relationship: relationship,
            ownerValues: try owner.referencedValues(relationship.ownColumns, relationship.model.name)
        )
    }

    /// Adds the members to the owner; they leave their former owners.
    func attach(_ members: [DatabaseObject], to owner: DatabaseObject, _ statements: MemberStatements) async throws {
        guard !members.isEmpty else { return }
        let rows = try members.map { try $0.versionedKey }
        try requireSharedColumns(members, statements)
        let key = statements.relationship.model.name
        if core.counting != nil {
            core.count(statements.relationship, of: owner)
            try await countFormer(members, statements.members, writing: statements.columns)
        }
        if members.count == 1 {
            let batch = try [statements.attach(rows[0])] + statements.check([rows[0].key], haveJoined: true)
            let result = try await send(batch, statements.members, key: key)[0]
            if result.count == 1 { core.unstage(statements.columns, of: members[0]) }
            try await applyUpdated(result, members)
        } else {
            let batch = try [statements.attach(rows)] + statements.check(rows.map(\.key), haveJoined: true)
            let result = try await send(batch, statements.members, key: key)[0]
            for member in members { core.unstage(statements.columns, of: member) }
            try await applyGuarded(result, members, owner, statements, areJoining: true)
        }
    }

    /// Removes the objects that are members from the owner.
    func detach(_ members: [DatabaseObject], from owner: DatabaseObject, _ statements: MemberStatements) async throws {
        guard !members.isEmpty else { return }
        let rows = try members.map { try $0.versionedKey }
        let batch =
            try [statements.detach(rows, leaving: try leaving(statements))]
            + statements.check(rows.map(\.key), haveJoined: false)
        core.count(statements.relationship, of: owner)
        let result = try await send(batch, statements.members, key: statements.relationship.model.name)[0]
        try await applyGuarded(result, members, owner, statements)
    }

    /// Removes all members from the owner.
    func detachAll(from owner: DatabaseObject, _ statements: MemberStatements) async throws {
        let batch = try statements.detachAll(leaving: try leaving(statements))
        core.count(statements.relationship, of: owner)
        let result = try await send(batch, statements.members, key: statements.relationship.model.name)[0]
        let rows = try EntityRows(result, of: statements.members)
        for position in 0..<rows.count { try applyMember(rows[position], owner, statements, [:]) }
    }

    /// Makes the members the owner's only ones.
    func replace(_ members: [DatabaseObject], of owner: DatabaseObject, _ statements: MemberStatements) async throws {
        guard !members.isEmpty || statements.members.leavingColumns(of: statements.columns) == nil else {
            return try await detachAll(from: owner, statements)
        }
        let rows = try members.map { try $0.versionedKey }
        try requireSharedColumns(members, statements)
        let entity = statements.members
        let own = entity.ownColumns(of: statements.columns)
        // If the foreign key is required, the server refuses to set it to NULL for former members.
        let leaving = entity.leavingColumns(of: statements.columns) ?? own
        let key = statements.relationship.model.name
        core.count(statements.relationship, of: owner)
        try await countFormer(members, entity, writing: statements.columns)
        do {
            var batch = [try statements.detachOthers(rows, leaving: leaving)]
            if !members.isEmpty { batch.append(try statements.attach(rows)) }
            let keys = rows.map(\.key)
            let checks = try statements.checkOthers(keys) + statements.check(keys, haveJoined: true)
            let results = try await send(batch + checks, entity, key: key).prefix(batch.count)
            for member in members { core.unstage(statements.columns, of: member) }
            for (place, result) in results.enumerated() {
                try await applyGuarded(result, members, owner, statements, areJoining: place > 0)
            }
        } catch let error as KindredError where error.code == .missingValue {
            throw entity.requiredRelationship(key, own, underlying: error.underlying)
        }
    }

    /// One-to-one: makes the member the owner's, and leaves the owner's former member without an owner.
    func claim(_ member: DatabaseObject, by owner: DatabaseObject, _ statements: MemberStatements) async throws {
        let row = try member.versionedKey
        try requireSharedColumns([member], statements)
        let entity = statements.members
        let own = entity.ownColumns(of: statements.columns)
        let key = statements.relationship.model.name
        try await countFormer([member], entity, writing: statements.columns)
        do {
            let results = try await send(
                try [
                    try statements.detachOthers(
                        [row],
                        leaving: entity.leavingColumns(of: statements.columns) ?? own
                    ),
                    try statements.attach(row),
                ] + statements.checkOthers([row.key]) + statements.check([row.key], haveJoined: true),
                entity,
                key: key
            )
            core.unstage(statements.columns, of: member)
            try await applyGuarded(results[0], [member], owner, statements)
            try await applyUpdated(results[1], [member])
        } catch let error as KindredError where error.code == .missingValue {
            throw entity.requiredRelationship(key, own, underlying: error.underlying)
        }
    }

    /// Applies the result of a guarded statement: the changed rows, and in the last column how many of the members
    /// exist.
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
        // A foreign key inside the member's key changes that key: look the objects up by their new keys.
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

    /// Applies a member's changed row to its object, or without an object to the loaded sets that hold the row.
    func applyMember(
        _ row: Row,
        _ owner: DatabaseObject,
        _ statements: MemberStatements,
        _ moved: [ObjectKey: DatabaseObject]
    ) throws {
        let entity = statements.members
        guard let key = try ObjectKey(row, entity.key) else { return }
        try core.accept(
            row, of: entity, object: moved[key],
            at: ContextCore.OwnerEnd(owner: owner, relationship: statements.relationship))
    }

    func leaving(_ statements: MemberStatements) throws -> [Int] {
        if let columns = statements.members.leavingColumns(of: statements.columns) { return columns }
        throw statements.members.requiredRelationship(
            statements.relationship.model.name,
            statements.members.ownColumns(of: statements.columns)
        )
    }

    /// Checks that a column which the foreign key shares with the member's key or another foreign key agrees.
    func requireSharedColumns(_ members: [DatabaseObject], _ statements: MemberStatements) throws {
        let joining = statements.joining
        for (column, value) in zip(statements.columns, statements.ownerValues) where !joining.contains(column) {
            for member in members where try member.storedRow[column] != value {
                throw member.disagrees(column, statements.relationship.model.name)
            }
        }
    }
}

extension DatabaseContext {
    /// Sets a one-to-one relationship from either side.
    func setPartner(
        _ partner: DatabaseObject?,
        of object: DatabaseObject,
        _ relationship: RelationshipRuntime
    ) async throws {
        try await readStale([object] + (partner.map { [$0] } ?? []))
        if relationship.holdsForeignKey {
            guard let partner else {
                var assignments = Assignments(object.runtime, for: object)
                try assignments.assign(nil, to: relationship)
                return try await update(object, assignments, key: relationship.model.name)
            }
            // For the partner, the object is its only member.
            let inverse = relationship.inverse
            try await write(of: object.runtime, relationship.ownColumns) {
                try object.requireLive()
                try requireLeave(
                    stagedMembers(of: inverse, partner).filter { $0 !== object }, from: partner, inverse)
                try await claim(object, by: partner, try memberStatements(partner, inverse))
            }
            try stageLeave(stagedMembers(of: inverse, partner).filter { $0 !== object }, from: partner, inverse)
        } else {
            try await write(of: relationship.destination, relationship.otherColumns) {
                try object.requireLive()
                let statements = try memberStatements(object, relationship)
                try requireLeave(
                    stagedMembers(of: relationship, object).filter { $0 !== partner }, from: object, relationship)
                if let partner {
                    try await claim(partner, by: object, statements)
                } else {
                    try await detachAll(from: object, statements)
                }
            }
            try stageLeave(
                stagedMembers(of: relationship, object).filter { $0 !== partner }, from: object, relationship)
        }
    }
}
