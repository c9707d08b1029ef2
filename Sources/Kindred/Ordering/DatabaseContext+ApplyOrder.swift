import KindredPostgres

// What a changed order does to memory.
extension DatabaseContext {
    /// Takes the answers to memory: rows to their objects, and the owner's loaded members in their new order.
    func apply(_ update: OrderUpdate, _ rows: OrderedRows) throws {
        let (owner, relationship) = (rows.statements.owner, rows.statements.relationship)
        let loaded = loadedMembers(of: relationship, owner: owner)
        switch rows.link {
        case .members(let statements):
            if update.hasLeavers, let answer = update.answers.first {
                let width = statements.members.attributeColumns.count
                guard try answer.first?[width] == .integer(Int64(update.leaving.count)) else { throw gone([owner]) }
                let left = try EntityRows(answer, of: statements.members)
                for position in 0..<left.count {
                    if let row = try left.joined(position) { try applyMember(row, statements, [:]) }
                }
            }
            try applyPlaced(update, rows, statements.columns)
        case .helper(let statements):
            if update.hasLeavers, let answer = update.answers.first { try applyDeletedPairs(answer, statements) }
            try applyPlacedPairs(update, rows)
            if let pairs = update.pairs { try applyWrittenPairs(pairs, statements.helper) }
            // The set of helper rows has the same order.
            for end in statements.helper.foreignKeys where end.ownColumns == statements.link.sourceColumns {
                unload(end.inverseSlot, of: owner)
            }
            for joined in update.joining { join(joined.object, statements) }
            if update.payload != nil { try unloadPairs(update, statements) }
        }
        try keepOrder(update, rows, loaded)
    }

    /// Rows of members that got a position: those of the members that the caller named must be there.
    private func applyPlaced(_ update: OrderUpdate, _ rows: OrderedRows, _ columns: [Int]) throws {
        let entity = rows.statements.rows
        let width = entity.attributeColumns.count
        let placed = update.placed
        var missing = Set(update.joining.map(\.object))
        if update.hasPlaces, let answer = update.answers.last {
            let changed = try EntityRows(answer, of: entity)
            for position in 0..<answer.count {
                guard let place = try answer.integer(row: position, column: width),
                    place > 0, place <= placed.count
                else { continue }
                let key = placed[Int(place) - 1]
                let given = update.given[key]
                if let given { unstage(columns + [rows.statements.position], of: given) }
                let row = try changed[position]
                if let object = try takeOver(row, entity, key, given) { missing.remove(object) }
            }
        }
        if let object = missing.first { throw gone([object]) }
    }

    /// Helper rows that got a position, where somebody holds objects of them.
    private func applyPlacedPairs(_ update: OrderUpdate, _ rows: OrderedRows) throws {
        let entity = rows.statements.rows
        guard update.hasPlaces, let answer = update.answers.last, !entity.key.isEmpty else { return }
        let changed = try EntityRows(answer, of: entity)
        for position in 0..<changed.count {
            let row = try changed[position]
            if let key = try ObjectKey(row, entity.key) { try takeOver(row, entity, key) }
        }
    }

    /// Takes a row to the object that shows it, which is returned; without one, loaded relationships learn of it.
    @discardableResult
    private func takeOver(
        _ row: Row,
        _ entity: EntityRuntime,
        _ key: ObjectKey,
        _ given: DatabaseObject? = nil
    ) throws -> DatabaseObject? {
        let object = given ?? liveObject(entity, key)
        if let object {
            try apply(row, to: object)
        } else {
            keepLatestRow(row, entity, key)
        }
        return object
    }

    /// Helper objects of pairs whose payload changed are read again with the sets that they are in.
    private func unloadPairs(_ update: OrderUpdate, _ statements: HelperStatements) throws {
        for object in update.given.values { unloadHelperRows(object, statements) }
    }

