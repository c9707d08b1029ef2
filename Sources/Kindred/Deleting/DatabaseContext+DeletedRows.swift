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
        noteLostRows(of: entity)
        for (owner, slot) in holders(of: entity) where Self.holds(owner, slot, { unheld.contains($0.key) }) {
            unlink(unheld, from: owner, slot: slot)
        }
        unloadHelperSets(of: entity)
    }

    /// Forgets what loaded relationships know of an entity's rows that nobody holds, because some of them may have
    /// changed or gone without being named.
    func forgetUnheldRows(of entity: EntityRuntime) {
        noteLostRows(of: entity)
        let holders = holders(of: entity)
        for (owner, slot) in holders {
            let members = Self.members(owner, slot)
            let isUnheld = withMap { map in members.contains { map.object(entity.index, $0.key) == nil } }
            if isUnheld { unload(slot, of: owner) }
        }
        unloadHelperSets(of: entity)
    }

    /// Many-to-many sets through an entity's rows are read again.
    private func unloadHelperSets(of entity: EntityRuntime) {
        for end in entity.helperEnds {
            for owner in withMap({ $0.objects(of: end.entity) })
            where owner.withState({ $0.relationships[end.slot] != nil }) {
                unload(end.slot, of: owner)
            }
        }
    }

    private func noteLostRows(of entity: EntityRuntime) {
        let time = tick()
        withMap { $0.noteLostRows(entity.index, at: time) }
    }

    /// The objects in memory that have loaded a relationship to an entity, with the relationship's place.
    private func holders(of entity: EntityRuntime) -> [(owner: DatabaseObject, slot: Int)] {
        entity.relationships.flatMap { relationship in
            withMap { $0.objects(of: relationship.destination) }
                .filter { $0.withState { $0.relationships[relationship.inverseSlot] != nil } }
                .map { (owner: $0, slot: relationship.inverseSlot) }
        }
    }

    private static func members(_ owner: DatabaseObject, _ slot: Int) -> [Member] {
        switch owner.withState({ $0.relationships[slot] }) {
        case .many(let members): members.members
        case .one(let one): one.member.map { [$0] } ?? []
        case nil: []
        }
    }

    private static func holds(_ owner: DatabaseObject, _ slot: Int, _ isMeant: (Member) -> Bool) -> Bool {
        members(owner, slot).contains(where: isMeant)
    }
}
