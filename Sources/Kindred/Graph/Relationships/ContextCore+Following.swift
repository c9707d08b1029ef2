import KindredPostgres
import Synchronization

extension ContextCore {
    /// Waits until changes of an entity's rows reach the context, if it follows changes; to be called before a query.
    func follow(_ entity: EntityRuntime) async throws {
        if let following { try await following.follow([entity], in: self) }
    }

    /// Waits until changes reach the objects of a relationship, if the context follows changes.
    func follow(_ relationship: RelationshipRuntime) async throws {
        if let following { try await following.follow(relationship, in: self) }
    }

    /// Keeps the end of a followed relationship that was found in memory: it is still known when the object is not.
    func keepFollowed(
        _ object: DatabaseObject, by key: ObjectKey, in relationship: RelationshipRuntime, of owner: DatabaseObject
    ) {
        guard following != nil, let memberKey = object.key, !memberKey.isTemporary else { return }
        if case .one(let one)? = owner.withState({ $0.relationships[relationship.slot] }), one.foreignKey == key,
            one.member?.key == memberKey
        {
            return
        }
        let member = Member(key: memberKey, row: object.storedRow)
        let batch = Answer([member], askedAt: now, in: writing?.scope)
        keep(.one(LoadedOne(foreignKey: key, member: member, batch: batch)), relationship, of: owner)
    }

    /// Says which changes have made something stale until now.
    package var changeStamp: ChangeFollowing.ChangeStamp {
        withMap { ChangeFollowing.ChangeStamp(undoCount: undoCount, staleCount: $0.log.staleCount) }
    }
}

// The answers that are asked for again, so that they can be read without a statement.
extension ContextCore {
    /// Makes everything stale that is loaded: changes no longer reach the context.
    package func loseEverything() {
        ChangeFollowing.$isTakingChanges.withValue(true) {
            for entity in runtime.entities where withMap({ $0.knows(entity) }) {
                let time = tick()
                for object in withMap({ $0.objects(of: entity) }) { object.withState { $0.becomeStale(at: time) } }
                take(RowGap(.everything, of: entity), by: .committed(time))
            }
            takeRollback()
        }
    }

    /// Whether any object of the context is in memory.
    package var holdsObjects: Bool { runtime.entities.contains { entity in withMap { $0.holdsObjects(of: entity) } } }

    /// The loaded relationships of objects in memory, by relationship, where a predicate holds.
    package func loadedOwners(
        where predicate: (RelationshipRuntime) -> Bool
    ) -> [(relationship: RelationshipRuntime, owners: [DatabaseObject])] {
        guard let following else { return [] }
        let relationships = following.withState { $0.relationships }.filter(predicate)
        return relationships.map { relationship in
            let owners = withMap { $0.objects(of: relationship.source) }.filter { object in
                object.withState { state in
                    state.status == .persistent && state.relationships[relationship.slot] != nil
                }
            }
            return (relationship, owners)
        }
    }
}
