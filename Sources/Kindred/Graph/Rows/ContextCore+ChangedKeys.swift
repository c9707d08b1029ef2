import KindredPostgres
import KindredSchema
import Synchronization

// Follows a change of a row's key, or of other columns that foreign keys refer to.
extension ContextCore {
    /// Updates the rows that refer to a changed row: its pairs, and the rows that the database changed by ON UPDATE.
    ///
    /// - Parameter old: the row as it was stored.
    func followKeys(of object: DatabaseObject, from old: Row) throws {
        let entity = object.runtime
        let row = object.storedRow
        guard entity.isReferenced(row) else { return }
        let isRenamed = try ObjectKey(old, entity.key) != ObjectKey(row, entity.key)
        var actions = ForeignKeyActions(self)
        for relationship in entity.relationships where !relationship.holdsForeignKey {
            if let helper = relationship.helper {
                // The row does not have the other ends: any loaded inverse may hold it.
                if isRenamed { take(RowGap(.deleted, of: helper.entity)) }
            } else if relationship.ownColumns.contains(where: { !old.hasSameBytes(as: row, at: $0) }) {
                try actions.follow(relationship, from: old, to: row)
                try followStaged(relationship, from: old, to: row)
                take(RowGap(.some, of: relationship.destination))
                for key in ownKeys(relationship, object) { take(RowGap(membersIn: relationship, of: key)) }
            }
        }
        let changed = entity.findingColumns.filter { !old.hasSameBytes(as: row, at: $0) }
        for key in runtime.partitionKeys[entity] ?? [] where key.isFollowed(changed) {
            try actions.follow(key, from: old)
        }
    }

    /// Gives staged references to a row its new key: the key that they were staged with leads nowhere now.
    private func followStaged(_ relationship: RelationshipRuntime, from old: Row, to row: Row) throws {
        let (entity, columns, referenced) =
            (relationship.destination, relationship.otherColumns, relationship.ownColumns)
        let objects = staged.withLock { $0.objects }.filter { $0.runtime === entity }
        guard !objects.isEmpty, let values = try ObjectKey(old, referenced) else { return }
        var cells = RowCells()
        let changed = zip(columns, referenced).filter { !old.hasSameBytes(as: row, at: $1) }
        for (column, position) in changed { try cells.set(row[position], at: column, of: entity, types) }
        for object in objects {
            let (shown, staging) = object.withState { ($0.row, $0.staging) }
            // A column of the key that is not staged is as stored: such a reference leads nowhere now.
            guard let staging, changed.allSatisfy({ staging.columns.contains($0.0) }),
                try ObjectKey(shown, columns) == values
            else { continue }
            object.stage(cells)
        }
    }
}
