import KindredPostgres

// Changes of a to-many relationship: staged if new objects take part, else one statement.
extension DatabaseContext {
    /// The statements that change a set: of its members' rows, or of a helper's.
    private enum SetStatements {
        case members(MemberStatements)
        case helper(HelperStatements)
    }

    /// Adds objects to an owner's set; they leave their former owners.
    func join(
        _ objects: some Sequence<DatabaseObject>, to owner: DatabaseObject, _ relationship: RelationshipRuntime
    ) async throws {
        let all = try distinctMembers(objects, of: relationship)
        if relationship.position != nil { return try await append(all, to: owner, relationship, through: nil) }
        let (staged, members) = try split(all, owner, relationship)
        if !staged.isEmpty { try requireJoin(staged, to: owner, relationship) }
        if members.isEmpty {
            try owner.requireLive()
        } else {
            try await change(relationship, of: owner, with: members) { change in
                switch change {
                case .members(let statements): try await attach(members, to: owner, statements)
                case .helper(let statements): try await insert(members, to: owner, statements, through: [:])
                }
            }
        }
        if !staged.isEmpty { try stageJoin(staged, to: owner, relationship) }
    }

    /// Adds an object through a helper's row with values of its own.
    func join(
        _ object: DatabaseObject, to owner: DatabaseObject, _ relationship: RelationshipRuntime,
        through given: [String: (any PropertyValue)?]
    ) async throws {
        let members = try distinctMembers(CollectionOfOne(object), of: relationship)
        guard let link = relationship.helper else {
            try owner.requireLive()
            let name = relationship.model.name
            throw KindredError(
                .wrongType,
                "\(owner.runtime.name).\(name) does not go through a helper table",
                entity: owner.runtime.name.description,
                key: name
            )
        }
        if owner.isInserted || object.isInserted {
            let payload = try payload(given, of: relationship, link)
            return try stageJoin(members, to: owner, relationship, payload: payload)
        }
        if let position = relationship.position {
            let payload = try payload(given, of: relationship, link)
            // A position in the payload is written like any other column.
            if payload?[position] == nil { return try await append(members, to: owner, relationship, through: payload) }
        }
        try await change(relationship, of: owner, with: members) { change in
            guard case .helper(let statements) = change else { return }
            try await insert(members, to: owner, statements, through: given)
        }
    }

    /// Removes objects from an owner's set; objects that are not members stay unchanged.
    func leave(
        _ objects: some Sequence<DatabaseObject>, from owner: DatabaseObject, _ relationship: RelationshipRuntime
    ) async throws {
        let all = try distinctMembers(objects, of: relationship)
        let joined = Set(stagedMembers(of: relationship, owner))
        let staged = all.filter { owner.isInserted || $0.isInserted || joined.contains($0) }
        let members = all.filter { !owner.isInserted && !$0.isInserted && !joined.contains($0) }
        try requireLeave(staged, from: owner, relationship)
        if members.isEmpty {
            try owner.requireLive()
        } else {
            try await change(relationship, of: owner, with: members) { change in
                switch change {
                case .members(let statements): try await detach(members, from: owner, statements)
                case .helper(let statements): try await remove(members, from: owner, statements)
                }
            }
        }
        try stageLeave(staged, from: owner, relationship)
    }

    /// Removes every member from an owner's set, including members that were never read.
    func leaveAll(_ owner: DatabaseObject, _ relationship: RelationshipRuntime) async throws {
        try requireLeave(stagedMembers(of: relationship, owner), from: owner, relationship)
        if !owner.isInserted {
            try await change(relationship, of: owner) { change in
                switch change {
                case .members(let statements): try await detachAll(from: owner, statements)
                case .helper(let statements): try await removeAll(from: owner, statements)
                }
            }
        }
        try stageLeave(stagedMembers(of: relationship, owner), from: owner, relationship)
    }

    /// Makes objects the only members of an owner's set.
    ///
    /// - Parameter all: the objects, each once and checked, as `distinctMembers` returns them.
    func replace(
        _ all: [DatabaseObject], of owner: DatabaseObject, _ relationship: RelationshipRuntime
    ) async throws {
        if relationship.position != nil { return try await setOrder(all, of: owner, relationship) }
        let (staged, members) = try split(all, owner, relationship)
        try requireReplace(staged, of: owner, relationship)
        if !owner.isInserted {
            try await change(relationship, of: owner, with: members) { change in
                switch change {
                case .members(let statements): try await replace(members, of: owner, statements)
                case .helper(let statements): try await replace(members, of: owner, statements)
                }
            }
        }
        try stageReplace(staged, of: owner, relationship)
    }

    /// The members that can only be staged, because they or the owner are new, and the members to write.
    private func split(
        _ members: [DatabaseObject], _ owner: DatabaseObject, _ relationship: RelationshipRuntime
    ) throws -> (staged: [DatabaseObject], written: [DatabaseObject]) {
        let isNew = owner.isInserted
        let staged = isNew ? members : members.filter(\.isInserted)
        if !staged.isEmpty, let link = relationship.helper {
            // Throws for a required column of the helper before anything is written.
            _ = try payload([:], of: relationship, link)
        }
        return (staged, isNew ? [] : staged.isEmpty ? members : members.filter { !$0.isInserted })
    }

    /// Runs a change of a live owner, when no other write of the context is running.
    private func change(
        _ relationship: RelationshipRuntime, of owner: DatabaseObject, with members: [DatabaseObject] = [],
        _ body: (SetStatements) async throws -> Void
    ) async throws {
        if core.undoCount > 0 { try await readStale([owner] + members) }
        let columns = relationship.helper?.pairColumns ?? relationship.otherColumns
        try await write(of: relationship.linkRows, columns) {
            try owner.requireLive()
            if let helper = relationship.helper {
                try await body(.helper(try helperStatements(owner, relationship, helper)))
            } else {
                try await body(.members(try memberStatements(owner, relationship)))
            }
        }
    }
}
