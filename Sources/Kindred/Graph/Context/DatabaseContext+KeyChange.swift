import KindredPostgres
import KindredSchema

// What follows in memory when a row gets another key, or other values that foreign keys lead to.
extension DatabaseContext {
    /// Takes along what finds a changed row by its key: pairs that it is in, and the rows that refer to it, which the
    /// database has changed by ON UPDATE.
    ///
    /// - Parameter old: the row as it was stored.
    func followKeys(of object: DatabaseObject, from old: Row) throws {
        let entity = object.runtime
        let row = object.storedRow
        let isRenamed = try ObjectKey(old, entity.key) != ObjectKey(row, entity.key)
        for relationship in entity.relationships {
            switch relationship.link {
            case .foreignKey: continue
            case .helper(let link):
                // The other ends are not in the row: whoever has loaded the inverse may hold it.
                if isRenamed { noteLostRows(of: link.entity) }
            case .referenced(let referenced, let columns):
                guard relationship.ownColumns.contains(where: { !old.hasSameBytes(as: row, at: $0) }) else { continue }
                try followReferences(relationship, columns, from: old, to: row, referenced)
                forgetUnheldRows(of: runtime.entities[relationship.destination])
                noteStale(relationship, of: object)
            }
        }
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
            try cells.set(action == .cascade ? row[position] : nil, at: column, of: entity, types)
        }
        for object in try withMap({ try $0.objects(entity, where: columns, equal: values) }) {
            try apply(object.storedRow.replacing(cells), to: object)
        }
    }
}
