import Kindred
import KindredPostgres
import KindredSchema

// Changes of prefetched rows: the members of the owners that they concern are asked for, and nothing else.
extension LiveQuery {
    /// For each table: the prefetched relationship that is all a change of the table can affect.
    static func findMemberBranches(
        of prefetched: PrefetchTree, _ reads: Reads, _ sources: [QualifiedName: LiveTables.Source]
    ) -> [QualifiedName: Int] {
        var branches: [QualifiedName: Int] = [:]
        for (position, branch) in prefetched.branches.enumerated() {
            let relationship = branch.relationship
            // If a relationship is loaded twice, or its members decide the result, the whole request is asked again.
            guard branch.part?.isDecidedByValues != true, !relationship.isComparedByServer,
                prefetched.branches.count(where: { $0.relationship === relationship }) == 1
            else { continue }
            for entity in [relationship.destination, relationship.helper?.entity].compactMap(\.self) {
                let isTable = entity.entity.kind == .table || entity.entity.kind == .partitionedTable
                let isRead = sources[entity.name]?.isIndirect == true || reads.others.contains(entity.name)
                if isTable, reads[entity]?.uses == 1, !isRead, entity.rowTable == nil {
                    branches[entity.name] = position
                }
            }
        }
        return branches
    }

    /// A prefetched relationship whose members are asked for together for several requests.
    struct MemberQuestion: Hashable {
        private let runtime: ObjectIdentifier
        private let entity: Int
        private let paths: [[PrefetchTree.Step]]

        fileprivate init(_ query: LiveQuery, _ branch: PrefetchTree.Branch) {
            runtime = ObjectIdentifier(query.core.runtime)
            entity = query.entity.index
            paths = branch.paths
        }
    }

    /// The question for the members at a position of the prefetched relationships.
    func memberQuestion(at position: Int) -> MemberQuestion { MemberQuestion(self, prefetched.branches[position]) }

    /// The entity whose changed rows have to be read to find their owners; nil if their keys tell them.
    func memberEntity(of table: QualifiedName) -> EntityRuntime? {
        guard let position = memberBranches[table] else { return nil }
        let relationship = prefetched.branches[position].relationship
        guard relationship.helper == nil, relationship.linkPlaces == nil else { return nil }
        return relationship.destination
    }

    /// The members of some owners: one statement, and one more for each relationship below.
    func members(at position: Int, of owners: Set<ObjectKey>) async throws -> LiveBranch {
        try await branch(prefetched.branches[position], of: KeyNumbers(Array(owners)))
    }
}

extension LiveSnapshot {
    /// The owners whose members may have changed with the rows of a table; nil if other owners may be affected, too.
    ///
    /// - Parameters:
    ///   - position: the place of the branch that shows the table's rows, or whose pairs it has.
    ///   - rows: the changed rows, where `LiveQuery.memberEntity` has named their entity.
    func owners(
        at position: Int, changedBy changes: TableChanges, in table: QualifiedName, rows: [Member]
    ) throws -> Set<ObjectKey>? {
        let (branch, keys) = (branches[position], changes.keys)
        let relationship = branch.relationship
        var owners: Set<ObjectKey> = []
        if table == relationship.destination.name {
            var known: Set<ObjectKey> = []
            for (owner, members) in branch.members {
                for member in members where keys.contains(member.key) {
                    owners.insert(owner)
                    known.insert(member.key)
                }
            }
            // A row that a policy has hidden may have come to owners that only the pairs tell.
            if relationship.helper != nil, changes.presentKeys.contains(where: { !known.contains($0) }) { return nil }
        }
        if table == relationship.linkRows.name {
            if let places = relationship.linkPlaces {
                owners.formUnion(
                    keys.map { key in
                        let values = key.values
                        return ObjectKey(places.map { values[$0] })
                    })
            } else if relationship.helper != nil {
                return nil
            }
            owners.formUnion(try rows.compactMap { try ObjectKey($0.row, relationship.linkColumns) })
        }
        return owners.filter { branch.members[$0] != nil }
    }

    /// The answer with other members of some owners, as a part of a branch has them.
    func replacing(membersAt position: Int, of owners: Set<ObjectKey>, from part: LiveBranch) -> LiveSnapshot {
        var branches = branches
        let old = branches[position]
        let new = old.with(part.members.filter { owners.contains($0.key) })
        let members = old.members.merging(new.members) { $1 }
        let below = LiveBranch.merged(old.branches, LiveBranch.parts(of: part.branches, with: new.rows))
        branches[position] = old.with(
            members, branches: below.isEmpty ? [] : LiveBranch.pruned(below, to: old.with(members).rows))
        return LiveSnapshot(rows, branches)
    }
}

extension RelationshipRuntime {
    /// The places of the columns that find the owner in the key of their rows; nil if a column is not part of the key.
    fileprivate var linkPlaces: [Int]? {
        let places = linkColumns.compactMap { linkRows.key.firstIndex(of: $0) }
        return places.count == linkColumns.count ? places : nil
    }
}
