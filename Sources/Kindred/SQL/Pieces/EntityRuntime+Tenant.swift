import KindredPostgres
import KindredSchema

// What makes a statement one of a tenant's context: it finds no other rows, and stores no others.
extension EntityRuntime {
    /// ` AND t."tenant_id" = …` after the conditions on rows; nothing where all tenants share them.
    ///
    /// Conditions by keys have it already; those of requests get it where filters are resolved.
    func tenantClause(_ alias: String?) throws -> String {
        guard let tenantColumn else { return "" }
        return " AND \(try compared(tenantColumn, alias: alias)) = \(tenantValue(tenantColumn))"
    }

    /// The tenant's column and value for an INSERT of rows that have no object; nothing where it has a value already.
    ///
    /// - Parameter columns: the columns that have values.
    func tenantAssignment(besides columns: [Int]) throws -> (names: [String], values: [String]) {
        guard let tenantColumn, !columns.contains(tenantColumn) else { return ([], []) }
        return ([try quoted(tenantColumn)], [tenantValue(tenantColumn)])
    }

    /// ` WHERE h."tenant_id" = …` where there is no other condition: after an INSERT's DO UPDATE, a row of another tenant that is
    /// in the way stays as it is.
    func tenantWhere(_ alias: String) throws -> String {
        guard tenantColumn != nil else { return "" }
        return " WHERE" + (try tenantClause(alias)).dropFirst(" AND".count)
    }

    private func tenantValue(_ column: Int) -> String {
        TenantSetting.value(as: TenantSetting.type(for: entity.attributes[column]))
    }
}
