import KindredPostgres
import KindredSchema

// Selected values: values at key paths, and aggregates.
extension ConditionResolver {
    /// The value of a key path as it is selected; a type without a codec is cast to text.
    mutating func selected(_ path: [String], isCompared: Bool = false) throws -> ValueTerm {
        readable(try value(of: path, isCompared: isCompared))
    }

    /// A column of a request as it is selected.
    mutating func selected(_ column: SelectedColumn, isCompared: Bool) throws -> ValueTerm {
        switch column {
        case .path(let path): return try selected(path.keys, isCompared: isCompared)
        case .value(let expression, let number):
            guard case .scalar(let scalar) = try operand(expression) else {
                throw KindredError(
                    .invalidRequest, "The value \(number) that is selected is the same for all rows: select columns",
                    entity: places[0].entity.name.description)
            }
            if !isCompared || scalar.type.hasOrder { return readable(scalar) }
            throw KindredError(
                .invalidRequest, "\(scalar.label) is of the type \(scalar.type.typeName), which has no order",
                entity: places[0].entity.name.description)
        }
    }

    /// A value as it is selected: a type without a codec as text.
    func readable(_ scalar: Scalar) -> ValueTerm {
        scalar.type.isReadAsText ? .cast(scalar.value, to: "text") : scalar.value
    }

    /// The single value that a key path leads to.
    mutating func value(of path: [String], from start: Int = 0, isCompared: Bool = false) throws -> Scalar {
        if isCompared { return try key(SortTerm(path: path)) }
        if path.last == "@count" { return try count(path.dropLast(), from: start) }
        switch try target(of: path[...], from: start) {
        case .scalar(let scalar): return scalar
        case .row, .members:
            let name = name(of: path, from: start)
            throw KindredError(
                .invalidRequest,
                "\"\(name)\" does not lead to one attribute; end the path in an attribute, or in @count",
                entity: places[0].entity.name.description,
                key: name
            )
        }
    }

    /// An aggregate in a condition on groups, or in their order.
    mutating func total(_ total: AggregateTerm) throws -> Scalar {
        guard takesAggregates else {
            throw KindredError(
                .invalidCondition,
                "\(total.label) is computed from many rows: it stands in having and in the order of groups only",
                entity: places[0].entity.name.description
            )
        }
        takesAggregates = false
        defer { takesAggregates = true }
        return aggregate(total, of: try argument(of: total))
    }

    /// An aggregate's argument; nil if it counts rows.
    mutating func argument(of total: AggregateTerm) throws -> Scalar? {
        guard let argument = total.argument else { return nil }
        let scalar = try scalar(argument, of: total)
        let isPossible =
            switch total.function {
            case .count: true
            case .sum, .average: scalar.type.family == .number || scalar.type.type == .interval
            case .minimum, .maximum: scalar.type.hasOrder && scalar.type.family != .boolean
            }
        if isPossible, let operators = scalar.type.operators, Self.name(of: total.function, operators) == nil {
            throw KindredError(
                .invalidRequest,
                """
                \(total.label) is not defined: \(scalar.label) is of the type \(scalar.type.typeName), whose schema \
                \(operators.schema) has no aggregate \(total.function.rawValue) of it
                """,
                entity: places[0].entity.name.description,
                key: scalar.label
            )
        }
        guard isPossible else {
            throw KindredError(
                .invalidRequest,
                "\(total.label) is not defined: \(scalar.label) is of the type \(scalar.type.typeName)",
                entity: places[0].entity.name.description,
                key: scalar.label
            )
        }
        return scalar
    }

    private mutating func scalar(_ argument: ConditionExpression, of total: AggregateTerm) throws -> Scalar {
        if case .scoped(let scope, let inner) = argument {
            return try opening(scope, at: scopes.innermost) { try $0.scalar(inner, of: total) }
        }
        if case .path(let path) = argument { return try value(of: path.keys, from: try place(of: path)) }
        guard case .scalar(let scalar) = try operand(argument) else {
            throw KindredError(
                .invalidRequest, "\(total.label) is not defined: it is computed from a column, or from a calculation",
                entity: places[0].entity.name.description)
        }
        return scalar
    }

    /// The name of an aggregate of a type that is not built in; nil where its schema has none.
    private static func name(of function: AggregateTerm.Function, _ operators: TypeOperators) -> String? {
        switch function {
        case .minimum: operators[.minimum]
        case .maximum: operators[.maximum]
        // COUNT takes any type; SUM and AVG take built-in types alone.
        case .count, .sum, .average: function.rawValue
        }
    }

    /// An aggregate of an expression, with its type.
    func aggregate(_ total: AggregateTerm, of argument: Scalar?) -> Scalar {
        let type: ValueType =
            switch (total.function, argument) {
            case (.minimum, let argument?), (.maximum, let argument?): argument.type
            case (.sum, let argument?), (.average, let argument?):
                argument.type.type == .interval
                    ? argument.type
                    : ValueType(argument.type.isFloat ? .float8 : .numeric)
            default: ValueType(.int8)
            }
        return Scalar(
            value: argument.map {
                .function(
                    $0.type.operators.flatMap { Self.name(of: total.function, $0) } ?? total.function.rawValue, $0.value
                )
            } ?? .countOfRows,
            type: type,
            mayBeNull: total.function != .count,
            label: total.label
        )
    }
}
