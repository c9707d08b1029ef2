import KindredPostgres
import KindredSchema

// Filters of entities: conditions that hold for members without being written.
extension ConditionResolver {
    /// The condition by which rows at a place are shown, and by which they are the tenant's, which holds for a resolver that
    /// does not filter, too; nil if all are shown.
    mutating func filter(at place: Int) throws -> ConditionTerm? {
        let tenant = try tenant(at: place)
        guard isFiltered, let filter = schema.filters[places[place].entity.name] else { return tenant }
        let node = try filter.node
        let shown = try alone(at: place) { try $0.condition(node).term }
        return tenant.map { Optional($0).and(shown) } ?? shown
    }

    /// The condition by which a row at a place is the tenant's; nil if all tenants share the rows.
    private mutating func tenant(at place: Int) throws -> ConditionTerm? {
        guard schema.tenantColumn != nil, let attribute = schema.tenantAttribute(of: places[place].entity)
        else { return nil }
        return .isTenants(try column(attribute.name, of: place, attribute).value, attribute)
    }

    /// The condition by which a joined row is the tenant's; nothing if all tenants share the rows.
    func isTenants(_ row: JoinedRow) -> [ConditionTerm] {
        guard schema.tenantColumn != nil, let entity = row.entity, let attribute = schema.tenantAttribute(of: entity)
        else { return [] }
        return [.isTenants(.column(row.column(attribute.name)), attribute)]
    }

    /// A comparison for which the filters of members do not hold.
    mutating func unfiltered(_ comparison: ConditionComparison) throws -> ResolvedTerm {
        let outer = isFiltered
        isFiltered = false
        defer { isFiltered = outer }
        return try self.comparison(comparison)
    }
}

extension ConditionTerm {
    /// Whether a column has the context's tenant.
    fileprivate static func isTenants(_ column: ValueTerm, _ attribute: Attribute) -> ConditionTerm {
        .comparison(column, .equal, .tenant(type: TenantSetting.type(for: attribute)))
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
