import KindredPostgres
import KindredSchema

// Locks on rows of several tenants that Citus distributes: it locks those of one tenant in a statement.
extension SelectQuery {
    /// The query of the same rows, locked by then, where one statement cannot lock them; else the query itself.
    ///
    /// Where Citus distributes the rows and the condition leaves the tenant open: one SELECT of the keys, and for each tenant
    /// among them, in their order, one that locks the rows which the condition still finds. Sends nothing elsewhere, and for the
    /// context of a tenant. Needs a transaction.
    ///
    /// - Parameter lock: the lock if the query has none; nil for a query that then needs none.
    func lockedByTenant(
        _ runtime: EntityRuntime, in core: ContextCore, orBy lock: RowLock? = nil
    ) async throws -> SelectQuery {
        let schema = core.runtime.schema
        guard let (strength, waiting) = self.lock ?? lock.map({ ($0, .wait) }), try isOfManyTenants(runtime, in: schema)
        else { return self }
        if let query = try ofTenant(core.tenant, runtime, in: schema) { return query }
        let list = try runtime.selectList(of: runtime.key, alias: "t0")
        let columns = Array(runtime.key.indices)
        func keys(_ statement: Statement) async throws -> [ObjectKey] {
            let result = try await core.client.send([statement], runtime)[0]
            return try result.indices.compactMap { try ObjectKey(result, row: $0, columns) }
        }
        let found = try await keys(try statement(in: schema, selecting: list, isSorted: true))
        var locked: [ObjectKey] = []
        for tenants in runtime.slices(found, of: runtime.key) {
            let statement = try among(tenants, of: runtime).statement(in: schema, selecting: list, isSorted: false) {
                "\($0) \(strength.rawValue) OF t0\(waiting.rawValue)"
            }
            locked += try await keys(statement)
        }
        var query = SelectQuery(entity: entity)
        (query.sort, query.memberOrder, query.pairLink) = (sort, memberOrder, pairLink)
        (query.leftOut, query.isFiltered) = (leftOut, false)
        return query.among(locked, of: runtime)
    }

    /// Whether Citus distributes the rows, and the condition may find those of several tenants.
    func isOfManyTenants(_ runtime: EntityRuntime, in schema: DatabaseSchema) throws -> Bool {
        guard let column = runtime.distributionColumn else { return false }
        let name = runtime.entity.attributes[column].name
        return try begin(in: schema).1?.givesValue(to: name) != true
    }

    /// Whether a write of the rows is split by tenant: one that selects them first, because of an order, a limit, a lock or joins.
    func isWrittenByTenant(_ runtime: EntityRuntime, in schema: DatabaseSchema) throws -> Bool {
        guard try isOfManyTenants(runtime, in: schema) else { return false }
        return try limit != nil || offset != nil || lock != nil || !begin(in: schema).0.joins[0].isEmpty
    }

    /// The query with the value of a context's tenant, if the rows are distributed by its column: the condition reads it from a
    /// setting, where Citus sees no value.
    private func ofTenant(
        _ tenant: ContextTenant?, _ runtime: EntityRuntime, in schema: DatabaseSchema
    ) throws -> SelectQuery? {
        guard let tenant, let column = runtime.distributionColumn,
            runtime.entity.attributes[column].name.hasSameBytes(as: tenant.column)
        else { return nil }
        let comparison = ConditionComparison(.path([tenant.column]), .equal, with: .value(tenant.value))
        var query = self
        try query.narrow(by: Condition(.comparison(comparison)), in: schema)
        return query
    }

    /// The query of those rows that have one of some keys, in any number and without a lock.
    private func among(_ keys: [ObjectKey], of runtime: EntityRuntime) -> SelectQuery {
        var query = self
        (query.limit, query.offset, query.lock) = (nil, nil, nil)
        query.keys = (runtime, keys)
        return query
    }
}

extension ConditionTerm {
    /// Whether it holds only for rows that have one given value in a column of their own.
    fileprivate func givesValue(to column: String) -> Bool {
        switch self {
        case .all(let terms): terms.contains { $0.givesValue(to: column) }
        case .comparison(.column(let row), .equal, let value): row.alias == 0 && row.name == column && value.isGiven
        default: false
        }
    }
}

extension ValueTerm {
    /// Whether it is the same for all rows.
    fileprivate var isGiven: Bool {
        switch self {
        // That of a context's tenant is read from a setting, where Citus sees no value.
        case .parameter: true
        case .cast(let value, _): value.isGiven
        default: false
        }
    }
}
