import KindredPostgres

/// One side of a comparison, once its key path has been followed.
enum Operand {
    case scalar(Scalar)
    /// A value that takes the type of the other side.
    case value(PostgresValue?)
    case values([PostgresValue?])
    case list([ConditionExpression])
    case row(Int)
    case object(any ObjectReference)
    case objects([any ObjectReference])

    var isNull: Bool {
        if case .value(nil) = self { true } else { false }
    }
}

extension ConditionRenderer {
    /// Follows the paths of an expression.
    ///
    /// A path that leads to many objects is an error here.
    mutating func operand(_ expression: ConditionExpression, from place: Int = 0) throws -> Operand {
        switch expression {
        case .value(let value): return .value(value)
        case .values(let values): return .values(values)
        case .list(let expressions): return .list(expressions)
        case .object(let object): return .object(object)
        case .objects(let objects): return .objects(objects)
        case .count(let path): return .scalar(try count(path, from: place))
        case .arithmetic(let operation, let left, let right):
            return try arithmetic(operation, operand(left, from: place), operand(right, from: place))
        case .negative(let inner):
            var scalar = try number(operand(inner, from: place), beside: nil)
            scalar.sql = "(- \(scalar.sql))"
            scalar.label = "the calculation"
            return .scalar(scalar)
        case .path(let path):
            let target = try target(of: path[...], from: place)
            return try operand(target)
        }
    }

    /// What a path leads to, which must not be many objects.
    func operand(_ target: Target) throws -> Operand {
        switch target {
        case .scalar(let scalar): return .scalar(scalar)
        case .row(let row): return .row(row)
        case .members(let owner, let relationship, _):
            throw KindredError(
                .invalidCondition,
                "\(label(relationship.name, of: owner)) leads to many objects: write ANY, ALL or NONE before the path, "
                    + "or @count after it",
                entity: relationship.source.description,
                key: relationship.name
            )
        }
    }

    private mutating func arithmetic(
        _ operation: ConditionExpression.Arithmetic,
        _ left: Operand,
        _ right: Operand
    ) throws -> Operand {
        if left.isNull || right.isNull { return .value(nil) }
        let leftNumber: Scalar
        let rightNumber: Scalar
        if case .scalar(let scalar) = right {
            leftNumber = try number(left, beside: scalar.type)
            rightNumber = try number(right, beside: nil)
        } else {
            leftNumber = try number(left, beside: nil)
            rightNumber = try number(right, beside: leftNumber.type)
        }
        let types = [leftNumber.type, rightNumber.type]
        let type: PostgresDataType =
            if types.contains(where: \.isFloat)
                || operation == .power && !types.contains(where: { $0.type == .numeric })
            {
                .float8
            } else {
                types.contains { $0.type == .numeric } ? .numeric : .int8
            }
        let symbol = operation == .power ? "^" : operation.rawValue
        return .scalar(
            Scalar(
                sql: "(\(leftNumber.sql) \(symbol) \(rightNumber.sql))",
                type: ValueType(type),
                mayBeNull: leftNumber.mayBeNull || rightNumber.mayBeNull,
                label: "the calculation"
            )
        )
    }

    /// An operand of a calculation.
    ///
    /// A value is bound so that nothing of it is lost: whole numbers as bigint.
    private mutating func number(_ operand: Operand, beside other: ValueType?) throws -> Scalar {
        switch operand {
        case .scalar(let scalar) where scalar.type.family == .number: return scalar
        case .scalar(let scalar):
            throw KindredError(
                .wrongType,
                "\(scalar.label) cannot be calculated with: it is of the type \(scalar.type.typeName)",
                key: scalar.label
            )
        case .value(let value?) where value.isNumber:
            let type: PostgresDataType =
                switch value {
                case .integer: .int8
                case .numeric where other?.isFloat != true: .numeric
                case _ where other?.type == .numeric: .numeric
                default: .float8
                }
            try bindings.append(value, as: type)
            return Scalar(sql: lastParameter, type: ValueType(type), mayBeNull: false, label: "the calculation")
        default: throw KindredError(.wrongType, "A calculation takes numbers only")
        }
    }
}
