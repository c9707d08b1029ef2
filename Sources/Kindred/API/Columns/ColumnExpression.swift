public import KindredPostgres

/// A column, or a calculation with columns, within a condition.
///
/// The type does not say whether values may be NULL: a comparison with NULL is false, except that `== nil` and `!=`
/// treat nil as a value.
public struct ColumnExpression<Value>: Sendable {
    let expression: ConditionExpression

    /// A calculation; one of too many operators becomes invalid, which its request says: it is a tree as deep as it is long.
    init(_ expression: ConditionExpression) {
        self.expression = expression.isShallow ? expression : Self.tooLong
    }

    private static var tooLong: ConditionExpression {
        let limit = ConditionExpression.maximumCalculations
        return .invalid(KindredError(.invalidCondition, "A value in a condition has at most \(limit) calculations"))
    }

    func compare(
        _ operation: ConditionComparison.Operator,
        _ right: ConditionExpression,
        ignoresCase: Bool = false
    ) -> Condition {
        Condition(.comparison(ConditionComparison(expression, operation, with: right, ignoresCase: ignoresCase)))
    }

    /// A value as the other side of a comparison; a value that PostgreSQL cannot represent exactly makes the condition
    /// invalid.
    static func bound(_ value: (some PostgresEncodable)?) -> ConditionExpression {
        do {
            return .value(try checked(value))
        } catch let error as KindredError {
            return .invalid(error)
        } catch {
            return .invalid(KindredError(.wrongType, "A value of the condition has no exact PostgreSQL form: \(error)"))
        }
    }

    /// A value's PostgreSQL form.
    ///
    /// Throws for a column that was made into a text.
    static func checked(_ value: (some PostgresEncodable)?) throws -> PostgresValue? {
        let value = try value?.postgresValue
        try ColumnMark.refuse(in: value)
        return value
    }

    /// Values as a list.
    static func bound(_ values: some Sequence<some PostgresEncodable>) -> ConditionExpression {
        do {
            return .values(try values.map { try checked($0) })
        } catch let error as KindredError {
            return .invalid(error)
        } catch {
            return .invalid(KindredError(.wrongType, "A value of the condition has no exact PostgreSQL form: \(error)"))
        }
    }
}

extension ColumnExpression where Value: PostgresEncodable {
    /// Whether the value equals the other, or is NULL for nil.
    public static func == (left: ColumnExpression, right: Value?) -> Condition { left.compare(.equal, bound(right)) }

    /// Whether the value differs from the other, or is not NULL for nil.
    public static func != (left: ColumnExpression, right: Value?) -> Condition { left.compare(.notEqual, bound(right)) }

    /// Whether the value is less.
    public static func < (left: ColumnExpression, right: Value) -> Condition { left.compare(.less, bound(right)) }

    /// Whether the value is less or equal.
    public static func <= (left: ColumnExpression, right: Value) -> Condition {
        left.compare(.lessOrEqual, bound(right))
    }

    /// Whether the value is greater.
    public static func > (left: ColumnExpression, right: Value) -> Condition { left.compare(.greater, bound(right)) }

    /// Whether the value is greater or equal.
    public static func >= (left: ColumnExpression, right: Value) -> Condition {
        left.compare(.greaterOrEqual, bound(right))
    }

    /// Whether the value is one of some values: one parameter for any number of values.
    public func isIn(_ values: some Sequence<Value>) -> Condition { compare(.isIn, Self.bound(values)) }

    /// Whether the value is one of some values, where nil means NULL: one parameter for any number of values.
    public func isIn(_ values: some Sequence<Value?>) -> Condition { compare(.isIn, Self.bound(values)) }

    /// Whether the value lies between two values, both included.
    public func isBetween(_ lower: Value, _ upper: Value) -> Condition {
        compare(.between, .list([Self.bound(lower), Self.bound(upper)]))
    }
}

extension ColumnExpression {
    /// Whether both values are equal, or both NULL.
    public static func == (left: ColumnExpression, right: ColumnExpression) -> Condition {
        left.compare(.equal, right.expression)
    }

    /// Whether the values differ.
    public static func != (left: ColumnExpression, right: ColumnExpression) -> Condition {
        left.compare(.notEqual, right.expression)
    }

    /// Whether the left value is less.
    public static func < (left: ColumnExpression, right: ColumnExpression) -> Condition {
        left.compare(.less, right.expression)
    }

    /// Whether the left value is less or equal.
    public static func <= (left: ColumnExpression, right: ColumnExpression) -> Condition {
        left.compare(.lessOrEqual, right.expression)
    }

    /// Whether the left value is greater.
    public static func > (left: ColumnExpression, right: ColumnExpression) -> Condition {
        left.compare(.greater, right.expression)
    }

    /// Whether the left value is greater or equal.
    public static func >= (left: ColumnExpression, right: ColumnExpression) -> Condition {
        left.compare(.greaterOrEqual, right.expression)
    }
}

extension ColumnExpression where Value == Bool {
    /// Whether the value is false.
    public static prefix func ! (column: ColumnExpression) -> Condition { column == false }
}

extension ColumnExpression: PropertyValue, CalculatedValue {
    /// Throws: only an update by condition takes a column's value.
    public var propertyContent: DatabaseObject.PropertyContent {
        get throws { throw onlyForUpdates }
    }

    var calculation: ConditionExpression { expression }
}
