import KindredSchema

// Filters of entities: conditions that hold for members without being written.
extension ConditionResolver {
    /// The condition by which rows at a place are shown; nil if all are, or if the resolver does not filter.
    mutating func filter(at place: Int) throws -> ConditionTerm? {
        guard isFiltered, let filter = schema.filters[places[place].entity.name] else { return nil }
        let outer = root
        root = place
        defer { root = outer }
        return try condition(try filter.node).term
    }

    /// A comparison for which the filters of members do not hold.
    mutating func unfiltered(_ comparison: ConditionComparison) throws -> ResolvedTerm {
        let outer = isFiltered
        isFiltered = false
        defer { isFiltered = outer }
        return try self.comparison(comparison)
    }
}

extension EntityFilter {
    /// The parsed condition.
    var node: ConditionNode {
        get throws {
            if let node = condition as? ConditionNode { return node }
            throw KindredError(.invalidCondition, "The condition of a filter has not been parsed")
        }
    }
}

extension ConditionTerm? {
    /// The conjunction with a condition that is always there.
    func and(_ term: ConditionTerm) -> ConditionTerm {
        guard let self else { return term }
        if case .always = term { return self }
        return .all([self, term])
    }
}
