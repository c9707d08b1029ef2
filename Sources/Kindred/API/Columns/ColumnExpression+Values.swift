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

extension ColumnExpression {
    /// Whether an array contains all of some elements.
    public func containsAll<Element: PostgresEncodable>(_ elements: some Sequence<Element>) -> Condition
    where Value == [Element?] {
        compare(.contains, Self.bound(elements))
    }

    /// Whether an array contains any of some elements.
    public func containsAny<Element: PostgresEncodable>(_ elements: some Sequence<Element>) -> Condition
    where Value == [Element?] {
        let list = Self.bound(elements)
        return Condition(.comparison(ConditionComparison(expression, .isIn, list, quantifier: .anyMember)))
    }

    /// The number of an array's elements, those that are missing included.
    public var count: ColumnExpression<Int> {
        if case .path(let keys) = expression { return ColumnExpression<Int>(.count(keys)) }
        return ColumnExpression<Int>(expression)
    }
}

extension ColumnExpression where Value == PostgresTSVector {
    /// Whether the vector matches a full-text search, in the server's default language: words, `"phrases"`, `or`, `-word`.
    public func search(_ words: String) -> Condition {
        compare(.search, Self.bound(words))
    }
}

extension ColumnExpression where Value == PostgresJSON {
    /// Whether the document contains another, as PostgreSQL's `@>` says: all its members, in any order.
    public func contains(_ part: PostgresJSON) -> Condition {
        compare(.contains, Self.bound(part))
    }

    /// The number at keys within the document; NULL where nothing, or something else, stands there.
    public func number(_ keys: String...) -> ColumnExpression<PostgresNumeric> {
        ColumnExpression<PostgresNumeric>(.jsonNumber(expression, keys))
    }

    /// What stands at keys within the document, as text; NULL where nothing does.
    public subscript(keys: String...) -> ColumnExpression<String> {
        ColumnExpression<String>(.json(expression, keys))
    }
}
