public import KindredPostgres

// The database carries out these calculations; NULL in them makes the result NULL.
extension ColumnExpression {
    static func calculate<Result>(
        _ operation: ConditionExpression.Arithmetic,
        of left: ColumnExpression,
        and right: ConditionExpression
    ) -> ColumnExpression<Result> {
        ColumnExpression<Result>(.arithmetic(operation, left.expression, right))
    }
}

extension ColumnExpression where Value: PostgresEncodable & Numeric {
    /// The sum.
    public static func + (left: ColumnExpression, right: Value) -> ColumnExpression {
        calculate(.plus, of: left, and: bound(right))
    }

    /// The difference.
    public static func - (left: ColumnExpression, right: Value) -> ColumnExpression {
        calculate(.minus, of: left, and: bound(right))
    }

    /// The product.
    public static func * (left: ColumnExpression, right: Value) -> ColumnExpression {
        calculate(.times, of: left, and: bound(right))
    }

    /// The quotient, truncated for integers; division by zero is a server error.
    public static func / (left: ColumnExpression, right: Value) -> ColumnExpression {
        calculate(.divide, of: left, and: bound(right))
    }

    /// The sum of two columns.
    public static func + (left: ColumnExpression, right: ColumnExpression) -> ColumnExpression {
        calculate(.plus, of: left, and: right.expression)
    }

    /// The difference of two columns.
    public static func - (left: ColumnExpression, right: ColumnExpression) -> ColumnExpression {
        calculate(.minus, of: left, and: right.expression)
    }

    /// The product of two columns.
    public static func * (left: ColumnExpression, right: ColumnExpression) -> ColumnExpression {
        calculate(.times, of: left, and: right.expression)
    }

    /// The quotient of two columns, truncated for integers.
    public static func / (left: ColumnExpression, right: ColumnExpression) -> ColumnExpression {
        calculate(.divide, of: left, and: right.expression)
    }

    /// The negated value.
    public static prefix func - (column: ColumnExpression) -> ColumnExpression {
        ColumnExpression(.negative(column.expression))
    }
}

extension ColumnExpression where Value: PostgresEncodable & BinaryInteger {
    /// The remainder, with the sign of the column's value; division by zero is a server error.
    public static func % (left: ColumnExpression, right: Value) -> ColumnExpression {
        calculate(.remainder, of: left, and: bound(right))
    }

    /// The remainder of two columns, with the sign of the left one's value.
    public static func % (left: ColumnExpression, right: ColumnExpression) -> ColumnExpression {
        calculate(.remainder, of: left, and: right.expression)
    }
}

extension ColumnExpression where Value == PostgresNumeric {
    /// The remainder, with the sign of the column's value; dividing by zero is an error of the server's.
    public static func % (left: ColumnExpression, right: PostgresNumeric) -> ColumnExpression {
        calculate(.remainder, of: left, and: bound(right))
    }

    /// The remainder of two columns, with the sign of the left one's value.
    public static func % (left: ColumnExpression, right: ColumnExpression) -> ColumnExpression {
        calculate(.remainder, of: left, and: right.expression)
    }
}
