import KindredPostgres
import Synchronization

// How an answer of the server becomes the state in memory. Every change of a row passes through `apply`, which keeps
// the loaded sets at the other ends of its foreign keys right.
extension DatabaseContext {
    /// Gives an object its new row and moves it between its owners' loaded sets.
    ///
    /// - Parameters:
    ///   - askedAt: when the row was asked for by a read; nil for the outcome of a write, which always counts.
    ///   - known: the row as it was stored, if the object does not tell any more.
    func apply(_ row: Row, to object: DatabaseObject, askedAt: UInt64? = nil, stored known: Row? = nil) throws {
        typealias Change = (stored: Row, old: VisibleLinks, new: VisibleLinks, wasStaged: Bool)
        func take(_ state: inout ObjectState, _ stored: Row) -> Change? {
            if let askedAt {
                if state.seenAt > askedAt { return nil }
                state.seenAt = askedAt
                if stored.hasSameBytes(as: row) { return nil }
            }
            let (old, wasStaged) = (VisibleLinks(state), state.stagingBox != nil)
            state.rebase(on: row, keepsBase: askedAt != nil && object.runtime.version != nil)
            state.changed(at: askedAt ?? tick())
            return (stored, old, VisibleLinks(state), wasStaged)
        }
        let change = change(object, isRead: askedAt != nil) { state in
            _ = take(&state, state.storedRow)
        } _: { committed -> Change? in
            object.withState { state -> Change? in
                // What a transaction has written stays shown, whatever others read.
                if let committed, !state.storedRow.hasSameBytes(as: committed) { return nil }
                return take(&state, known ?? state.storedRow)
            }
        }
        guard let change else { return }
        if change.wasStaged { releaseIfUnstaged(object) }
        let entity = object.runtime
        let isFoundOtherwise = entity.findingColumns.contains { !change.stored.hasSameBytes(as: row, at: $0) }
        if isFoundOtherwise, let oldKey = try ObjectKey(change.stored, entity.key),
            let newKey = try ObjectKey(row, entity.key), oldKey != newKey
        {
            withMap { map in
                map.remove(object, entity.index, oldKey)
                map.insert(object, entity.index, newKey)
            }
        } else if references.isIndexed, let key = object.key {
            withMap { $0.noteChanged(entity.index, key) }
        }
        if isFoundOtherwise, askedAt == nil { try followKeys(of: object, from: change.stored, change.old) }
        try relink(object, from: change.old, to: change.new)
    }

    /// Moves an object between its owners' loaded sets after its visible row changed.
    func relink(_ object: DatabaseObject, from oldLinks: VisibleLinks, to links: VisibleLinks) throws {
        let entity = object.runtime
        let (old, row) = (oldLinks.row, links.row)
        // The foreign keys that did not change cost nothing: some entities have a hundred of them.
        var moves = entity.moves(from: old, to: row)
        for slot in oldLinks.destinations.keys { moves.insert(slot) }
        for slot in links.destinations.keys { moves.insert(slot) }
        for slot in moves {
            let relationship = entity.relationships[slot]
            // Nobody has seen the other end, or asked for what belongs to it.
            guard withMap({ $0.knows(relationship.destination) }) else { continue }
            try noteMove(object, relationship, from: oldLinks, to: links)
            let (oldNew, newNew) = (oldLinks.destinations[slot], links.destinations[slot])
            guard case .foreignKey(let columns, let referenced) = relationship.link,
                oldNew !== newNew || columns.contains(where: { !old.hasSameBytes(as: row, at: $0) })
            else { continue }
            let before = try oldNew ?? owner(entity, old, columns, referenced, relationship)
            let after = try newNew ?? owner(entity, row, columns, referenced, relationship)
            guard before !== after || before == nil else { continue }
            before.map { unlink(object, from: $0, slot: relationship.inverseSlot) }
            after.map { link(object, to: $0, slot: relationship.inverseSlot) }
            if before == nil { try noteLinkChange(relationship, old, columns) }
            if after == nil { try noteLinkChange(relationship, row, columns) }
        }
        try unloadHelperEnds(of: entity, old)
        try unloadHelperEnds(of: entity, row)
    }

