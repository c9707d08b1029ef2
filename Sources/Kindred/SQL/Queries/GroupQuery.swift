package import KindredPostgres
package import KindredSchema

/// A SELECT of totals over groups of an entity's rows.
///
/// Its totals' order comes before the order of the rows' query, whose keys are among those of the groups; limit and offset count
/// groups.
package struct GroupQuery: Sendable {
    /// A condition on groups.
    enum Condition: Sendable {
        /// A total compared with a value by an operator of SQL; a group whose total is NULL is left out.
        case comparison(AggregateTerm, String, PostgresValue)
        /// Any condition, of which the operands are totals.
        case tree(ConditionNode)
    }

    /// A key of the groups' order.
    struct SortKey: Sendable {
        let value: ConditionExpression
        let ascending: Bool
        let nulls: NullOrder
    }

    let rows: SelectQuery
    /// The paths by whose values rows are grouped.
    let keys: [[String]]
    let totals: [AggregateTerm]
    var conditions: [Condition] = []
    var order: [SortKey] = []

    var entity: Entity { rows.entity }

    /// The statement, whose columns are the keys and then the totals.
    ///
    /// Throws `KindredError` `.unknownKey`, `.invalidRequest`, `.wrongType` or `.invalidCondition`.
    package func statement(in schema: DatabaseSchema) throws -> Statement {
        guard !keys.isEmpty else { throw invalid("A group needs at least one key path", nil) }
        let names = keys.map { schema.named($0, from: entity).joined(separator: ".") }
        let rest = try rows.sort.order(among: names) { path in
            invalid("Groups can only be sorted by the key paths that they are made by; \(path) is none of them", path)
        }
        return try rows.statement(in: schema, isSorted: false) { resolver in
            var columns = try keys.map { try resolver.selected($0, isCompared: true).sql }
            for total in totals {
                let argument = try resolver.argument(of: total)
                columns.append(try resolver.readable(resolver.aggregate(total, of: argument)).sql)
            }
            // By position: an expression with parameters does not equal its repetition elsewhere in the statement.
            var grouping = " GROUP BY \(keys.indices.map { "\($0 + 1)" }.joined(separator: ", "))"
            resolver.takesAggregates = true
            let having = try conditions.map { try $0.sql(&resolver) }
            if !having.isEmpty { grouping += " HAVING \(having.joined(separator: " AND "))" }
            grouping += try order(before: rest, &resolver)
            return SelectQuery.Parts(columns: columns.joined(separator: ", "), grouping: grouping)
        }
    }

    /// ` ORDER BY …`: the totals' order, and then that of the rows' query.
    private func order(before rest: String, _ resolver: inout ConditionResolver) throws -> String {
        if order.isEmpty { return rest }
        let first = try order.map { key in
            guard case .scalar(let scalar) = try resolver.operand(key.value) else {
                throw invalid("Groups are sorted by their totals", nil)
            }
            return ResolvedSortKey(value: scalar.value, direction: key.nulls.direction(ascending: key.ascending))
        }
        let text = try first.sql
        return rest.isEmpty ? text : "\(text), \(rest.dropFirst(" ORDER BY ".count))"
    }

    private func invalid(_ message: String, _ key: String?) -> KindredError {
        KindredError(.invalidRequest, message, entity: entity.name.description, key: key)
    }
}

extension GroupQuery.Condition {
    fileprivate func sql(_ resolver: inout ConditionResolver) throws -> String {
        switch self {
        case .comparison(let total, let comparison, let value):
            let scalar = try resolver.total(total)
            return "\(try scalar.value.sql) \(comparison) \(try resolver.bind(value, as: scalar).sql)"
        case .tree(let node):
            var text = ""
            try resolver.condition(node).term.writeClosed(to: &text)
            return text
        }
    }
}
