import KindredPostgres

extension ToMany {
    /// Makes an object a member; it leaves its old owner.
    ///
    /// One-to-many: one UPDATE of the member's foreign key. Many-to-many: one INSERT into the helper table, which does
    /// nothing if the pair is there. Throws `KindredError` `.objectDeleted` if the member's row is gone, `.wrongType`
    /// or `.foreignContext` for what cannot be a member, `.missingValue` if the helper has required columns of its own.
    /// Where the members have an order, the object becomes the last one, as by ``append(_:)``.
    public func insert(_ member: Member, fileID: String = #fileID, line: Int = #line) async throws {
        try await context.client.called(at: fileID, line) {
            try await formUnion(CollectionOfOne(member))
        }
    }

    /// Makes an object a member and gives the helper row its other columns; where the pair is there already they are
    /// set.
    ///
    /// One INSERT … ON CONFLICT DO UPDATE. Only for many-to-many relationships: throws `.wrongType` for others,
    /// `.unknownKey` for a key that the helper does not have.
    public func insert(
        _ member: Member, through payload: [String: (any PropertyValue)?], fileID: String = #fileID, line: Int = #line
    ) async throws {
        try await context.client.called(at: fileID, line) {
            let relationship = try relationship
            let members = try context.distinctMembers(CollectionOfOne(member), of: relationship)
            if case .helper(let link) = relationship.link, owner.isInserted || member.isInserted {
                let values = try context.payload(payload, of: relationship, link)
                return try context.stageJoin(members, to: owner, relationship, payload: values)
            }
            if case .helper(let link) = relationship.link, let position = relationship.position {
                let values = try context.payload(payload, of: relationship, link)
                // Whoever gives the position writes it like any other column.
                if values?.values[position] == nil { return try await append(members, through: values) }
            }
            try await change { change in
                guard case .helper(let statements) = change else {
                    throw KindredError(
                        .wrongType,
                        "\(owner.runtime.name).\(name) does not go through a helper table",
                        entity: owner.runtime.name.description,
                        key: name
                    )
                }
                try await context.insert(members, statements, through: payload)
            }
        }
    }

    /// Makes all the objects members, by one statement; they leave their old owners.
    public func formUnion(_ members: some Sequence<Member>, fileID: String = #fileID, line: Int = #line) async throws {
        try await context.client.called(at: fileID, line) {
            let all = try context.distinctMembers(members.map { $0 as DatabaseObject }, of: relationship)
            try context.requireLive(owner)
            if isOrdered { return try await append(all, through: nil) }
            let relationship = try relationship
            let (staged, members) = try split(all)
            try context.requireJoin(staged, to: owner, relationship)
            if !members.isEmpty {
                try await change { change in
                    switch change {
                    case .members(let statements): try await context.attach(members, statements)
                    case .helper(let statements): try await context.insert(members, statements, through: [:])
                    }
                }
            }
            try context.stageJoin(staged, to: owner, relationship)
        }
    }

    /// Takes a member out; an object that is no member stays as it is.
    ///
    /// One-to-many: one UPDATE of its foreign key to NULL; where that may not be NULL, throws `.requiredRelationship`
    /// before anything is sent. Many-to-many: one DELETE from the helper table.
    public func remove(_ member: Member, fileID: String = #fileID, line: Int = #line) async throws {
        try await context.client.called(at: fileID, line) {
            try await subtract(CollectionOfOne(member))
        }
    }

    /// Takes the objects out that are members, by one statement.
    public func subtract(_ members: some Sequence<Member>, fileID: String = #fileID, line: Int = #line) async throws {
        try await context.client.called(at: fileID, line) {
            let all = try context.distinctMembers(members.map { $0 as DatabaseObject }, of: relationship)
            let relationship = try relationship
            try context.requireLive(owner)
            let joined = Set(context.stagedMembers(of: relationship, owner))
            let staged = all.filter { owner.isInserted || $0.isInserted || joined.contains($0) }
            let members = all.filter { !owner.isInserted && !$0.isInserted && !joined.contains($0) }
            try context.requireLeave(staged, from: owner, relationship)
            if !members.isEmpty {
                try await change { change in
                    switch change {
                    case .members(let statements): try await context.detach(members, statements)
                    case .helper(let statements): try await context.remove(members, statements)
                    }
                }
            }
            try context.stageLeave(staged, from: owner, relationship)
        }
    }

    /// Takes every member out, by one UPDATE or DELETE by owner; members that were never read included.
    public func removeAll(fileID: String = #fileID, line: Int = #line) async throws {
        try await context.client.called(at: fileID, line) {
            let relationship = try relationship
            try context.requireLeave(context.stagedMembers(of: relationship, owner), from: owner, relationship)
            if !owner.isInserted {
                try await change { change in
                    switch change {
                    case .members(let statements): try await context.detachAll(statements)
                    case .helper(let statements): try await context.removeAll(statements)
                    }
                }
            }
            try context.stageLeave(context.stagedMembers(of: relationship, owner), from: owner, relationship)
        }
    }

    /// Makes the objects the only members: who is not among them leaves, who is missing joins, in one atomic change.
    ///
    /// Two statements in one round trip, whatever the numbers. Where the members have an order, it becomes the one given,
    /// at the cost of ``insert(contentsOf:at:)`` and one statement for those who leave. Throws `.requiredRelationship` if
    /// somebody would have to leave a required relationship; nothing is written then.
    public func set(_ members: some Sequence<Member>, fileID: String = #fileID, line: Int = #line) async throws {
        try await context.client.called(at: fileID, line) {
            try await replace(try context.distinctMembers(members.map { $0 as DatabaseObject }, of: relationship))
        }
    }

    func replace(_ all: [DatabaseObject]) async throws {
        if isOrdered { return try await setOrder(all) }
        let relationship = try relationship
        let (staged, members) = try split(all)
        try context.requireReplace(staged, of: owner, relationship)
        if !owner.isInserted {
            try await change { change in
                switch change {
                case .members(let statements): try await context.replace(members, statements)
                case .helper(let statements): try await context.replace(members, statements)
                }
            }
        }
        try context.stageReplace(staged, of: owner, relationship)
    }

    /// The members whose joining can only be staged, because they or the owner are new, and those that it is written for.
    private func split(_ members: [DatabaseObject]) throws -> (staged: [DatabaseObject], written: [DatabaseObject]) {
        let staged = owner.isInserted ? members : members.filter(\.isInserted)
        if !staged.isEmpty, case .helper(let link) = try relationship.link {
            // A required column of the helper is an error before anything is written.
            _ = try context.payload([:], of: relationship, link)
        }
        return (staged, owner.isInserted ? [] : members.filter { !$0.isInserted })
    }

    private enum Change {
        case members(MemberStatements)
        case helper(HelperStatements)
    }

    /// Runs a change when no other write of the context is under way, on a live owner.
    private func change(_ body: (Change) async throws -> Void) async throws {
        let relationship = try relationship
        let written = context.writtenColumns(relationship)
        try await context.write(of: written.entity, written.columns) {
            try context.requireLive(owner)
            switch relationship.link {
            case .referenced(let referenced, let columns):
                try await body(.members(try context.memberStatements(owner, relationship, referenced, columns)))
            case .helper(let link):
                try await body(.helper(try context.helperStatements(owner, relationship, link)))
            case .foreignKey:
                // A to-many relationship never holds its own foreign key; the model has no such value.
                return
            }
        }
    }
}
