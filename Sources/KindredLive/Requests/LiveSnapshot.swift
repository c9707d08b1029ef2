import Kindred
import KindredPostgres

/// The answer to a live request in one snapshot of the database: immutable, and shared by all consumers of equal requests.
final class LiveSnapshot: Sendable {
    /// The rows in their order, each once.
    let rows: [Member]
    let branches: [LiveBranch]

    init(_ rows: [Member], _ branches: [LiveBranch] = []) {
        self.rows = rows
        self.branches = branches
    }

    /// The same rows in the order of an earlier answer, with new rows behind.
    ///
    /// An order that is left to the server never changes.
    func keepingOrder(of last: LiveSnapshot) -> LiveSnapshot {
        let places = Dictionary(
            last.rows.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { first, _ in first })
        return ordered { places[$0] }
    }

    /// The same rows in the order of their places, with rows that have none behind.
    func ordered(by place: (ObjectKey) -> Int?) -> LiveSnapshot {
        let placed = rows.map { (row: $0, place: place($0.key)) }
        let known = placed.filter { $0.place != nil }.sorted { ($0.place ?? 0) < ($1.place ?? 0) }
        return LiveSnapshot(known.map(\.row) + placed.filter { $0.place == nil }.map(\.row), branches)
    }

    /// The difference of this answer to an earlier answer of the same request.
    ///
    /// - Parameters:
    ///   - former: the request's entity in the model of the earlier answer.
    ///   - entity: the entity in the model of this answer.
    func difference(from last: LiveSnapshot, of former: EntityRuntime, as entity: EntityRuntime) -> LiveDifference {
        if last === self { return LiveDifference() }
        return LiveDifference(from: last.rows.map(\.key), to: rows.map(\.key)) { oldPlace, place in
            let (old, new) = (last.rows[oldPlace].row, rows[place].row)
            return old.hasSameValues(of: former, as: new, of: entity)
                && LiveBranch.haveSameMembers(last.branches, of: old, branches, of: new)
        }
    }
}

/// The rows at the other end of a prefetched relationship, or of a part of it, as a part of an answer.
struct LiveBranch: Sendable {
    let relationship: RelationshipRuntime
    /// The part of it; nil for all of it.
    let part: PartQuery?
    /// The members of each owner, by the key by which the owner finds them.
    let members: [ObjectKey: [Member]]
    /// The relationships of the members.
    let branches: [LiveBranch]

    init(
        _ relationship: RelationshipRuntime, _ part: PartQuery? = nil, members: [ObjectKey: [Member]],
        branches: [LiveBranch] = []
    ) {
        self.relationship = relationship
        self.part = part
        self.members = members
        self.branches = branches
    }

    /// The branch with other members.
    func with(_ members: [ObjectKey: [Member]], branches: [LiveBranch] = []) -> LiveBranch {
        LiveBranch(relationship, part, members: members, branches: branches)
    }

    /// The rows of all members, each once.
    var rows: [Row] {
        var seen: Set<ObjectKey> = []
        return members.values.flatMap { $0.filter { seen.insert($0.key).inserted }.map(\.row) }
    }

    /// The members of the owner with a row.
    func members(of owner: Row) -> [Member] {
        guard let key = try? relationship.ownKey(owner) else { return [] }
        return members[key] ?? []
    }

    /// The branches of an answer, merged with the branches of a newer part of it.
    static func merged(_ old: [LiveBranch], _ new: [LiveBranch]) -> [LiveBranch] {
        zip(old, new).map { old, new in
            old.with(old.members.merging(new.members) { $1 }, branches: merged(old.branches, new.branches))
        }
    }

    /// Branches without the owners that have left, once there are many of them.
    static func pruned(_ branches: [LiveBranch], to rows: [Row]) -> [LiveBranch] {
        branches.map { branch in
            guard branch.members.count > 2 * rows.count + 64 else { return branch }
            let left = branch.part(with: rows)
            return branch.with(left.members, branches: pruned(branch.branches, to: left.rows))
        }
    }

    /// The parts of branches that some owners have.
    static func parts(of branches: [LiveBranch], with owners: [Row]) -> [LiveBranch] {
        branches.map { branch in
            let part = branch.part(with: owners)
            return branch.with(part.members, branches: parts(of: branch.branches, with: part.rows))
        }
    }

    /// The members of some owners, without their relationships.
    private func part(with owners: [Row]) -> LiveBranch {
        let keys = Set(owners.compactMap { try? relationship.ownKey($0) })
        return with(members.filter { keys.contains($0.key) })
    }

    /// Whether two versions of a row have the same members with the same contents in the same order, down to the last level.
    static func haveSameMembers(
        _ old: [LiveBranch], of oldOwner: Row, _ new: [LiveBranch], of newOwner: Row
    ) -> Bool {
        zip(old, new).allSatisfy { old, new in
            let (former, current) = (old.members(of: oldOwner), new.members(of: newOwner))
            return former.count == current.count
                && zip(former, current).allSatisfy { former, current in
                    former.key == current.key
                        && former.row.hasSameValues(
                            of: old.relationship.destination, as: current.row, of: new.relationship.destination)
                        && haveSameMembers(old.branches, of: former.row, new.branches, of: current.row)
                }
        }
    }
}

extension Row {
    /// Whether a newer row has the same values in all columns that this one has; the newer one may be of another model.
    fileprivate func hasSameValues(of entity: EntityRuntime, as new: Row, of newEntity: EntityRuntime) -> Bool {
        if entity === newEntity { return hasSameBytes(as: new) }
        return entity.entity.attributes.indices.allSatisfy { column in
            guard let place = newEntity.attributeIndex(of: entity.entity.attributes[column].name) else { return false }
            if isLeftOut(at: column) || new.isLeftOut(at: place) {
                return isLeftOut(at: column) == new.isLeftOut(at: place)
            }
            return valueOrRaw(at: column) == new.valueOrRaw(at: place)
        }
    }
}
