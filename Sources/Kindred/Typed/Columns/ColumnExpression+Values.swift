public import KindredPostgres

// Texts. Patterns are values: what stands in them is never taken for SQL.
extension ColumnExpression where Value == String {
    /// Whether the text begins with another.
    public func hasPrefix(_ prefix: String, ignoringCase: Bool = false) -> Condition {
        compare(.beginsWith, Self.bound(prefix), ignoresCase: ignoringCase)
    }

    /// Whether the text ends with another.
    public func hasSuffix(_ suffix: String, ignoringCase: Bool = false) -> Condition {
        compare(.endsWith, Self.bound(suffix), ignoresCase: ignoringCase)
    }

    /// Whether the text contains another.
    public func contains(_ part: String, ignoringCase: Bool = false) -> Condition {
        compare(.contains, Self.bound(part), ignoresCase: ignoringCase)
    }

    /// Whether the text equals another, whatever the case of letters.
    public func equals(_ other: String, ignoringCase: Bool) -> Condition {
        compare(.equal, Self.bound(other), ignoresCase: ignoringCase)
    }

    /// Whether the whole text is like a pattern, with `*` for any characters and `?` for one; after `\` they stand for themselves.
    public func like(_ pattern: String, ignoringCase: Bool = false) -> Condition {
        compare(.like, Self.bound(pattern), ignoresCase: ignoringCase)
    }

    /// Whether the whole text matches a regular expression of PostgreSQL's.
    public func matches(_ pattern: String, ignoringCase: Bool = false) -> Condition {
        compare(.matches, Self.bound(pattern), ignoresCase: ignoringCase)
    }

    /// Whether the text matches a full-text search, in the server's default language: words, `"phrases"`, `or`, `-word`.
    public func search(_ words: String) -> Condition {
        compare(.search, Self.bound(words))
    }
}

extension ColumnExpression {
    /// Whether an array contains an element.
    public func contains<Element: PostgresEncodable>(_ element: Element) -> Condition where Value == [Element?] {
        compare(.contains, Self.bound(element))
    }
}

extension ColumnExpression where Value == PostgresJSON {
    /// What stands at keys within the document, as text; NULL where nothing does.
    public subscript(keys: String...) -> ColumnExpression<String> {
        ColumnExpression<String>(.json(expression, keys))
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
}

extension ColumnExpression {
    static func calculate<Result>(
        _ operation: ConditionExpression.Arithmetic,
        _ left: ColumnExpression,
        _ right: ConditionExpression
    ) -> ColumnExpression<Result> {
        ColumnExpression<Result>(.arithmetic(operation, left.expression, right))
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
}

extension ColumnExpression where Value == PostgresTimestamp {
    /// A moment later by an interval.
    public static func + (left: ColumnExpression, right: PostgresInterval) -> ColumnExpression {
        calculate(.plus, left, bound(right))
    }

    /// A moment earlier by an interval.
    public static func - (left: ColumnExpression, right: PostgresInterval) -> ColumnExpression {
        calculate(.minus, left, bound(right))
    }
}

extension ColumnExpression where Value == PostgresDate {
    /// A moment later than the beginning of the day by an interval.
    public static func + (left: ColumnExpression, right: PostgresInterval) -> ColumnExpression<PostgresTimestamp> {
        calculate(.plus, left, bound(right))
    }

    /// A moment earlier than the beginning of the day by an interval.
    public static func - (left: ColumnExpression, right: PostgresInterval) -> ColumnExpression<PostgresTimestamp> {
        calculate(.minus, left, bound(right))
    }
}
