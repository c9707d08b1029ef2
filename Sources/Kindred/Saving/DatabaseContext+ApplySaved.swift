import KindredPostgres
import Synchronization

// How the rows that a save was answered with become the state in memory.
extension DatabaseContext {
    /// Gives a saved object its stored row; what was staged since its statement was made stays staged.
    func applySaved(_ row: Row, to saved: SavedObject) throws {
        changeStaging(of: saved.object) { state in
            state.settle(saved, in: saved.entity)
        }
        try apply(row, to: saved.object)
    }

    /// Gives a new object its stored row, its key, and its place in its owners' loaded sets.
    func applyInserted(_ row: Row, to saved: SavedObject) throws {
        let object = saved.object
        let entity = saved.entity
        TransactionJournal.current?.record(object)
        guard let temporaryKey = object.key, let key = try ObjectKey(row, entity.key) else {
            throw KindredError(
                .readOnly,
                "A new row of \(entity.name) was stored without a usable key",
                entity: entity.name.description
            )
        }
        let links = object.withState { VisibleLinks($0) }
        staged.withLock { staged in
            let isStaged = object.withState { state in
                state.settle(saved, in: entity)
                if var staging = state.staging {
                    staging.temporaryKey = nil
                    state.status = .persistent
                    state.staging = staging
                }
                state.rebase(on: row)
                state.changedAt = tick()
                return state.stagingBox != nil
            }
            if isStaged { staged.insert(object) } else { staged.remove(object) }
        }
        withMap { map in
            // The temporary key stays valid until the save is over: loaded sets may still hold it.
            _ = map.takeLatestRow(entity.index, key)
            map.setDeleted(false, entity.index, key)
            map.insert(object, entity.index, key)
        }
        for relationship in entity.foreignKeys {
            guard case .foreignKey(let columns, let referenced) = relationship.link else { continue }
            let owner =
                try links.destinations[relationship.slot]
                ?? liveObject(runtime.entities[relationship.destination], where: referenced, equal: saved.row, columns)
            owner.map { rekey(temporaryKey, to: object, in: $0, relationship.inverseSlot) }
        }
        try relink(object, from: links, to: object.withState { VisibleLinks($0) })
        try applyInsert(object)
    }

    /// A new object has got its key: a loaded relationship that holds it under the temporary one follows.
    func rekey(_ temporaryKey: ObjectKey, to object: DatabaseObject, in owner: DatabaseObject, _ slot: Int) {
        guard let key = object.key else { return }
        TransactionJournal.current?.record(owner)
        let member = Member(key: key, row: object.storedRow)
        owner.withState { state in
            switch state.relationships[slot] {
            case .many(var members):
                state.relationships[slot] = nil
                members.rekey(temporaryKey, to: member)
                state.relationships[slot] = .many(members)
            case .one(var one) where one.member?.key == temporaryKey:
                one.member = member
                state.relationships[slot] = .one(one)
            case .one, nil:
                break
            }
        }
    }
}

extension ObjectState {
    /// Unstages what has been saved, unless it was changed again since.
    mutating func settle(_ saved: SavedObject, in entity: EntityRuntime) {
        guard var staging else { return }
        for (slot, destination) in saved.links where staging.destinations[slot] === destination {
            staging.destinations[slot] = nil
            row = row.replacing(Set(entity.relationships[slot].ownColumns), from: saved.row)
        }
        let shown = row
        staging.columns = staging.columns.filter { !shown.hasSameBytes(as: saved.row, at: $0) }
        self.staging = staging
    }
}
