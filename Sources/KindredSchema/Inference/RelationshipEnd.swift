extension SchemaBuilder {
    /// One end of a relationship, with its candidate names and its assigned ones.
    final class RelationshipEnd {
        /// The foreign key or helper that makes the relationship, and the end's side of it.
        enum Role {
            /// The table that holds a foreign key; with the key's index.
            case holder(Int)
            /// The table that a foreign key refers to; with the key's index.
            case target(Int)
            /// A table that a helper refers to; with the pair's index, and whether by its first key.
            case helper(Int, isFirst: Bool)
        }

        let role: Role
        /// The indexes of the two tables, or of the views that stand for them.
        let source: Int
        let destination: Int
        /// The compared columns of both, with each other or with the helper's.
        let columns: [Int16]
        let destinationColumns: [Int16]
        /// The number of views among the two; ends with fewer views get their names first.
        let viewCount: Int
        var candidates: [NameSettlement.Candidate] = []
        var outcomes: [NameSettlement.Outcome] = []
        /// The primary name.
        var name = ""
        /// All other names, sorted.
        var aliases: [String] = []

        init(role: Role, from source: Side, to destination: Side) {
            self.role = role
            self.source = source.table
            self.destination = destination.table
            columns = source.columns
            destinationColumns = destination.columns
            viewCount = (source.isView ? 1 : 0) + (destination.isView ? 1 : 0)
        }
    }

    /// One side of a relationship: the foreign key's table, or a view that shows its columns.
    struct Side {
        /// The index of the table or view.
        let table: Int
        /// Its columns, in the key's order.
        let columns: [Int16]
        var isView = false
    }

    /// Makes both ends of every foreign key and helper, with their candidate names.
    func makeEnds() {
        ends.reserveCapacity(2 * (keys.count + helpers.count))
        for (place, key) in keys.enumerated() {
            ends.append(RelationshipEnd(role: .holder(place), from: key.holder, to: key.target))
            ends.append(RelationshipEnd(role: .target(place), from: key.target, to: key.holder))
        }
        for (place, helper) in helpers.enumerated() {
            let (first, second) = (keys[helper.first].target, keys[helper.second].target)
            ends.append(RelationshipEnd(role: .helper(place, isFirst: true), from: first, to: second))
            ends.append(RelationshipEnd(role: .helper(place, isFirst: false), from: second, to: first))
        }
        makeViewEnds()
        let direct =
            helpers.isEmpty ? [] : Set(keys.lazy.filter { !$0.isOneToOne }.map { [$0.destination, $0.source] })
        for end in ends {
            switch end.role {
            case .holder(let key): end.candidates = holderCandidates(end, keys[key])
            case .target(let key): end.candidates = targetCandidates(end, keys[key])
            case .helper(let pair, let isFirst):
                let (first, second) = (keys[helpers[pair].first], keys[helpers[pair].second])
                let (near, far) = isFirst ? (first, second) : (second, first)
                let hasDirect = direct.contains([near.destination, far.destination])
                end.candidates = helperCandidates(end, helpers[pair], near, far, hasDirect: hasDirect)
            }
        }
        // Of two ends with the same generated name the first one keeps it: targets, then holders, then helpers.
        for place in ends.indices {
            if case .target = ends[place].role { tables[ends[place].source].ends.append(place) }
        }
        for place in ends.indices {
            if case .holder = ends[place].role { tables[ends[place].source].ends.append(place) }
        }
        for place in ends.indices {
            if case .helper = ends[place].role { tables[ends[place].source].ends.append(place) }
        }
    }
}
