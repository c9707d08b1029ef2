public import KindredPostgres

// `??` is COALESCE, which the database carries out.
extension ColumnExpression {
    /// The value, or another column's where it is NULL.
    public static func ?? (left: ColumnExpression, right: ColumnExpression) -> ColumnExpression {
        ColumnExpression(.coalesced(left.expression, right.expression))
    }
}

extension ColumnExpression where Value: PostgresEncodable {
    /// The value, or the given one where it is NULL: `$0.price ?? 0`.
    public static func ?? (left: ColumnExpression, right: Value?) -> ColumnExpression {
        ColumnExpression(.coalesced(left.expression, bound(right)))
    }

    /// The given value, or the column's if nil was given: `name ?? $0.name`.
    public static func ?? (left: Value?, right: ColumnExpression) -> ColumnExpression {
        left.map { ColumnExpression(bound($0)) } ?? right
    }
}

// Texts are joined by `||`; NULL in them makes the result NULL.
extension ColumnExpression where Value == String {
    /// The text with another behind it.
    public static func + (left: ColumnExpression, right: String) -> ColumnExpression {
        ColumnExpression(.joined(left.expression, bound(right)))
    }

    /// The text behind another.
    public static func + (left: String, right: ColumnExpression) -> ColumnExpression {
        ColumnExpression(.joined(bound(left), right.expression))
    }

    /// The texts of two columns, one after the other.
    public static func + (left: ColumnExpression, right: ColumnExpression) -> ColumnExpression {
        ColumnExpression(.joined(left.expression, right.expression))
    }
}
