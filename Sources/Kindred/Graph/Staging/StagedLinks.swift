import KindredPostgres

/// What staged changes do to relationships that are not loaded: who joins and who leaves each owner.
///
/// Loaded relationships follow each change as it happens; this is for those that are read later.
struct StagedLinks: Sendable {
    struct End: Hashable, Sendable {
        let entity: Int
        let slot: Int
        let owner: ObjectKey
    }

    struct Change: Sendable {
        var joined: [DatabaseObject] = []
        var left: Set<ObjectKey> = []
    }

    private(set) var changes: [End: Change] = [:]

    init(_ objects: [DatabaseObject], _ pairs: [StagedPair], _ runtime: SchemaRuntime) {
        for object in objects { add(object, runtime) }
        for pair in pairs {
            let relationship = pair.relationship
            join(pair.destination, pair.source.key, relationship.source, relationship.slot)
            join(pair.source, pair.destination.key, relationship.destination, relationship.inverseSlot)
        }
    }

    /// What a staged object's foreign keys change.
    private mutating func add(_ object: DatabaseObject, _ runtime: SchemaRuntime) {
        let (row, status, staging) = object.withState { ($0.row, $0.status, $0.staging) }
        guard let staging, status != .deleted, let key = object.key else { return }
        for relationship in object.runtime.foreignKeys {
            let inverse = runtime.entities[relationship.destination].relationships[relationship.inverseSlot]
            guard case .referenced(_, let columns) = inverse.link else { continue }
            let destination = staging.destinations[relationship.slot]
            guard destination != nil || !staging.columns.isDisjoint(with: columns) else { continue }
            if status == .persistent, let owner = try? ObjectKey(staging.stored, columns) {
                changes[End(inverse, owner), default: Change()].left.insert(key)
            }
            let owner = if let destination { destination.key } else { try? ObjectKey(row, columns) }
            join(object, owner, inverse.source, inverse.slot)
        }
    }

    private mutating func join(_ object: DatabaseObject, _ owner: ObjectKey?, _ entity: Int, _ slot: Int) {
        guard let owner else { return }
        changes[End(entity: entity, slot: slot, owner: owner), default: Change()].joined.append(object)
    }

    func change(_ relationship: RelationshipRuntime, _ owner: ObjectKey) -> Change? {
        changes[End(relationship, owner)]
    }
}

extension StagedLinks.End {
    init(_ relationship: RelationshipRuntime, _ owner: ObjectKey) {
        self.init(entity: relationship.source, slot: relationship.slot, owner: owner)
    }
}
