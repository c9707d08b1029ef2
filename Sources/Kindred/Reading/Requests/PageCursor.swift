import KindredPostgres
import KindredSchema

/// Where a page ends: the values that the last object was sorted by; given back to `FetchRequest.page(size:after:)`.
///
/// It fits requests with the same order only.
public struct PageCursor: Sendable, Hashable {
    let order: [SortTerm]
    let values: [PostgresValue?]
}

/// Some of the objects of a request, and where the next ones begin.
public struct Page<Object: DatabaseObject>: Sendable {
    /// The objects, in the request's order.
    public let objects: [Object]
    /// Where the next page begins; nil if this is certainly the last.
    public let next: PageCursor?
}

extension ConditionRenderer {
    /// The condition that a row comes after the place where the sort keys have the given values.
    mutating func after(_ values: [PostgresValue?], _ keys: [Scalar], _ order: [SortTerm]) throws -> String {
        var sql = "FALSE"
        for (position, key) in keys.enumerated().reversed() {
            let term = order[position]
            let isNullLast = term.nulls == .last || term.nulls == .standard && term.ascending
            guard let value = values[position] else {
                let others = isNullLast ? "" : "\(key.nullTest(isNegated: true)) OR "
                sql = "(\(others)\(key.nullTest()) AND \(sql))"
                continue
            }
            let parameter = try bind(value, as: key)
            let beyond = "\(key.sql) \(term.ascending ? ">" : "<") \(parameter)"
            let nulls = isNullLast && key.mayBeNull ? " OR \(key.nullTest())" : ""
            sql = "(\(beyond)\(nulls) OR \(key.sql) = \(parameter) AND \(sql))"
        }
        return sql
    }
}
