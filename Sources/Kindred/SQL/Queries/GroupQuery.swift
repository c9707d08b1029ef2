package import KindredPostgres
package import KindredSchema

/// A SELECT of totals over groups of an entity's rows.
///
/// The totals' order comes before the order of the rows' query, whose sort keys are among the groups' keys; limit and
/// offset count groups.
package struct GroupQuery: Sendable {
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
    /// The conditions on groups; their operands are totals.
    var conditions: [ConditionNode] = []
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
            let having = try conditions.map { condition in
                var text = ""
                try resolver.condition(condition).term.writeClosed(to: &text)
                return text
            }
            if !having.isEmpty { grouping += " HAVING \(having.joined(separator: " AND "))" }
            grouping += try order(before: rest, &resolver)
            return SelectQuery.Parts(columns: columns.joined(separator: ", "), grouping: grouping)
        }
    }

    /// ` ORDER BY …`: the totals' order, and then the order of the rows' query.
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
