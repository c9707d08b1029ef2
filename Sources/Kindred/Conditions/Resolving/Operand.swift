import KindredPostgres

/// One side of a comparison, after its key path has been followed.
enum Operand {
    case scalar(Scalar)
    /// A value, bound as the type of the other side.
    case value(PostgresValue?)
    case values([PostgresValue?])
    case list([ConditionExpression])
    case row(Int)
    case object(any ObjectReference)
    case objects([any ObjectReference])

    var isScalar: Bool {
        if case .scalar = self { true } else { false }
    }

    var isNull: Bool {
        if case .value(nil) = self { true } else { false }
    }
}

extension ConditionResolver {
    /// Follows the paths of an expression.
    ///
    /// Throws for a path to many objects.
    mutating func operand(_ expression: ConditionExpression) throws -> Operand {
        switch expression {
        // Separate functions: their locals would enlarge the stack frame of every level of a deep calculation.
        case .invalid, .ofMembers, .json, .jsonValue, .total, .scoped, .coalesced, .joined:
            return try rareOperand(expression)
        case .value(let value): return .value(value)
        case .values(let values): return .values(values)
        case .list(let expressions): return .list(expressions)
        case .object(let object):
            comparesObjects = true
            return .object(object)
        case .objects(let objects):
            comparesObjects = true
            return .objects(objects)
        case .count(let path): return .scalar(try count(path.keys, from: try place(of: path)))
        case .arithmetic(let operation, let left, let right):
            return try arithmetic(operation, of: operand(left), and: operand(right))
        case .negative(let inner):
            var scalar = try number(operand(inner), beside: nil)
            scalar.value = .negative(scalar.value)
            scalar.label = "the calculation"
            return .scalar(scalar)
        case .path(let path):
            let target = try target(of: path)
            return try operand(target)
        }
    }

    private mutating func rareOperand(_ expression: ConditionExpression) throws -> Operand {
        switch expression {
        case .invalid(let error): throw error
        case .ofMembers(let value): return .scalar(try self.value(value))
        case .scoped(let scope, let inner):
            return try opening(scope, at: scopes.innermost) { try $0.operand(inner) }
        case .json(let document, let keys): return .scalar(try text(at: keys, of: operand(document)))
        case .jsonValue(let document, let keys, let kind):
            let text = try text(at: keys, of: operand(document))
            return .scalar(text.inDocument(as: kind) ?? text)
        case .total(let total): return .scalar(try self.total(total))
        case .coalesced(let first, let second): return try coalesced(operand(first), operand(second))
        case .joined(let left, let right): return try joined(operand(left), operand(right))
        default: return try operand(expression)
        }
    }

    /// The operand of a path; throws for many objects.
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
        of left: Operand,
        and right: Operand
    ) throws -> Operand {
        if left.isNull || right.isNull { return .value(nil) }
        if Self.isMoment(operation, of: left, and: right) { return try moment(operation, of: left, and: right) }
        if let span = try span(operation, of: left, and: right) { return .scalar(span) }
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
                value: .calculation(leftNumber.value, symbol, rightNumber.value),
                type: ValueType(type),
                mayBeNull: leftNumber.mayBeNull || rightNumber.mayBeNull,
                label: "the calculation"
            )
        )
    }

    /// Whether an interval is added to a timestamp, or subtracted from one.
    private static func isMoment(
        _ operation: ConditionExpression.Arithmetic,
        of left: Operand,
        and right: Operand
    ) -> Bool {
        guard operation == .plus || operation == .minus, case .scalar(let start) = left, start.type.family == .moment
        else { return false }
        return switch right {
        case .scalar(let scalar): scalar.type.type == .interval
        case .value(.interval): true
        default: false
        }
    }

    /// The time between two timestamps; between two dates the number of days, as in PostgreSQL.
    private mutating func span(
        _ operation: ConditionExpression.Arithmetic,
        of left: Operand,
        and right: Operand
    ) throws -> Scalar? {
        func moment(_ operand: Operand) -> Scalar? {
            if case .scalar(let scalar) = operand, scalar.type.family == .moment { scalar } else { nil }
        }
        func isNumber(_ operand: Operand) -> Bool {
            if case .value(let value?) = operand { value.isNumber } else { false }
        }
        guard operation == .minus, !isNumber(left), !isNumber(right), let known = moment(left) ?? moment(right)
        else { return nil }
        // A date value is bound as the other side's type.
        let first = try scalar(left, as: known, .equal)
        let second = try scalar(right, as: known, .equal)
        let isDays = first.type.type == .date && second.type.type == .date
        guard first.type.family == .moment, second.type.family == .moment else { return nil }
        return Scalar(
            value: .calculation(first.value, "-", second.value),
            type: ValueType(isDays ? .int4 : .interval),
            mayBeNull: first.mayBeNull || second.mayBeNull,
            label: "the calculation"
        )
    }

    /// A timestamp plus or minus an interval.
    private mutating func moment(
        _ operation: ConditionExpression.Arithmetic,
        of left: Operand,
        and right: Operand
    ) throws -> Operand {
        guard case .scalar(let start) = left else { return .value(nil) }
        var interval = Scalar(value: .absent, type: ValueType(.interval), mayBeNull: false, label: "the interval")
        if case .scalar(let scalar) = right {
            interval = scalar
        } else if case .value(let value) = right {
            interval.value = .parameter(try parameters.value(value, as: .interval))
        }
        return .scalar(
            Scalar(
                value: .calculation(start.value, operation.rawValue, interval.value),
                type: start.type.type == .date ? ValueType(.timestamp) : start.type,
                mayBeNull: start.mayBeNull || interval.mayBeNull,
                label: "the calculation"
            )
        )
    }

    /// The value at a path of keys in a JSON value, as text; NULL if there is none.
    mutating func text(at keys: [String], of operand: Operand) throws -> Scalar {
        guard case .scalar(let document) = operand, document.type.type == .json || document.type.type == .jsonb else {
            throw KindredError(.wrongType, "Only json and jsonb have keys within", key: keys.first)
        }
        let path = try parameters.array(keys.map(PostgresValue.string), of: .text)
        let part = ValueTerm.JSONPart(
            document: document.value, path: path, isBinary: document.type.type == .jsonb)
        return Scalar(
            value: .json(part),
            type: ValueType(.text),
            mayBeNull: true,
            label: "\(document.label).\(keys.joined(separator: "."))"
        )
    }

    /// An operand of a calculation.
    ///
    /// A value is bound without loss: whole numbers as bigint.
    private mutating func number(_ operand: Operand, beside other: ValueType?) throws -> Scalar {
        switch operand {
        case .scalar(let scalar) where scalar.type.family == .number: return scalar
        case .scalar(let scalar):
            if let number = scalar.inDocument(as: .number) { return number }
            throw KindredError(
                .wrongType,
                "\(scalar.label) cannot be used in a calculation: it is of the type \(scalar.type.typeName)",
                key: scalar.label
            )
        case .value(let value?) where value.isNumber:
            var type: PostgresDataType =
                switch value {
                case .integer: .int8
                case .numeric where other?.isFloat != true: .numeric
                case _ where other?.type == .numeric: .numeric
                default: .float8
                }
            let parameter: Parameter
            do {
                parameter = try parameters.value(value, as: type)
            } catch {
                // A decimal number without an exact float: beside floats the server rounds it.
                type = .numeric
                parameter = try parameters.value(value, as: type)
            }
            return Scalar(
                value: .parameter(parameter), type: ValueType(type), mayBeNull: false, label: "the calculation")
        default: throw KindredError(.wrongType, "A calculation takes numbers only")
        }
    }
}

