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
        /// The places of the two tables.
        let source: Int
        let destination: Int
        var candidates: [NameSettlement.Candidate] = []
        var outcomes: [NameSettlement.Outcome] = []
        /// The key that reads best.
        var name = ""
        /// All other keys, sorted.
        var aliases: [String] = []

        init(role: Role, source: Int, destination: Int) {
            self.role = role
            self.source = source
            self.destination = destination
        }
    }

    /// Makes both ends of every foreign key and helper, with their candidates for names.
    func makeEnds() {
        ends.reserveCapacity(2 * (keys.count + helpers.count))
        for (place, key) in keys.enumerated() {
            ends.append(RelationshipEnd(role: .holder(place), source: key.source, destination: key.destination))
            ends.append(RelationshipEnd(role: .target(place), source: key.destination, destination: key.source))
        }
        for (place, helper) in helpers.enumerated() {
            let (first, second) = (keys[helper.first].destination, keys[helper.second].destination)
            ends.append(RelationshipEnd(role: .helper(place, isFirst: true), source: first, destination: second))
            ends.append(RelationshipEnd(role: .helper(place, isFirst: false), source: second, destination: first))
        }
        for (place, key) in keys.enumerated() {
            // Both ends have the same generated names.
            let generated = generatedNames(of: key)
            ends[2 * place].candidates = holderCandidates(key) + generated
            ends[2 * place + 1].candidates = targetCandidates(key) + generated
        }
        let direct =
            helpers.isEmpty ? [] : Set(keys.lazy.filter { !$0.isOneToOne }.map { [$0.destination, $0.source] })
        for (place, helper) in helpers.enumerated() {
            for (offset, (near, far)) in [(helper.first, helper.second), (helper.second, helper.first)].enumerated() {
                let (near, far) = (keys[near], keys[far])
                let hasDirect = direct.contains([near.destination, far.destination])
                ends[2 * (keys.count + place) + offset].candidates =
                    helperCandidates(helper, near, far, hasDirect: hasDirect)
            }
        }
        // Of two ends with the same generated name the first one keeps it: targets, then holders, then helpers.
        for place in keys.indices { tables[keys[place].destination].ends.append(2 * place + 1) }
        for place in keys.indices { tables[keys[place].source].ends.append(2 * place) }
        for place in (2 * keys.count)..<ends.count { tables[ends[place].source].ends.append(place) }
    }
}
