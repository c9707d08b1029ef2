import KindredPostgres
import KindredSchema

// Filters of entities: conditions that hold for members without being written.
extension ConditionResolver {
    /// The condition by which rows at a place are shown, and by which they are the tenant's, which holds for a resolver that
    /// does not filter, too; nil if all are shown.
    mutating func filter(at place: Int) throws -> ConditionTerm? {
        let terms = try [tenant(at: place), isFiltered ? shown(at: place) : nil].compactMap(\.self)
        return terms.count > 1 ? .all(terms) : terms.first
    }

    /// The scope of members at a place, whose rows hold the foreign key.
    mutating func memberScope(at place: Int) throws -> RowScope {
        let shown = isFiltered ? try shown(at: place) : nil
        return RowScope(tables: .all, terms: try [tenant(at: place), shown].compactMap(\.self))
    }

    /// The scope of a helper's rows at a place: a pair whose row is hidden does not count.
    mutating func pairScope(at place: Int) throws -> RowScope {
        let row = JoinedRow(alias: places[place].alias ?? 0, entity: places[place].entity)
        let shown = isFilteringPairs ? try shown(at: place) : nil
        return RowScope(tables: .own, terms: isTenants(row) + [shown].compactMap(\.self))
    }

    /// The scope of rows to which relationships lead, whether their filter shows them or not.
    func linkedScope(_ row: JoinedRow, _ tables: RowScope.Tables) -> RowScope {
        RowScope(tables: tables, terms: isTenants(row))
    }

    /// The condition by which rows at a place are shown; nil if all are.
    private mutating func shown(at place: Int) throws -> ConditionTerm? {
        guard let filter = schema.filters[places[place].entity.name] else { return nil }
        let node = try filter.node
        return try alone(at: place) { try $0.condition(node).term }
    }

    /// The condition by which a row at a place is the tenant's; nil if all tenants share the rows.
    private mutating func tenant(at place: Int) throws -> ConditionTerm? {
        guard schema.tenantColumn != nil, let attribute = schema.tenantAttribute(of: places[place].entity)
        else { return nil }
        return .isTenants(try column(attribute.name, of: place, attribute).value, attribute)
    }

    /// The condition by which a joined row is the tenant's; nothing if all tenants share the rows.
    private func isTenants(_ row: JoinedRow) -> [ConditionTerm] {
        guard schema.tenantColumn != nil, let entity = row.entity, let attribute = schema.tenantAttribute(of: entity)
        else { return [] }
        return [.isTenants(.column(row.column(attribute.name)), attribute)]
    }

    /// A comparison for which the filters of members do not hold; the filters of pairs do.
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
        .comparison(column, ValueType(attribute).comparison(.equal), .tenant(type: TenantSetting.type(for: attribute)))
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