// Values that take the place of a value that is NULL, and texts that are joined.
extension ConditionResolver {
    /// `coalesce(first, second)`: a value is bound as the type of the other side.
    mutating func coalesced(_ first: Operand, _ second: Operand) throws -> Operand {
        switch (first, second) {
        case (.value(nil), _): return second
        case (.value, _), (_, .value(nil)): return first
        case (.scalar(let first), _):
            let second = try scalar(second, as: first, .equal)
            return .scalar(
                Scalar(
                    value: .coalesced(first.value, second.value),
                    type: try commonType(first, second),
                    mayBeNull: first.mayBeNull && second.mayBeNull,
                    label: first.label))
        default:
            throw KindredError(
                .wrongType, "?? takes single values: an object or a list cannot take the place of another")
        }
    }

    /// The type of one of two values, as the server finds it.
    private func commonType(_ first: Scalar, _ second: Scalar) throws -> ValueType {
        let (one, other) = (first.type, second.type)
        if one.type == other.type { return one }
        guard one.isComparable(with: other) else {
            throw KindredError(
                .wrongType,
                "\(first.label) is of the type \(one.typeName), and \(second.label), which is of the type \(other.typeName), "
                    + "cannot take its place",
                key: first.label)
        }
        switch one.family {
        case .number: return ValueType(Self.wider(one, other))
        case .moment: return one.type == .timestamptz || other.type == .date ? one : other
        case .text: return ValueType(.text)
        default: return one
        }
    }

    private static func wider(_ one: ValueType, _ other: ValueType) -> PostgresDataType {
        if one.isFloat || other.isFloat { return .float8 }
        return one.type == .numeric || other.type == .numeric ? .numeric : .int8
    }

    /// `left || right`; NULL where one of them is.
    mutating func joined(_ left: Operand, _ right: Operand) throws -> Operand {
        if left.isNull || right.isNull { return .value(nil) }
        let (first, second) = (try text(left), try text(right))
        return .scalar(
            Scalar(
                value: .calculation(first.value, "||", second.value),
                type: ValueType(.text),
                mayBeNull: first.mayBeNull || second.mayBeNull,
                label: "the calculation"))
    }

    /// An operand as a text.
    ///
    /// Throws for an operand that is no text.
    private mutating func text(_ operand: Operand) throws -> Scalar {
        var text = Scalar(value: .absent, type: ValueType(.text), mayBeNull: false, label: "the text")
        switch operand {
        case .scalar(let scalar) where scalar.type.family == .text || scalar.type.family == .enumeration:
            text.mayBeNull = scalar.mayBeNull
            // The server finds the operator by the types of texts alone.
            let isText = scalar.type.type == .text || scalar.type.type == .varchar
            text.value = isText ? scalar.value : .cast(scalar.value, to: "text")
        case .scalar(let scalar):
            throw KindredError(
                .wrongType, "\(scalar.label) is of the type \(scalar.type.typeName), and + joins texts alone",
                key: scalar.label)
        case .value(.string(let value)?): text.value = try bind(.string(value), as: text)
        default: throw KindredError(.wrongType, "+ joins texts alone")
        }
        return text
    }
}
