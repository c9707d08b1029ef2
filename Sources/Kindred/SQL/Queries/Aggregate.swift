import KindredPostgres
import KindredSchema

/// A value computed from many rows: `.count`, `.sum("price")`.
public struct Aggregate: Sendable, Hashable, CustomStringConvertible {
    enum Function: String {
        case count, sum
        case average = "avg"
        case minimum = "min"
        case maximum = "max"
    }

    let function: Function
    let keyPath: String?
    /// The name of the value in a result: `count`, `sum(price)`.
    public let description: String

    private init(_ function: Function, name: String, keyPath: String?) {
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

extension ConditionResolver {
    /// An aggregate's argument; nil if it counts rows.
    mutating func argument(of aggregate: Aggregate) throws -> Scalar? {
        guard let keyPath = aggregate.keyPath else { return nil }
        let scalar = try value(of: keyPath)
        let isPossible =
            switch aggregate.function {
            case .count: true
            case .sum, .average: scalar.type.family == .number || scalar.type.type == .interval
            case .minimum, .maximum: scalar.type.hasOrder && scalar.type.family != .boolean
            }
        guard isPossible else {
            throw KindredError(
                .invalidRequest,
                "\(aggregate) is not defined: \(keyPath) is of the type \(scalar.type.typeName)",
                entity: places[0].entity.name.description,
                key: keyPath
            )
        }
        return scalar
    }

    /// An aggregate of an expression, with its type.
    func aggregate(_ aggregate: Aggregate, of argument: Scalar?) -> Scalar {
        let type: ValueType =
            switch (aggregate.function, argument) {
            case (.minimum, let argument?), (.maximum, let argument?): argument.type
            case (.sum, let argument?), (.average, let argument?):
                argument.type.type == .interval
                    ? argument.type
                    : ValueType(argument.type.isFloat ? .float8 : .numeric)
            default: ValueType(.int8)
            }
        return Scalar(
            value: argument.map { .function(aggregate.function.rawValue, $0.value) } ?? .countOfRows,
            type: type,
            mayBeNull: aggregate.function != .count,
            label: aggregate.description
        )
    }

    /// A value as it is selected: a type without a codec as text.
    func readable(_ scalar: Scalar) -> ValueTerm {
        scalar.type.isReadAsText ? .cast(scalar.value, to: "text") : scalar.value
    }
}

extension SelectQuery {
    /// One value computed from the rows that the query selects, limit and offset included.
    func statement(for aggregate: Aggregate, in schema: DatabaseSchema) throws -> Statement {
        let isWhole = limit == nil && offset == nil
        var outer = ""
        return try statement(in: schema, isSorted: !isWhole) { text in
            isWhole ? text : "SELECT \(outer) FROM (\(text)) AS s"
        } parts: { resolver in
            let argument = try resolver.argument(of: aggregate)
            if isWhole {
                return SelectQuery.Parts(
                    columns: try resolver.readable(resolver.aggregate(aggregate, of: argument)).sql)
            }
            var selected = argument
            selected?.value = .inner
            outer = try resolver.readable(resolver.aggregate(aggregate, of: selected)).sql
            return SelectQuery.Parts(columns: try argument.map { "\(try $0.value.sql) AS v" } ?? "1")
        }
    }
}
