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
        noteLostRows(of: entity.index)
        for (owner, slot) in holders(of: entity) where Self.holds(owner, slot, { unheld.contains($0) }) {
            unlink(unheld, from: owner, slot: slot)
        }
    }

    /// Forgets what loaded relationships know of an entity's rows that nobody holds, because some of them may have
    /// changed or gone without being named.
    func forgetUnheldRows(of entity: EntityRuntime) {
        noteLostRows(of: entity.index, areInDoubt: true)
    }

    /// The objects in memory that have loaded a relationship to an entity, with the relationship's place.
    private func holders(of entity: EntityRuntime) -> [(owner: DatabaseObject, slot: Int)] {
        entity.relationships.flatMap { relationship in
            withMap { $0.objects(of: relationship.destination) }
                .filter { $0.withState { $0.relationships[relationship.inverseSlot] != nil } }
                .map { (owner: $0, slot: relationship.inverseSlot) }
        }
    }

    private static func holds(_ owner: DatabaseObject, _ slot: Int, _ isMeant: (ObjectKey) -> Bool) -> Bool {
        owner.withState { $0.relationships[slot] }?.keys.contains(where: isMeant) ?? false
    }
}