    /// Puts a row that was just stored into its owners' loaded sets; those of a row without an object are read again.
    func applyInsert(_ row: Row, of entity: EntityRuntime, _ object: DatabaseObject?) throws {
        // The foreign keys that are NULL lead nowhere.
        for slot in entity.moves(from: entity.emptyRow(client.types), to: row) {
            let relationship = entity.relationships[slot]
            guard case .foreignKey(let columns, let referenced) = relationship.link else { continue }
            guard let owner = try owner(entity, row, columns, referenced, relationship) else {
                try noteLinkChange(relationship, row, columns)
                continue
            }
            if let object {
                link(object, to: owner, slot: relationship.inverseSlot)
            } else {
                unload(relationship.inverseSlot, of: owner)
            }
        }
        try unloadHelperEnds(of: entity, row)
    }

    /// Marks an object's row as deleted and takes it out of every loaded set that may hold it.
    ///
    /// - Parameter isUndone: whether the row was stored by what is being undone, which puts all sets back itself.
    func applyDelete(_ object: DatabaseObject, isUndone: Bool = false) throws {
        if object.hasChanges || staged.withLock({ $0.hasPairs(of: object) }) { rollback([object]) }
        func die(_ state: inout ObjectState) -> Bool {
            guard state.status == .persistent || state.status == .deleting else { return false }
            state.status = .deleted
            state.seenAt = tick()
            return true
        }
        let wasLive = change(object) {
            _ = die(&$0)
        } _: { _ in
            object.withState(die)
        }
        guard wasLive else { return }
        let row = object.row
        let entity = object.runtime
        if let key = object.key {
            withMap { map in
                map.remove(object, entity.index, key)
                map.noteDeleted(entity.index, key, at: tick())
            }
        }
        for relationship in entity.relationships {
            switch relationship.link {
            case .foreignKey(let columns, let referenced):
                guard withMap({ $0.knows(relationship.destination) }) else { continue }
                if let owner = try owner(entity, row, columns, referenced, relationship) {
                    unlink(object, from: owner, slot: relationship.inverseSlot)
                } else if !isUndone {
                    try noteLinkChange(relationship, row, columns)
                }
            case .helper(let link):
                // The other ends are not in the row: whoever has loaded the inverse may hold it.
                if !isUndone { noteLostRows(of: link.entity) }
            case .referenced:
                break
            }
        }
        try unloadHelperEnds(of: entity, row)
    }

    /// The object in memory that a row's foreign key points to, if any.
    func owner(
        _ entity: EntityRuntime,
        _ row: Row,
        _ columns: [Int],
        _ referenced: [Int],
        _ relationship: RelationshipRuntime
    ) throws -> DatabaseObject? {
        try liveObject(runtime.entities[relationship.destination], where: referenced, equal: row, columns)
    }

    /// The object in memory whose `attributes` have the values that `row` has in `columns`, if any.
    func liveObject(
        _ entity: EntityRuntime,
        where attributes: [Int],
        equal row: Row,
        _ columns: [Int]
    ) throws -> DatabaseObject? {
        // Before anything is made for it: most entities with many foreign keys have few of them set.
        if columns.contains(where: { row.isNull(at: $0) }) { return nil }
        if let order = entity.keyOrder(of: attributes) {
            guard let key = try ObjectKey(row, order.map { columns[$0] }) else { return nil }
            return liveObject(entity, key)
        }
        guard let wanted = try ObjectKey(row, columns) else { return nil }
        return try withMap { try $0.objects(entity, where: attributes, equal: wanted) }.first
    }

