import KindredPostgres
import KindredSchema

// What follows in memory when a row gets another key, or other values that foreign keys lead to.
extension DatabaseContext {
    /// Takes along who finds a changed row by its key: loaded relationships that it is in, and the rows that refer to it,
    /// which the database has changed by ON UPDATE.
    ///
    /// - Parameters:
    ///   - old: the row as it was stored.
    ///   - links: what it was linked to.
    func followKeys(of object: DatabaseObject, from old: Row, _ links: VisibleLinks) throws {
        let entity = object.runtime
        let (oldKey, row) = (try ObjectKey(old, entity.key), object.storedRow)
        let isRenamed = try oldKey != ObjectKey(row, entity.key)
        for relationship in entity.relationships {
            let isMoved = relationship.ownColumns.contains { !old.hasSameBytes(as: row, at: $0) }
            switch relationship.link {
            case .foreignKey(let columns, let referenced):
                guard isRenamed, let oldKey else { continue }
                let owner =
                    try links.destinations[relationship.slot]
                    ?? owner(entity, links.row, columns, referenced, relationship)
                if let owner {
                    rename(oldKey, object, in: owner, relationship.inverseSlot)
                } else {
                    try noteLinkChange(relationship, links.row, columns)
                }
            case .helper(let link):
                // The other ends are not in the row: whoever has loaded the inverse may hold it.
                if isRenamed { noteLostRows(of: link.entity) }
            case .referenced(let referenced, let columns):
                guard isMoved else { continue }
                try followReferences(relationship, columns, from: old, to: row, referenced)
                forgetUnheldRows(of: runtime.entities[relationship.destination])
                unload(relationship.slot, of: object)
            }
        }
    }

    /// Gives a member of a loaded relationship its new key.
    private func rename(_ oldKey: ObjectKey, _ object: DatabaseObject, in owner: DatabaseObject, _ slot: Int) {
        takeFromGroup(slot, of: owner)
        // Another member has the key still, which is about to get another one itself.
        let isTaken = object.key.flatMap { isLoadedMember($0, of: owner.runtime.relationships[slot], owner: owner) }
        if isTaken == true { return unload(slot, of: owner) }
        rekey(oldKey, to: object, in: owner, slot)
        owner.withState { $0.relationships.noteChange(of: slot, at: tick()) }
    }

    /// Gives the objects that referred to a row what the database's action has made of them.
    private func followReferences(
        _ relationship: RelationshipRuntime,
        _ columns: [Int],
        from old: Row,
        to row: Row,
        _ referenced: [Int]
    ) throws {
        let entity = runtime.entities[relationship.destination]
        let action = relationship.model.updateAction
        guard action == .cascade || action == .setNull && entity.mayBeNull(columns),
            let values = try ObjectKey(old, referenced)
        else { return }
        var cells = RowCells()
        for (column, position) in zip(columns, referenced) {
            try cells.set(action == .cascade ? row[position] : nil, at: column, of: entity, client.types)
        }
        for object in try withMap({ try $0.objects(entity, where: columns, equal: values) }) {
            try apply(object.storedRow.replacing(cells), to: object)
        }
    }
}
