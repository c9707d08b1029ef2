import KindredPostgres
import KindredSchema

/// A value computed from many rows: `.count`, `.sum("price")`.
public struct Aggregate: Sendable, Hashable, CustomStringConvertible {
    let function: AggregateTerm.Function
    let keyPath: String?
    /// The name of the value in a result: `count`, `sum(price)`.
    public let description: String

    private init(_ function: AggregateTerm.Function, name: String, keyPath: String?) {
        self.function = function
        self.keyPath = keyPath
        description = keyPath.map { "\(name)(\($0))" } ?? name
    }

    /// The number of rows.
    public static let count = Aggregate(.count, name: "count", keyPath: nil)

    /// The number of rows in which an attribute is not NULL.
    public static func count(_ keyPath: String) -> Aggregate { Aggregate(.count, name: "count", keyPath: keyPath) }

    /// The sum of an attribute's numbers or intervals; nil without values.
    public static func sum(_ keyPath: String) -> Aggregate { Aggregate(.sum, name: "sum", keyPath: keyPath) }

    /// The mean of an attribute's numbers or intervals; nil without values.
    public static func average(_ keyPath: String) -> Aggregate {
        Aggregate(.average, name: "average", keyPath: keyPath)
    }

    /// The smallest of an attribute's values; nil without values.
    public static func minimum(_ keyPath: String) -> Aggregate {
        Aggregate(.minimum, name: "minimum", keyPath: keyPath)
    }

    /// The greatest of an attribute's values; nil without values.
    public static func maximum(_ keyPath: String) -> Aggregate {
        Aggregate(.maximum, name: "maximum", keyPath: keyPath)
    }
}

extension SelectQuery {
    /// One value computed from the rows that the query selects, limit and offset included.
    func statement(for total: AggregateTerm, in schema: DatabaseSchema) throws -> Statement {
        let isWhole = limit == nil && offset == nil
        var outer = ""
        return try statement(in: schema, isSorted: !isWhole) { text in
            isWhole ? text : "SELECT \(outer) FROM (\(text)) AS s"
        } parts: { resolver in
            let argument = try resolver.argument(of: total)
            if isWhole {
                return SelectQuery.Parts(
                    columns: try resolver.readable(resolver.aggregate(total, of: argument)).sql)
            }
            var selected = argument
            selected?.value = .inner
            outer = try resolver.readable(resolver.aggregate(total, of: selected)).sql
            return SelectQuery.Parts(columns: try argument.map { "\(try $0.value.sql) AS v" } ?? "1")
        }
    }
}
