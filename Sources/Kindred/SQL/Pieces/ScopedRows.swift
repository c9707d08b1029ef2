import KindredPostgres
import KindredSchema

/// The rows of a table in a statement: the table's name, which nothing else gives, together with the conditions of its scope.
///
/// A statement names a table by ``from(where:joining:)`` and the like, which write both, and says which rows it means:
/// ``EntityRuntime/all(as:_:)``, or ``Parameters/shown(_:as:_:)`` for rows that their filter shows.
struct ScopedRows {
    let entity: EntityRuntime
    let alias: RowAlias
    private let scope: RowScope

    fileprivate init(
        _ entity: EntityRuntime, as alias: RowAlias, _ tables: RowScope.Tables, shown: ConditionTerm? = nil
    ) {
        (self.entity, self.alias) = (entity, alias)
        scope = RowScope(tables: tables, terms: [entity.isTenants(alias), shown].compactMap(\.self))
    }

    /// `"public"."member" AS h`, with ONLY where the rows of inheriting tables are not meant.
    fileprivate var name: String {
        get throws {
            let only = scope.tables == .own && entity.rowTable != nil ? "ONLY " : ""
            return "\(only)\(try entity.used.name.quoted)\(alias.text.map { " AS \($0)" } ?? "")"
        }
    }

    /// ` AND h."deleted_at" IS NULL`: the conditions of the scope after earlier conditions; empty where the scope has
    /// none.
    var clause: String {
        get throws {
            try scope.terms.reduce(into: "") { text, term in
                text += " AND "
                try term.writeClosed(to: &text)
            }
        }
    }

    /// ` AND t."tenant_id" = …`: the condition by which a row is still the tenant's after a write.
    var tenantClause: String {
        get throws { try entity.isTenants(alias).map { " AND \(try $0.sql)" } ?? "" }
    }

    /// The table, and the condition on its rows: `"public"."member" AS h WHERE …`.
    ///
    /// - Parameter joins: the joins of other tables, with a space before.
    func from(where condition: String, joining joins: String = "") throws -> String {
        "\(try name)\(joins) WHERE \(condition)\(try clause)"
    }

    /// The table where only its columns are meant: `"public"."member" WHERE false`.
    var fromNothing: String { get throws { "\(try name) WHERE false" } }

    /// ` JOIN "public"."member" AS h ON …`, with a space before.
    func join(on condition: String) throws -> String { " JOIN \(try name) ON \(condition)\(try clause)" }

    /// `UPDATE … SET … FROM … WHERE … RETURNING …`: all UPDATEs are made here, so that none forgets to increment the
    /// rows' versions.
    ///
    /// - Parameters:
    ///   - set: the assignments: `"a" = $1`.
    ///   - source: the FROM clause, if any.
    ///   - condition: the WHERE clause.
    ///   - returned: the RETURNING clause; nil for none.
    func update(
        set: [String], from source: String? = nil, where condition: String, returning returned: String?
    ) throws -> String {
        var text =
            "UPDATE \(try name) SET \(set.joined(separator: ", "))\(try entity.texts.versionAssignment(alias: alias.text))"
        if let source { text += " FROM \(source)" }
        text += " WHERE \(condition)\(try clause)"
        if let returned { text += " RETURNING \(returned)" }
        return text
    }
}

extension EntityRuntime {
    /// The rows of the entity in a statement, whether their filter shows them or not.
    func all(as alias: RowAlias, _ tables: RowScope.Tables) -> ScopedRows { ScopedRows(self, as: alias, tables) }

    /// The condition by which rows are the tenant's; nil where all tenants share them.
    fileprivate func isTenants(_ alias: RowAlias) -> ConditionTerm? {
        guard let tenantColumn else { return nil }
        let attribute = entity.attributes[tenantColumn]
        let column = RowColumn(alias: alias.rawValue, name: attribute.name, comparedType: attribute.comparedType)
        return .comparison(
            .column(column), ValueType(attribute).comparison(.equal), .tenant(type: TenantSetting.type(for: attribute)))
    }
}

// Filters in statements that are made for relationships and rows; requests have them in their conditions.
extension Parameters {
    private static let noSchema = DatabaseSchema(entities: [], searchPath: [])

    /// The rows of an entity that its filter shows, whose values become parameters.
    mutating func shown(
        _ entity: EntityRuntime, as alias: RowAlias, _ tables: RowScope.Tables
    ) throws -> ScopedRows {
        guard let filter = entity.filter else { return entity.all(as: alias, tables) }
        // It reads columns of its own rows alone, and so needs no other entity.
        var resolver = ConditionResolver(entity: entity.entity, schema: Self.noSchema, alias: alias.rawValue)
        resolver.parameters = self
        let term = try resolver.condition(try filter.model.node).term
        self = resolver.parameters
        return ScopedRows(entity, as: alias, tables, shown: term)
    }
}

// Statements of a request, whose conditions have the scope of its rows already (see `SelectQuery.filtered`), and the tenant's
// column and value in statements that make or change rows.
extension EntityTexts {
    /// `DELETE FROM … AS t0`, with the condition of a request.
    func deletion(ofRequest condition: ConditionTerm?) throws -> String {
        var text = "DELETE FROM \(try entity.used.name.quoted) AS t0"
        guard let condition else { return text }
        text += " WHERE "
        try condition.write(to: &text)
        return text
    }

    /// `UPDATE … AS t0 SET … RETURNING …`, with the condition of a request.
    func update(ofRequest condition: ConditionTerm?, set: [String], returning returned: String?) throws -> String {
        var text =
            "UPDATE \(try entity.used.name.quoted) AS t0 SET \(set.joined(separator: ", "))\(try versionAssignment(alias: "t0"))"
        if let condition {
            text += " WHERE "
            try condition.write(to: &text)
        }
        if let returned { text += " RETURNING \(returned)" }
        return text
    }

    /// `t0`, the rows of a query in front, and the condition that they are the tenant's.
    var ofRequestInFront: String {
        get throws {
            guard let term = entity.isTenants(.first) else { return RowAlias.first.text ?? "" }
            return "t0 WHERE \(try term.sql)"
        }
    }

    /// `INSERT INTO "public"."member" AS h`.
    func insertion(as alias: RowAlias) throws -> String {
        "INSERT INTO \(try entity.used.name.quoted)\(alias.text.map { " AS \($0)" } ?? "")"
    }

    /// `UPDATE SET … WHERE …`, after an INSERT's DO: a row of another tenant that is in the way stays as it is.
    ///
    /// - Parameter condition: which rows are changed; nil for all.
    func updateOnConflict(set: [String], as alias: RowAlias, where condition: String? = nil) throws -> String {
        let terms = try [condition, entity.isTenants(alias).map { try $0.sql }].compactMap(\.self)
        let clause = terms.isEmpty ? "" : " WHERE \(terms.joined(separator: " AND "))"
        return "UPDATE SET \(set.joined(separator: ", "))\(try versionAssignment(alias: alias.text))\(clause)"
    }

    /// The tenant's column and value for an INSERT of rows that have no object; nothing where it has a value already.
    ///
    /// - Parameter columns: the columns that have values.
    func tenantAssignment(besides columns: [Int]) throws -> (names: [String], values: [String]) {
        guard let tenantColumn = entity.tenantColumn, !columns.contains(tenantColumn) else { return ([], []) }
        let value = TenantSetting.value(as: TenantSetting.type(for: entity.entity.attributes[tenantColumn]))
        return ([try quoted(tenantColumn)], [value])
    }
}
