import KindredPostgres
import KindredSchema

extension SelectQuery {
    /// Whether the rows have an order, besides the order of their keys.
    package var isSorted: Bool { !sort.isEmpty || memberOrder != nil }

    /// The query with the key behind its sort keys, so that each of its rows has one place.
    package func sortedByKey(in schema: DatabaseSchema) -> SelectQuery {
        // The order of an ordered relationship's members ends with the key.
        if sort.isEmpty, memberOrder != nil { return self }
        var query = self
        for name in entity.identity where !sort.contains(where: { $0.path == [name] }) {
            // A type without an order cannot be sorted by.
            try? query.append(SortTerm(path: [name]), in: schema)
        }
        return query
    }

    /// Whether the SQL holds keys of objects; an object may get another key.
    package var comparesObjects: Bool { owner != nil || condition?.shape.resolver.comparesObjects == true }

    /// The condition as a list, if it is nothing but equalities of the row's own keys with values or objects; else nil.
    var equalities: [(path: [String], value: ConditionExpression)]? {
        guard owner != nil || condition != nil,
            var nodes = try? conjuncts.map({ (node: $0.node, scope: ColumnScope.own) })
        else { return nil }
        var found: [(path: [String], value: ConditionExpression)] = []
        while let (node, scope) = nodes.popLast() {
            switch node {
            case .all(let parts): nodes += parts.map { ($0, scope) }
            case .scoped(let scope, let inner): nodes.append((inner, scope))
            case .comparison(let comparison):
                guard comparison.operation == .equal, comparison.quantifier == nil, !comparison.ignoresCase
                else { return nil }
                switch (comparison.left, comparison.right) {
                case (.path(let path), let value) where path.scope == scope,
                    (let value, .path(let path)) where path.scope == scope:
                    found.append((path.keys, value))
                default: return nil
                }
            default: return nil
            }
        }
        return found
    }

    /// `SELECT` of the rows among some keys that fulfil the condition, in any order.
    package func statement(
        in schema: DatabaseSchema, among keys: [ObjectKey], of runtime: EntityRuntime
    ) throws -> Statement {
        let (start, condition) = try begin(in: schema)
        var resolver = start
        let keys = try resolver.parameters.keys(keys, of: runtime.key, in: runtime)
        var text = "SELECT \(try columns) FROM "
        try writeRows(resolver, nil, further: condition, to: &text)
        text += condition == nil ? " WHERE " : " AND "
        text += try keys.condition("t0")
        return resolver.parameters.statement(StatementText(text))
    }
}
