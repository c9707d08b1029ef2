import KindredPostgres

// Applies a changed order to memory.
extension Orderer {
    /// Applies the results: rows to their objects, and the new order to the owner's loaded members.
    func apply(_ update: OrderUpdate, of rows: OrderedRows) throws {
        let (owner, relationship) = (rows.owner, rows.statements.relationship)
        try requirePlaced(update, rows)
        if case .members(let writer) = rows.link {
            // A given member that was staged to leave stays: the caller's value wins.
            let gone = Set(update.leaving)
            for (key, object) in update.given where !gone.contains(key) {
                core.unstage(writer.statements.columns, of: object)
            }
        }
        let loaded = core.loadedMembers(of: relationship, owner: owner)
        switch rows.link {
        case .members(let writer):
            let statements = writer.statements
            if update.hasLeavers, let answer = update.answers.first {
                let width = statements.members.attributeColumns.count
                guard try answer.first?[width] == .integer(Int64(update.leaving.count)) else {
                    throw core.gone([owner])
                }
                let left = try EntityRows(answer, of: statements.members)
                for position in 0..<left.count {
                    if let row = try left.joined(position) { try writer.apply(row) }
                }
            }
            try applyPlaced(update, rows)
        case .helper(let writer):
            let statements = writer.statements
            if update.hasLeavers, let answer = update.answers.first {
                try writer.applyDeleted(answer)
            }
            try applyPlacedPairs(update, rows)
            if let pairs = update.pairs { try writer.applyWritten(pairs, payload: update.payload) }
            // The set of helper rows has the same order.
            for end in statements.helper.foreignKeys where end.ownColumns == statements.link.sourceColumns {
                core.takeUnknownHelperRows(end, of: owner)
            }
            for joined in update.joining { writer.takePair(joined.object, isPaired: true) }
            if update.payload != nil {
                // Objects and sets of helper rows may show the former payload.
                for object in update.given.values { writer.takeHelperRows(of: object) }
            }
        }
        try keepOrder(update, of: rows, loaded: loaded)
    }

    /// Throws if a trigger, rule or policy kept a row from getting its position; the transaction is rolled back.
    private func requirePlaced(_ update: OrderUpdate, _ rows: OrderedRows) throws {
        let (entity, column) = (rows.statements.rows, rows.statements.position)
        guard rows.statements.mayKeepRows else { return }
        if update.hasPlaces, let answer = update.answers.last {
            var places = update.moving
            if case .members = rows.link { places += update.joining.map(\.place) }
            let width = entity.attributeColumns.count
            let placed = try answer.indices.count { row in
                guard let place = try answer.integer(row: row, column: width), places.indices.contains(Int(place) - 1)
                else { return false }
                let wanted = places[Int(place) - 1]
                // The order of loaded members is made of their keys. A trigger may have put back the former owner.
                return try answer.integer(row: row, column: column) == wanted.position
                    && ObjectKey(answer, row: row, rows.statements.memberColumns) == wanted.key
                    && answer.value(row: row, column: width + 1) == .bool(true)
            }
            guard placed == places.count else { throw entity.keptAway }
        }
        if let pairs = update.pairs {
            let wanted = Dictionary(update.inserted.map { ($0.key, $0.position) }, uniquingKeysWith: { $1 })
            let placed = try pairs.indices.count { row in
                guard let key = try ObjectKey(pairs, row: row, rows.statements.memberColumns),
                    let position = wanted[key]
                else { return false }
                return try pairs.integer(row: row, column: column) == position
            }
            guard placed == wanted.count else { throw entity.keptAway }
        }
    }

    /// Applies rows of members that got a position; throws if a member named by the caller has no row.
    private func applyPlaced(_ update: OrderUpdate, _ rows: OrderedRows) throws {
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
                if let given { core.unstage([rows.statements.position], of: given) }
                let row = try changed[position]
                if let object = try takeOver(row, of: entity, key, given: given) { missing.remove(object) }
            }
        }
        if let object = missing.first { throw try core.lost([object]) }
    }

    /// Applies helper rows that got a position to their objects, if in memory.
    private func applyPlacedPairs(_ update: OrderUpdate, _ rows: OrderedRows) throws {
        let entity = rows.statements.rows
        guard update.hasPlaces, let answer = update.answers.last, !entity.key.isEmpty else { return }
        let changed = try EntityRows(answer, of: entity)
        for position in 0..<changed.count {
            let row = try changed[position]
            if let key = try ObjectKey(row, entity.key) { try takeOver(row, of: entity, key) }
        }
    }

    /// Applies a row to its object, which is returned, or without an object to loaded relationships.
    @discardableResult
    private func takeOver(
        _ row: Row, of entity: EntityRuntime, _ key: ObjectKey, given: DatabaseObject? = nil
    ) throws -> DatabaseObject? {
        let object = given ?? core.liveObject(entity, key)
        try core.take(row, of: entity, object: object)
        return object
    }

    /// Reorders the owner's loaded members, or marks them as stale if the database has other members.
    private func keepOrder(_ update: OrderUpdate, of rows: OrderedRows, loaded: LoadedMembers?) throws {
        let (owner, relationship) = (rows.owner, rows.statements.relationship)
        guard let loaded else { return }
        var members: [ObjectKey: Member] = [:]
        for member in loaded.members {
            if let key = try rows.key(of: member) { members[key] = member }
        }
        for joined in update.joining {
            guard let key = joined.object.key else { continue }
            members[joined.place.key] = Member(key: key, row: joined.object.storedRow)
        }
        let gone = Set(update.leaving)
        let order: [Member]
        if update.isComplete {
            order = update.order.compactMap { members[$0] }
            guard order.count == update.order.count, order.count == members.count - gone.count else {
                return core.takeUnknownMembers(of: owner, in: relationship)
            }
        } else {
            let known = try Set(loaded.members.compactMap { try rows.key(of: $0) })
            let joined = update.joining.map(\.place.key).filter { !known.contains($0) }
            order = loaded.members + joined.compactMap { members[$0] }
        }
        // The order came from the server: it is an answer, without staged changes.
        let staged = core.stagedChange(relationship, of: owner)
        let joined = Set(staged?.joined.compactMap(\.key) ?? [])
        let left = staged?.left.compactMap { key in
            core.liveObject(relationship.destination, key).map { Member(key: key, row: $0.storedRow) }
        }
        let answer = (joined.isEmpty ? order : order.filter { !joined.contains($0.key) }) + (left ?? [])
        var newest = core.newest(answer, of: relationship.destination)
        // A member that is to leave has its place among the others.
        if left?.isEmpty == false { newest = core.sorted(newest, relationship, isStaged: false) }
        let batch = Answer(newest, askedAt: core.tick(), in: core.writing?.scope)
        core.willAsk(relationship)
        core.keep(.many(LoadedMembers(batch, 0..<answer.count)), relationship, of: owner)
    }
}
