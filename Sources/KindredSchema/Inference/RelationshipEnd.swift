import KindredPostgres

extension SchemaBuilder {
    /// One end of a relationship, with its candidate names and its assigned names.
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
        let needed = helperEndsNamedByTheirHelper()
        for end in ends {
            switch end.role {
            case .holder(let key): end.candidates = holderCandidates(end, keys[key])
            case .target(let key): end.candidates = targetCandidates(end, keys[key])
            case .helper(let pair, let isFirst):
                let (first, second) = (keys[helpers[pair].first], keys[helpers[pair].second])
                let (near, far) = isFirst ? (first, second) : (second, first)
                let needsHelper = needed[pair][isFirst ? 0 : 1]
                end.candidates = helperCandidates(
                    end, helpers[pair], near: near, far: far, needsHelper: needsHelper)
            }
        }
        // The first of two ends with the same generated name keeps it: targets, then holders, then helpers.
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
    /// For both ends of each helper, whether the helper's name has to tell the end from other ends of its source: from
    /// a direct to-many relationship to the same table, or from another helper's end that would get the same name from
    /// its far key's column.
    private func helperEndsNamedByTheirHelper() -> [[Bool]] {
        if helpers.isEmpty { return [] }
        let direct = Set(keys.lazy.filter { !$0.isOneToOne }.map { [$0.destination, $0.source] })
        // Helpers whose far key has no column of its own stand together if they lead to the same table.
        struct Way: Hashable {
            let source: Int
            let base: String?
            let destination: Int?
        }
        func way(_ near: ForeignKey, _ far: ForeignKey) -> Way {
            Way(source: near.destination, base: far.base, destination: far.base == nil ? far.destination : nil)
        }
        let directions = helpers.map { pair in
            [(keys[pair.first], keys[pair.second]), (keys[pair.second], keys[pair.first])]
        }
        var users: [Way: Set<Int>] = [:]
        for (helper, both) in directions.enumerated() {
            for (near, far) in both { users[way(near, far), default: []].insert(helper) }
        }
        return directions.map { both in
            both.map { near, far in
                // Between a table and itself the columns tell the helper's rows from the direct relationship's rows.
                let hasDirect =
                    near.destination != far.destination && direct.contains([near.destination, far.destination])
                return hasDirect || (users[way(near, far)]?.count ?? 0) > 1
            }
        }
    }
}
