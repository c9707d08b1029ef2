import KindredPostgres
import KindredSchema

extension SelectQuery {
    /// Whether the rows have an order, besides that of their keys.
    var isSorted: Bool { !sort.isEmpty || memberOrder != nil }

    /// The query with the key behind its sort keys, so that each of its rows has one place.
    func sortedByKey(in schema: DatabaseSchema) -> SelectQuery {
        // The order of an ordered relationship's members ends with the key.
        if sort.isEmpty, memberOrder != nil { return self }
        var query = self
        for name in entity.identity where !sort.contains(where: { $0.path == [name] }) {
            // A type without an order cannot be sorted by.
            try? query.append(SortTerm(path: [name]), in: schema)
        }
        return query
    }

    /// The columns that condition and order read.
    func reads(in schema: DatabaseSchema) throws -> ConditionReads {
        var (renderer, _) = try begin(in: schema)
        _ = try order(&renderer)
        var reads = renderer.reads
        if sort.isEmpty, let memberOrder {
            let helper = memberOrder.relationship.helper
            reads.note(memberOrder.position, of: helper?.entity ?? entity.name)
            for column in (helper?.sourceColumns ?? []) + (helper?.destinationColumns ?? []) {
                reads.note(column, of: helper?.entity ?? entity.name)
            }
        }
        return reads
    }

    /// Whether the SQL holds the keys of objects, which may get others.
    var comparesObjects: Bool { condition?.renderer.comparesObjects ?? false }

    /// `SELECT` of the rows among some keys that fulfil the condition, in any order.
    func statement(in schema: DatabaseSchema, among keys: [ObjectKey], of runtime: EntityRuntime) throws -> Statement {
        try statement(in: schema, isSorted: false) { renderer in
            let keys = try renderer.parameters.keys(keys, of: runtime.key, in: runtime)
            return Parts(columns: try Self.columns(of: entity), condition: try keys.condition("t0"))
        }
    }
}
