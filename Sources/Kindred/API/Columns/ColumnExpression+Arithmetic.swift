public import KindredPostgres

// The database carries out these calculations; NULL in them makes the result NULL.
extension ColumnExpression {
    static func calculate<Result>(
        _ operation: ConditionExpression.Arithmetic,
        _ left: ColumnExpression,
        _ right: ConditionExpression
    ) -> ColumnExpression<Result> {
        ColumnExpression<Result>(.arithmetic(operation, left.expression, right))
    }
}

extension ColumnExpression where Value: PostgresEncodable & Numeric {
    /// The sum.
    public static func + (left: ColumnExpression, right: Value) -> ColumnExpression {
        calculate(.plus, left, bound(right))
    }

    /// The difference.
    public static func - (left: ColumnExpression, right: Value) -> ColumnExpression {
        calculate(.minus, left, bound(right))
    }

    /// The product.
    public static func * (left: ColumnExpression, right: Value) -> ColumnExpression {
        calculate(.times, left, bound(right))
    }

    /// The quotient, truncated for integers; division by zero is a server error.
    public static func / (left: ColumnExpression, right: Value) -> ColumnExpression {
        calculate(.divide, left, bound(right))
    }

    /// The sum of two columns.
    public static func + (left: ColumnExpression, right: ColumnExpression) -> ColumnExpression {
        calculate(.plus, left, right.expression)
    }

    /// The difference of two columns.
    public static func - (left: ColumnExpression, right: ColumnExpression) -> ColumnExpression {
        calculate(.minus, left, right.expression)
    }

    /// The product of two columns.
    public static func * (left: ColumnExpression, right: ColumnExpression) -> ColumnExpression {
        calculate(.times, left, right.expression)
    }

    /// The quotient of two columns, truncated for integers.
    public static func / (left: ColumnExpression, right: ColumnExpression) -> ColumnExpression {
        calculate(.divide, left, right.expression)
    }

    /// The negated value.
    public static prefix func - (column: ColumnExpression) -> ColumnExpression {
        ColumnExpression(.negative(column.expression))
    }
}

extension ColumnExpression where Value: PostgresEncodable & BinaryInteger {
    /// The remainder, with the sign of the column's value; division by zero is a server error.
    public static func % (left: ColumnExpression, right: Value) -> ColumnExpression {
        calculate(.remainder, left, bound(right))
    }

    /// The remainder of two columns, with the sign of the left one's value.
    public static func % (left: ColumnExpression, right: ColumnExpression) -> ColumnExpression {
        calculate(.remainder, left, right.expression)
    }
}

extension ColumnExpression where Value == PostgresNumeric {
    /// The remainder, with the sign of the column's value; dividing by zero is an error of the server's.
    public static func % (left: ColumnExpression, right: PostgresNumeric) -> ColumnExpression {
        calculate(.remainder, left, bound(right))
    }

    /// The remainder of two columns, with the sign of the left one's value.
    public static func % (left: ColumnExpression, right: ColumnExpression) -> ColumnExpression {
        calculate(.remainder, left, right.expression)
    }
}
