import KindredPostgres

/// Changes the members of an owner by a relationship whose foreign key they hold: one-to-many, and one-to-one from its
/// other side.
struct MemberWriter {
    private let core: ContextCore
    let owner: DatabaseObject
    let statements: MemberStatements

    init(_ core: ContextCore, owner: DatabaseObject, _ relationship: RelationshipRuntime) throws {
        let members = relationship.destination
        guard !members.entity.isReadOnly else { throw members.notWritable }
        self.core = core
        self.owner = owner
        statements = MemberStatements(
            relationship: relationship,
            ownerValues: try owner.referencedValues(relationship.ownColumns, relationship.model.name)
        )
    }

    private var relationship: RelationshipRuntime { statements.relationship }
    private var entity: EntityRuntime { statements.members }

    /// Adds the members to the owner; they leave their former owners.
    ///
    /// - Parameter writesMembers: whether an object is written that is a member already, so that its reference is spelled as the
    ///   owner's key.
    func attach(_ members: [DatabaseObject], writesMembers: Bool) async throws {
        guard !members.isEmpty else { return }
        let members = entity.lockOrder.sorted(members, by: \.storedRow)
        let rows = try members.map { try $0.versionedKey }
        try requireSharedColumns(members)
        let key = relationship.model.name
        if core.counting != nil {
            core.count(relationship, of: owner)
            try await CountCheck(core).noteFormer(members, writing: statements.columns)
        }
        // Where only the server can tell that an object is a member, the statement looks.
        if members.count == 1, writesMembers || !relationship.isComparedByServer {
            let batch = try [statements.attach(rows[0])] + statements.check([rows[0].key], haveJoined: true)
            let result = try await core.client.send(batch, entity, key: key)[0]
            if result.count == 1 { core.unstage(statements.columns, of: members[0]) }
            try await RowWriter(core).applyUpdated(result, members)
        } else {
            let batch = try [statements.attach(rows)] + statements.check(rows.map(\.key), haveJoined: true)
            let result = try await core.client.send(batch, entity, key: key)[0]
            for member in members { core.unstage(statements.columns, of: member) }
            try await applyGuarded(result, members, areJoining: true)
        }
    }

    /// Removes the objects that are members from the owner.
    func detach(_ members: [DatabaseObject]) async throws {
        guard !members.isEmpty else { return }
        let members = entity.lockOrder.sorted(members, by: \.storedRow)
        let rows = try members.map { try $0.versionedKey }
        let batch =
            try [statements.detach(rows, leaving: try leaving)]
            + statements.check(rows.map(\.key), haveJoined: false)
        core.count(relationship, of: owner)
        let result = try await core.client.send(batch, entity, key: relationship.model.name)[0]
        try await applyGuarded(result, members)
    }

    /// Removes all members from the owner.
    func detachAll() async throws {
        let batch = try statements.detachAll(leaving: try leaving)
        core.count(relationship, of: owner)
        let result = try await core.client.send(batch, entity, key: relationship.model.name)[0]
        let rows = try EntityRows(result, of: entity)
        for position in 0..<rows.count { try apply(rows[position]) }
    }

    /// Makes the members the owner's only members.
    func replace(with members: [DatabaseObject]) async throws {
        guard !members.isEmpty || entity.leavingColumns(of: statements.columns) == nil else {
            return try await detachAll()
        }
        let members = entity.lockOrder.sorted(members, by: \.storedRow)
        let rows = try members.map { try $0.versionedKey }
        try requireSharedColumns(members)
        let own = entity.ownColumns(of: statements.columns)
        // If the foreign key is required, the server refuses to set it to NULL for former members.
        let leaving = entity.leavingColumns(of: statements.columns) ?? own
        let key = relationship.model.name
        core.count(relationship, of: owner)
        try await CountCheck(core).noteFormer(members, writing: statements.columns)
        do {
            var batch = [try statements.detachOthers(rows, leaving: leaving)]
            if !members.isEmpty { batch.append(try statements.attach(rows)) }
            let keys = rows.map(\.key)
            let checks = try statements.checkOthers(keys) + statements.check(keys, haveJoined: true)
            let results = try await core.client.send(batch + checks, entity, key: key).prefix(batch.count)
            for member in members { core.unstage(statements.columns, of: member) }
            for (place, result) in results.enumerated() {
                try await applyGuarded(result, members, areJoining: place > 0)
            }
        } catch let error as KindredError where error.code == .missingValue {
            throw entity.requiredRelationship(key, own, underlying: error.underlying)
        }
    }

    /// One-to-one: makes the member the owner's, and leaves the owner's former member without an owner.
    func claim(_ member: DatabaseObject) async throws {
        let row = try member.versionedKey
        try requireSharedColumns([member])
        let own = entity.ownColumns(of: statements.columns)
        let key = relationship.model.name
        try await CountCheck(core).noteFormer([member], writing: statements.columns)
        do {
            let results = try await core.client.send(
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
            try await applyGuarded(results[0], [member])
            try await RowWriter(core).applyUpdated(results[1], [member])
        } catch let error as KindredError where error.code == .missingValue {
            throw entity.requiredRelationship(key, own, underlying: error.underlying)
        }
    }

    /// Applies the result of a guarded statement: the changed rows, and in the last column how many of the members
    /// exist.
    private func applyGuarded(
        _ result: QueryResult, _ members: [DatabaseObject], areJoining: Bool = false
    ) async throws {
        guard let first = result.first, try first[entity.attributeColumns.upperBound] == .integer(Int64(members.count))
        else { throw try await Refresher(core).unwritten(members) }
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
            if let row = try rows.joined(position) { try apply(row, moved: moved) }
        }
    }

    /// Applies a member's changed row to its object, or without an object to the loaded sets that hold the row.
    ///
    /// - Parameter moved: the members whose key has changed, by their new keys.
    func apply(_ row: Row, moved: [ObjectKey: DatabaseObject] = [:]) throws {
        guard let key = try ObjectKey(row, entity.key) else { return }
        try core.take(
            row, of: entity, object: moved[key], at: OwnerEnd(owner: owner, relationship: relationship))
    }

    /// The columns that become NULL in members that leave; throws if the foreign key is required.
    var leaving: [Int] {
        get throws {
            if let columns = entity.leavingColumns(of: statements.columns) { return columns }
            throw entity.requiredRelationship(relationship.model.name, entity.ownColumns(of: statements.columns))
        }
    }

    /// Throws if one of the objects is no member by its row, and no row can become one.
    func requireJoinable(_ objects: [DatabaseObject]) throws {
        for object in objects {
            let row = object.storedRow
            guard try zip(statements.columns, statements.ownerValues).contains(where: { try row[$0] != $1 })
            else { continue }
            return try entity.requireWritable(foreignKey: statements.columns, key: relationship.model.name)
        }
    }

    /// Checks that a column which the foreign key shares with the member's key or another foreign key agrees.
    func requireSharedColumns(_ members: [DatabaseObject]) throws {
        let joining = statements.joining
        for (column, value) in zip(statements.columns, statements.ownerValues) where !joining.contains(column) {
            for member in members where try member.storedRow[column] != value {
                throw member.disagrees(column, relationship.model.name)
            }
        }
    }
}
