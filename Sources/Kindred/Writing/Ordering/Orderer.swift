import KindredPostgres
import KindredSchema

/// Changes ordered relationships: locks the owner, reads its order, and writes the difference.
struct Orderer: Sendable {
    let core: ContextCore

    init(_ core: ContextCore) { self.core = core }

    /// Changes an order in its own transaction, or in a savepoint of the running one.
    func reorder(
        _ relationship: RelationshipRuntime,
        of owner: DatabaseObject,
        by change: OrderChange,
        with objects: [DatabaseObject],
        payload: ColumnValues? = nil
    ) async throws {
        try await Refresher(core).readStale([owner] + objects)
        if case .members(let writer) = try orderedRows(owner, relationship).link { try writer.requireJoinable(objects) }
        try await core.transaction {
            try await core.write { try await run(relationship, of: owner, by: change, with: objects, payload: payload) }
        }
    }

    private func run(
        _ relationship: RelationshipRuntime,
        of owner: DatabaseObject,
        by change: OrderChange,
        with objects: [DatabaseObject],
        payload: ColumnValues?
    ) async throws {
        try owner.requireLive()
        for object in objects { try object.requireLive() }
        let rows = try orderedRows(owner, relationship)
        let keys = try rows.keys(of: objects)
        let read = change.needsEndOnly ? try rows.statements.readEnd(keys) : try rows.statements.read()
        let key = relationship.model.name
        let answers = try await core.client.send(
            [try OrderStatements.lock(try owner.requireKey(), of: owner.runtime), read], rows.statements.rows, key: key)
        guard answers[0].count == 1 else { throw try core.lost([owner]) }
        do {
            var update = try OrderUpdate(
                answers[1], change, of: rows, with: zip(keys, objects).map { ($0, $1) }, payload: payload)
            try requireMembers(update, for: change, of: relationship)
            try await send(&update, of: rows, key: key)
            try apply(update, of: rows)
        } catch is OrderUpdate.EndIsFull {
            try await run(relationship, of: owner, by: .append(needsAll: true), with: objects, payload: payload)
        }
    }

    /// Throws if an object to be moved is not a stored member.
    private func requireMembers(
        _ update: OrderUpdate,
        for change: OrderChange,
        of relationship: RelationshipRuntime
    ) throws {
        guard case .move = change, !update.joining.isEmpty else { return }
        throw KindredError(
            .notFound,
            """
            An object to move is no stored member of \
            \(relationship.source.name).\(relationship.model.name): it has left, or its joining is only \
            staged; save it first
            """,
            entity: relationship.source.name.description,
            key: relationship.model.name
        )
    }

    /// The rows that hold the positions of an owner's members.
    func orderedRows(_ owner: DatabaseObject, _ relationship: RelationshipRuntime) throws -> OrderedRows {
        guard let position = relationship.position else { throw relationship.unordered }
        let rows =
            if let helper = relationship.helper {
                OrderedRows(try PairWriter(core, owner: owner, relationship, through: helper), position: position)
            } else {
                OrderedRows(try MemberWriter(core, owner: owner, relationship), position: position)
            }
        let entity = rows.statements.rows
        guard !entity.key.contains(position) else {
            throw KindredError(
                .readOnly,
                """
                \(entity.name).\(entity.entity.attributes[position].name) is part of the key: the order of \
                \(owner.runtime.name).\(relationship.model.name) can only be read
                """,
                entity: entity.name.description,
                key: relationship.model.name
            )
        }
        return rows
    }

    /// Sends the statements of the change, in one round trip.
    private func send(_ update: inout OrderUpdate, of rows: OrderedRows, key: String) async throws {
        switch rows.link {
        case .members(let writer):
            let statements = writer.statements
            if !update.joining.isEmpty || !update.leaving.isEmpty {
                try statements.members.requireWritable(foreignKey: statements.columns, key: key)
            }
            try writer.requireSharedColumns(update.joining.map(\.object))
            core.count(statements.relationship, of: rows.owner)
            try await CountCheck(core).noteFormer(update.joining.map(\.object), writing: statements.columns)
            var batch: [Statement] = []
            if !update.leaving.isEmpty {
                batch.append(try statements.detach(keys: update.leaving, leaving: try writer.leaving))
                batch += try statements.check(update.leaving, haveJoined: false)
            }
            let (park, placed) = try update.writes(rows)
            batch += park + placed
            guard !batch.isEmpty else { return }
            update.answers = try await core.client.send(batch, statements.members, key: key)
            update.hasLeavers = !update.leaving.isEmpty
            update.hasPlaces = !placed.isEmpty
        case .helper(let writer):
            let statements = writer.statements
            var batch: [Statement] = []
            if !update.leaving.isEmpty { batch += try statements.deletion(.members(update.leaving)) }
            let (park, placed) = try update.writes(rows)
            batch += park + placed
            update.hasPlaces = !placed.isEmpty
            update.hasLeavers = !update.leaving.isEmpty
            let inserted = update.inserted
            if !inserted.isEmpty { try statements.helper.requireGiven(statements.link.pairColumns, key: key) }
            let isChecked = !inserted.isEmpty && statements.link.mayHidePairs
            if !inserted.isEmpty {
                batch.append(try rows.statements.insert(inserted, payload: update.payload, statements.link))
            }
            if isChecked { batch.append(try statements.check(inserted.map(\.key))) }
            guard !batch.isEmpty else { return }
            update.answers = try await writer.send(batch)
            if isChecked { update.answers.removeLast() }
            if !inserted.isEmpty { update.pairs = update.answers.removeLast() }
        }
    }
}

extension RelationshipRuntime {
    var unordered: KindredError {
        KindredError(
            .invalidRequest,
            "\(source.name).\(model.name) has no order; name a position column by {\"orderedBy\": …} on its foreign key",
            entity: source.name.description,
            key: model.name
        )
    }
}
