import KindredPostgres

/// The effect of staged changes on relationships that are not loaded: the members that join and leave each owner.
///
/// Loaded relationships follow each change as it happens; this is for relationships read later.
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
            let inverse = runtime.entities[relationship.destination].relationships[relationship.inverseSlot]
            join(pair.destination, relationship.ownKey(of: pair.source), relationship.source, relationship.slot)
            join(pair.source, inverse.ownKey(of: pair.destination), inverse.source, inverse.slot)
        }
    }

    /// Adds the changes of a staged object's foreign keys.
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
            let owner = if let destination { inverse.ownKey(of: destination) } else { try? ObjectKey(row, columns) }
            join(object, owner, inverse.source, inverse.slot)
        }
    }

    private mutating func join(_ object: DatabaseObject, _ owner: ObjectKey?, _ entity: Int, _ slot: Int) {
        guard let owner else { return }
        changes[End(entity: entity, slot: slot, owner: owner), default: Change()].joined.append(object)
    }

    /// The change of an owner that foreign keys refer to by any of some keys.
    func change(_ relationship: RelationshipRuntime, _ owners: [ObjectKey]) -> Change? {
        if owners.count == 1 { return changes[End(relationship, owners[0])] }
        let found = owners.compactMap { changes[End(relationship, $0)] }
        return found.dropFirst().reduce(into: found.first) { change, other in
            change?.joined += other.joined
            change?.left.formUnion(other.left)
        }
    }

    /// The keys by which staged objects refer to rows at the other end of a relationship, or have done so.
    func owners(_ relationship: RelationshipRuntime) -> [ObjectKey] {
        changes.keys.filter { $0.entity == relationship.source && $0.slot == relationship.slot }.map(\.owner)
    }
}

extension StagedLinks.End {
    init(_ relationship: RelationshipRuntime, _ owner: ObjectKey) {
        self.init(entity: relationship.source, slot: relationship.slot, owner: owner)
    }
}

/// A pair of a many-to-many relationship that is not stored yet, because one of its ends is new.
///
/// Always normalized to the same side, so that the pair is equal from both.
struct StagedPair: Hashable, Sendable {
    let source: DatabaseObject
    /// The relationship's slot in the source.
    let slot: Int
    let destination: DatabaseObject

    init(_ owner: DatabaseObject, _ relationship: RelationshipRuntime, _ member: DatabaseObject) {
        let isFirst =
            (relationship.source, relationship.slot) < (relationship.destination, relationship.inverseSlot)
        source = isFirst ? owner : member
        slot = isFirst ? relationship.slot : relationship.inverseSlot
        destination = isFirst ? member : owner
    }

    var relationship: RelationshipRuntime { source.runtime.relationships[slot] }
}

extension RelationshipRuntime {
    /// The key by which the other end refers to an object, the temporary one of a new object; nil if nothing can.
    func ownKey(of owner: DatabaseObject) -> ObjectKey? {
        owner.isInserted ? owner.key : try? ownKey(owner.storedRow)
    }
}