    /// Gives the owner's loaded members their order; they are read again where the database has others than memory.
    private func keepOrder(_ update: OrderUpdate, _ rows: OrderedRows, _ loaded: LoadedMembers?) throws {
        let (owner, relationship) = (rows.statements.owner, rows.statements.relationship)
        guard var loaded else { return }
        var members: [ObjectKey: Member] = [:]
        for member in loaded.members {
            if let key = try rows.key(of: member) { members[key] = member }
        }
        for joined in update.joining {
            guard let key = joined.object.key else { continue }
            members[joined.place.key] = Member(key: key, row: joined.object.storedRow)
        }
        let gone = Set(update.leaving)
        if update.isComplete {
            let order = update.order.compactMap { members[$0] }
            guard order.count == update.order.count, order.count == members.count - gone.count else {
                return unload(relationship.slot, of: owner)
            }
            loaded.reorder(order)
        } else {
            let known = try Set(loaded.members.compactMap { try rows.key(of: $0) })
            let joined = update.joining.map(\.place.key).filter { !known.contains($0) }
            loaded.reorder(loaded.members + joined.compactMap { members[$0] })
        }
        change(owner) { state in
            state.relationships.noteChange(of: relationship.slot, at: tick())
            state.relationships[relationship.slot] = .many(loaded)
        }
    }

    /// Notes that a member got another position, so that loaded orders that it is in are sorted when they are next read.
    func noteMove(
        _ object: DatabaseObject,
        _ relationship: RelationshipRuntime,
        from old: VisibleLinks,
        to new: VisibleLinks
    ) throws {
        let inverse = runtime.entities[relationship.destination].relationships[relationship.inverseSlot]
        guard let position = inverse.position, case .referenced(let referenced, let columns) = inverse.link,
            !old.row.hasSameBytes(as: new.row, at: position)
        else { return }
        let destination = runtime.entities[relationship.destination]
        let owner =
            try new.destinations[relationship.slot]
            ?? liveObject(destination, where: referenced, equal: new.row, columns)
        guard let owner else {
            return try noteLinkChange(entity: relationship.destination, slot: inverse.slot, new.row, columns)
        }
        takeFromGroup(inverse.slot, of: owner)
        change(owner) { state in
            state.relationships.noteChange(of: inverse.slot, at: tick())
            guard case .many(var members) = state.relationships[inverse.slot] else { return }
            state.relationships[inverse.slot] = nil
            members.isUnsorted = true
            state.relationships[inverse.slot] = .many(members)
        }
    }

    /// Loaded members in the order of their positions, which are sorted where one of them changed or came.
    ///
    /// Positions of many-to-many relationships are in the helper's rows: those sets are read again instead.
    ///
    /// - Parameter changedAt: when the members were last changed; the owner keeps the order unless they were again.
    func sorted(
        _ members: LoadedMembers,
        _ relationship: RelationshipRuntime,
        of owner: DatabaseObject,
        changedAt: UInt64
    ) -> LoadedMembers {
        guard members.isUnsorted, let position = relationship.position, case .referenced = relationship.link
        else { return members }
        let entity = runtime.entities[relationship.destination]
        struct Element {
            let member: Member
            let position: Int64?
            let place: Int
        }
        let rows = withMap { map in
            members.members.map { member in
                (map.object(entity.index, member.key)?.row ?? map.latestRow(entity.index, member.key)?.row)
                    ?? member.row
            }
        }
        var elements: [Element] = []
        for (place, member) in members.members.enumerated() {
            var value: Int64?
            if case .integer(let integer) = rows[place].valueOrRaw(at: position) { value = integer }
            elements.append(Element(member: member, position: value, place: place))
        }
        elements.sort { left, right in
            if left.position != right.position {
                guard let first = left.position else { return false }
                return right.position.map { first < $0 } ?? true
            }
            if case .integer(let first) = left.member.key, case .integer(let second) = right.member.key {
                return first < second
            }
            return left.place < right.place
        }
        var sorted = members
        sorted.reorder(elements.map(\.member))
        owner.withState { state in
            guard state.relationships.changedAt(relationship.slot) == changedAt,
                case .many(let now) = state.relationships[relationship.slot],
                now.isUnsorted, now.count == sorted.count
            else { return }
            state.relationships[relationship.slot] = .many(sorted)
        }
        return sorted
    }
}
