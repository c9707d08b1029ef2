import KindredPostgres
import KindredSchema

// What a deletion means for memory: objects of deleted rows say so, and loaded relationships lose rows that nobody holds.
extension DatabaseContext {
    /// Marks the objects of deleted rows, and takes the rows out of every loaded relationship.
    func applyDeleted(_ keys: [ObjectKey], of entity: EntityRuntime) throws {
        var unheld: Set<ObjectKey> = []
        for key in keys {
            if let object = liveObject(entity, key) { try applyDelete(object) } else { unheld.insert(key) }
        }
        guard !unheld.isEmpty else { return }
        let scope = journal?.scope
        note { map, time in
            for key in unheld { map.noteDeleted(entity.index, key, at: time, in: scope) }
        }
        noteLostRows(of: entity.index)
    }

    /// Forgets what loaded relationships know of an entity's rows that nobody holds, because some of them may have
    /// changed or gone without being named.
    func forgetUnheldRows(of entity: EntityRuntime) {
        noteLostRows(of: entity.index, areInDoubt: true)
    }
}
