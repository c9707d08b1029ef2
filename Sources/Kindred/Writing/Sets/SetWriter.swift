import KindredPostgres

/// Changes to-many relationships: staged if new objects take part, else one statement.
struct SetWriter: Sendable {
    /// The writer of a set's change: of its members' rows, or of a helper's.
    private enum Writer {
        case members(MemberWriter)
        case helper(PairWriter)
    }

    let core: ContextCore
    private var stager: Stager { Stager(core) }
    private var values: RelationshipValues { RelationshipValues(core) }

    init(_ core: ContextCore) { self.core = core }

    /// Adds objects to an owner's set; they leave their former owners.
    ///
    /// - Parameter writesMembers: whether an object is written that is a member already by a reference of another spelling.
    func join(
        _ objects: some Sequence<DatabaseObject>, to owner: DatabaseObject, _ relationship: RelationshipRuntime,
        writesMembers: Bool
    ) async throws {
        let all = try values.distinctMembers(objects, of: relationship)
        if relationship.position != nil {
            return try await Orderer(core).append(all, to: owner, relationship, through: nil)
        }
        let (staged, members) = try split(all, of: owner, relationship)
        if !staged.isEmpty { try stager.requireJoin(staged, to: owner, relationship) }
        if members.isEmpty {
            try owner.requireLive()
        } else {
            try await change(relationship, of: owner, with: members) { change in
                switch change {
                case .members(let writer): try await writer.attach(members, writesMembers: writesMembers)
                case .helper(let writer): try await writer.insert(members)
                }
            }
        }
        if !staged.isEmpty { try stager.stageJoin(staged, to: owner, relationship) }
    }

    /// Adds an object through a helper's row with values of its own.
    func join(
        _ object: DatabaseObject, to owner: DatabaseObject, _ relationship: RelationshipRuntime,
        through given: [String: (any PropertyValue)?]
    ) async throws {
        let members = try values.distinctMembers(CollectionOfOne(object), of: relationship)
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
        try await values.requireLabels(of: given, through: link)
        if owner.isInserted || object.isInserted {
            let payload = try values.payload(given, of: relationship, through: link)
            return try stager.stageJoin(members, to: owner, relationship, payload: payload)
        }
        if let position = relationship.position {
            let payload = try values.payload(given, of: relationship, through: link)
            // A position in the payload is written like any other column.
            if payload?[position] == nil {
                return try await Orderer(core).append(members, to: owner, relationship, through: payload)
            }
        }
        try await change(relationship, of: owner, with: members) { change in
            guard case .helper(let writer) = change else { return }
            try await writer.insert(members, through: given)
        }
    }

    /// Removes objects from an owner's set; objects that are not members stay unchanged.
    func leave(
        _ objects: some Sequence<DatabaseObject>, from owner: DatabaseObject, _ relationship: RelationshipRuntime
    ) async throws {
        let all = try values.distinctMembers(objects, of: relationship)
        let joined = Set(stager.stagedMembers(of: relationship, owner))
        let staged = all.filter { owner.isInserted || $0.isInserted || joined.contains($0) }
        let members = all.filter { !owner.isInserted && !$0.isInserted && !joined.contains($0) }
        try stager.requireLeave(staged, from: owner, relationship)
        if members.isEmpty {
            try owner.requireLive()
        } else {
            try await change(relationship, of: owner, with: members) { change in
                switch change {
                case .members(let writer): try await writer.detach(members)
                case .helper(let writer): try await writer.remove(members)
                }
            }
        }
        try stager.stageLeave(staged, from: owner, relationship)
    }

    /// Removes every member from an owner's set, including members that were never read.
    func leaveAll(_ owner: DatabaseObject, _ relationship: RelationshipRuntime) async throws {
        try stager.requireLeave(stager.stagedMembers(of: relationship, owner), from: owner, relationship)
        if !owner.isInserted {
            try await change(relationship, of: owner) { change in
                switch change {
                case .members(let writer): try await writer.detachAll()
                case .helper(let writer): try await writer.removeAll()
                }
            }
        }
        try stager.stageLeave(stager.stagedMembers(of: relationship, owner), from: owner, relationship)
    }

    /// Makes objects the only members of an owner's set.
    func replace(
        with objects: [DatabaseObject], of owner: DatabaseObject, _ relationship: RelationshipRuntime
    ) async throws {
        let all = try values.distinctMembers(objects, of: relationship)
        if relationship.position != nil { return try await Orderer(core).setOrder(all, of: owner, relationship) }
        let (staged, members) = try split(all, of: owner, relationship)
        try stager.requireReplace(staged, of: owner, relationship)
        if !owner.isInserted {
            try await change(relationship, of: owner, with: members) { change in
                switch change {
                case .members(let writer): try await writer.replace(with: members)
                case .helper(let writer): try await writer.replace(with: members)
                }
            }
        }
        try stager.stageReplace(staged, of: owner, relationship)
    }

    /// The members that can only be staged, because they or the owner are new, and the members to write.
    private func split(
        _ members: [DatabaseObject], of owner: DatabaseObject, _ relationship: RelationshipRuntime
    ) throws -> (staged: [DatabaseObject], written: [DatabaseObject]) {
        let isNew = owner.isInserted
        let staged = isNew ? members : members.filter(\.isInserted)
        if !staged.isEmpty, let link = relationship.helper {
            // Throws for a required column of the helper before anything is written.
            _ = try values.payload([:], of: relationship, through: link)
        }
        return (staged, isNew ? [] : staged.isEmpty ? members : members.filter { !$0.isInserted })
    }

    /// Runs a change of a live owner, when no other write of the context is running.
    private func change(
        _ relationship: RelationshipRuntime, of owner: DatabaseObject, with members: [DatabaseObject] = [],
        _ body: (Writer) async throws -> Void
    ) async throws {
        if core.undoCount > 0 { try await Refresher(core).readStale([owner] + members) }
        let columns = relationship.helper?.pairColumns ?? relationship.otherColumns
        if relationship.helper == nil {
            // Where the foreign key is the tenant's column alone, all of the tenant's rows have one owner.
            try relationship.destination.requireWritable(foreignKey: columns, key: relationship.model.name)
        }
        try await core.write(of: relationship.linkRows, columns) {
            try owner.requireLive()
            if let helper = relationship.helper {
                try await body(.helper(try PairWriter(core, owner: owner, relationship, through: helper)))
            } else {
                try await body(.members(try MemberWriter(core, owner: owner, relationship)))
            }
        }
    }
}
