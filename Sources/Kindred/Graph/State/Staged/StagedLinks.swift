import KindredPostgres

/// The effect of staged changes on relationships that are not loaded: the members that join and leave each owner.
///
/// Loaded relationships follow each change as it happens; this is for relationships read later.
struct StagedLinks: Sendable {
    struct End: Hashable, Sendable {
        let relationship: RelationshipRuntime
        let owner: ObjectKey
        /// Whether it is the end of a member, for all owners that this is paired with.
        var isOfMember = false
    }

    struct Change: Sendable {
        var joined: [DatabaseObject] = []
        var left: Set<ObjectKey> = []
    }

    private(set) var changes: [End: Change] = [:]

    init(_ objects: [DatabaseObject], _ pairs: [StagedPair]) {
        for object in objects { add(object) }
        for pair in pairs {
            let relationship = pair.relationship
            let inverse = relationship.inverse
            join(pair.destination, to: relationship.ownKey(of: pair.source), in: relationship)
            join(pair.source, to: inverse.ownKey(of: pair.destination), in: inverse)
        }
    }

    /// Adds the changes of a staged object's foreign keys.
    private mutating func add(_ object: DatabaseObject) {
        let (row, status, staging) = object.withState { ($0.row, $0.status, $0.staging) }
        guard let staging, status != .deleted, let key = object.key else { return }
        for relationship in object.runtime.foreignKeys {
            let inverse = relationship.inverse
            let columns = relationship.ownColumns
            let destination = staging.destinations[relationship.slot]
            guard destination != nil || !staging.columns.isDisjoint(with: columns) else { continue }
            if status == .persistent, let owner = try? ObjectKey(staging.stored, columns) {
                changes[End(relationship: inverse, owner: owner), default: Change()].left.insert(key)
            }
            let owner = if let destination { inverse.ownKey(of: destination) } else { try? ObjectKey(row, columns) }
            join(object, to: owner, in: inverse)
        }
    }

    private mutating func join(_ object: DatabaseObject, to owner: ObjectKey?, in relationship: RelationshipRuntime) {
        guard let owner else { return }
        changes[End(relationship: relationship, owner: owner), default: Change()].joined.append(object)
    }

    /// The change of an owner that foreign keys refer to by any of some keys.
    func change(_ relationship: RelationshipRuntime, _ owners: [ObjectKey]) -> Change? {
        if owners.count == 1 { return changes[End(relationship: relationship, owner: owners[0])] }
        let found = owners.compactMap { changes[End(relationship: relationship, owner: $0)] }
        return found.dropFirst().reduce(into: found.first) { change, other in
            change?.joined += other.joined
            change?.left.formUnion(other.left)
        }
    }

    /// The keys by which staged objects refer to rows at the other end of a relationship, or have done so.
    func owners(_ relationship: RelationshipRuntime) -> [ObjectKey] {
        changes.keys.filter { $0.relationship == relationship }.map(\.owner)
    }
}

/// A pair of a many-to-many relationship that is not stored yet, because one of its ends is new.
///
/// Always normalized to the same side, so that the pair is equal from both.
struct StagedPair: Hashable, Sendable {
    let source: DatabaseObject
    let relationship: RelationshipRuntime
    let destination: DatabaseObject

    init(_ owner: DatabaseObject, _ member: DatabaseObject, in relationship: RelationshipRuntime) {
        let inverse = relationship.inverse
        let isFirst = relationship < inverse
        source = isFirst ? owner : member
        self.relationship = isFirst ? relationship : inverse
        destination = isFirst ? member : owner
    }
}

extension RelationshipRuntime {
    /// The key by which the other end refers to an object, the temporary one of a new object; nil if nothing can.
    func ownKey(of owner: DatabaseObject) -> ObjectKey? {
        owner.isInserted ? owner.key : try? ownKey(owner.storedRow)
    }
}
