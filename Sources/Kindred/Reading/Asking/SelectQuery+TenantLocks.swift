import KindredPostgres
import KindredSchema

// Locks on rows of several tenants, taken one tenant after the other.
extension SelectQuery {
    /// Locks the rows where one statement cannot lock them, and returns the query of these rows; else returns the query
    /// itself.
    ///
    /// Where Citus distributes the rows and the condition leaves the tenant open: one SELECT of the keys, and for each
    /// tenant among them, in their order, a SELECT that locks the rows which the condition still finds. Sends nothing
    /// elsewhere, nor for the context of a tenant. Needs a transaction.
    ///
    /// - Parameter lock: the lock if the query has none; nil if such a query needs none.
    func lockedByTenant(
        _ runtime: EntityRuntime, in core: ContextCore, orBy lock: RowLock? = nil
    ) async throws -> SelectQuery {
        let schema = core.runtime.schema
        guard let lock = self.lock ?? lock.map({ ($0, .wait) }), try isOfManyTenants(runtime, in: schema) else {
            return self
        }
        if let query = try ofTenant(core.tenant, runtime, in: schema) { return query }
        let columns = Array(runtime.key.indices)
        func keys(_ statement: Statement) async throws -> [ObjectKey] {
            let result = try await core.client.send([statement], runtime)[0]
            return try result.indices.compactMap { try ObjectKey(result, row: $0, columns) }
        }
        let found = try await keys(try keysStatement(runtime, in: schema))
        var locked: [ObjectKey] = []
        for tenant in runtime.slices(found, of: runtime.key) {
            locked += try await keys(try lockStatement(tenant, of: runtime, in: schema, lock: lock))
        }
        return ofLocked(locked, of: runtime)
    }

    /// The query with the value of a context's tenant, if the rows are distributed by its column: the condition reads it from a
    /// setting, where Citus sees no value.
    private func ofTenant(
        _ tenant: ContextTenant?, _ runtime: EntityRuntime, in schema: DatabaseSchema
    ) throws -> SelectQuery? {
        guard let tenant, let column = runtime.distributionColumn,
            runtime.entity.attributes[column].name == tenant.column
        else { return nil }
        let comparison = ConditionComparison(.path(.own(tenant.column)), .equal, with: .value(tenant.value))
        var query = self
        try query.narrow(by: Condition(.comparison(comparison)), in: schema)
        return query
    }
}
