extension SchemaBuilder {
    /// One end of a relationship, with the names that it may have and those that it got.
    final class RelationshipEnd {
        /// What makes the relationship, and on which side of it the end is.
        enum Role {
            /// The table that holds a foreign key; with the key's place.
            case holder(Int)
            /// The table that a foreign key refers to; with the key's place.
            case target(Int)
            /// A table that a helper refers to; with the pair's place, and whether by its first key.
            case helper(Int, isFirst: Bool)
        }

        let role: Role
        /// The places of the two tables, or of the views that stand for them.
        let source: Int
        let destination: Int
        /// The columns of both that are compared, with each other or with the helper's.
        let columns: [Int16]
        let destinationColumns: [Int16]
        /// How many of the two are views: where there are any, the names of ends with fewer go first.
        let viewCount: Int
        var candidates: [NameSettlement.Candidate] = []
        var outcomes: [NameSettlement.Outcome] = []
        /// The key that reads best.
        var name = ""
        /// All other keys, sorted.
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

    /// What stands on one side of a relationship: the table that a foreign key speaks of, or a view that shows its columns.
    struct Side {
        /// The place of the table or view.
        let table: Int
        /// Its columns, in the key's order.
        let columns: [Int16]
        var isView = false
    }

    /// Makes both ends of every foreign key and helper, with their candidates for names.
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