    /// Notes that an object became a member of the owner's relationship.
    func link(_ object: DatabaseObject, to owner: DatabaseObject, slot: Int) {
        guard let key = object.key else { return }
        takeFromGroup(slot, of: owner)
        let member = Member(key: key, row: object.storedRow)
        change(owner) { state in
            state.relationships.noteChange(of: slot, at: tick())
            switch state.relationships[slot] {
            case .many(var members):
                state.relationships[slot] = nil
                members.insert(member)
                members.isUnsorted = true
                state.relationships[slot] = .many(members)
            case .one(var one):
                one.member = member
                state.relationships[slot] = .one(one)
            case nil:
                break
            }
        }
    }

    /// Notes that an object is no longer a member of the owner's relationship.
    func unlink(_ object: DatabaseObject, from owner: DatabaseObject, slot: Int) {
        if let key = object.key { unlink([key], from: owner, slot: slot) }
    }

    /// Notes that rows are no longer members of the owner's relationship.
    func unlink(_ keys: Set<ObjectKey>, from owner: DatabaseObject, slot: Int) {
        takeFromGroup(slot, of: owner)
        change(owner) { state in
            state.relationships.noteChange(of: slot, at: tick())
            switch state.relationships[slot] {
            case .many(var members):
                state.relationships[slot] = nil
                members.remove(keys)
                state.relationships[slot] = .many(members)
            case .one(var one):
                if let key = one.member?.key, keys.contains(key) { one.member = nil }
                state.relationships[slot] = .one(one)
            case nil:
                break
            }
        }
    }

    /// Members that the owner's group has loaded for it become the owner's own before they change.
    func takeFromGroup(_ slot: Int, of owner: DatabaseObject) {
        let relationship = owner.runtime.relationships[slot]
        // Those that it has are left as they are: to put them in order is for who reads them.
        guard relationship.isToMany, !owner.withState({ $0.relationships.contains(slot) }) else { return }
        _ = loadedMembers(of: relationship, owner: owner)
    }

    /// Forgets a loaded relationship of an object, so that the next use reads it again.
    func unload(_ slot: Int, of owner: DatabaseObject) {
        change(owner) { state in
            state.relationships.noteChange(of: slot, at: tick())
            state.relationships[slot] = nil
        }
    }

    /// A helper row came, went or changed: the many-to-many sets at both its ends are read again.
    private func unloadHelperEnds(of entity: EntityRuntime, _ row: Row) throws {
        for end in entity.helperEnds {
            let owner = runtime.entities[end.entity]
            guard withMap({ $0.knows(end.entity) }) else { continue }
            guard case .helper(let link) = owner.relationships[end.slot].link else { continue }
            if let object = try liveObject(owner, where: link.source, equal: row, end.columns) {
                unload(end.slot, of: object)
            } else {
                try noteLinkChange(entity: end.entity, slot: end.slot, row, end.columns)
            }
        }
    }

    /// Notes that an owner which nobody holds gained or lost a member: what its group has loaded for it is outdated.
    func noteLinkChange(_ relationship: RelationshipRuntime, _ row: Row, _ columns: [Int]) throws {
        try noteLinkChange(entity: relationship.destination, slot: relationship.inverseSlot, row, columns)
    }

    func noteLinkChange(entity: Int, slot: Int, _ row: Row, _ columns: [Int]) throws {
        guard let key = try ObjectKey(row, columns) else { return }
        let time = tick()
        let relationship = runtime.entities[entity].relationships[slot]
        guard relationship.isComparedByServer else {
            return withMap { $0.noteLinkChange(entity, slot: slot, key, at: time) }
        }
        // It may be anybody's: all of them read the relationship again.
        noteLostRows(of: relationship.destination)
        for owner in withMap({ $0.objects(of: entity) })
        where owner.withState({ $0.relationships[slot] != nil && $0.status != .inserted }) {
            unload(slot, of: owner)
        }
    }
}
