public import KindredPostgres

// Texts. Patterns are bound values, and never become SQL text.
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

    /// Whether the text equals another, optionally without regard to case.
    public func equals(_ other: String, ignoringCase: Bool) -> Condition {
        compare(.equal, Self.bound(other), ignoresCase: ignoringCase)
    }

    /// Whether the whole text matches a pattern: `*` matches any characters and `?` one; `\` escapes them.
    public func like(_ pattern: String, ignoringCase: Bool = false) -> Condition {
        compare(.like, Self.bound(pattern), ignoresCase: ignoringCase)
    }

    /// Whether the whole text matches a PostgreSQL regular expression.
    public func matches(_ pattern: String, ignoringCase: Bool = false) -> Condition {
        compare(.matches, Self.bound(pattern), ignoresCase: ignoringCase)
    }

    /// Whether the text matches a full-text search: words, `"phrases"`, `or`, `-word`.
    ///
    /// - Parameters:
    ///   - words: The search.
    ///   - configuration: The language, by the name of its configuration such as `"english"`, which an index over
    ///     `to_tsvector('english', …)` serves; nil for the server's default.
    public func search(_ words: String, configuration: String? = nil) -> Condition {
        compare(.search, words, configuration: configuration)
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
        return Condition(.comparison(ConditionComparison(expression, .isIn, with: list, quantifier: .anyMember)))
    }
}

// An array without NULL: `[Element]`. An optional element is one, too, so that the others come first.
extension ColumnExpression {
    /// Whether an array contains an element.
    @_disfavoredOverload
    public func contains<Element: PostgresEncodable>(_ element: Element) -> Condition where Value == [Element] {
        compare(.contains, Self.bound(element))
    }

    /// Whether an array contains all of some elements.
    @_disfavoredOverload
    public func containsAll<Element: PostgresEncodable>(_ elements: some Sequence<Element>) -> Condition
    where Value == [Element] {
        compare(.contains, Self.bound(elements))
    }

    /// Whether an array contains any of some elements.
    @_disfavoredOverload
    public func containsAny<Element: PostgresEncodable>(_ elements: some Sequence<Element>) -> Condition
    where Value == [Element] {
        let list = Self.bound(elements)
        return Condition(.comparison(ConditionComparison(expression, .isIn, with: list, quantifier: .anyMember)))
    }
}

extension ColumnExpression where Value: RandomAccessCollection, Value.Element: PostgresEncodable {
    /// The number of an array's elements.
    @_disfavoredOverload
    public var count: ColumnExpression<Int> {
        if case .path(let path) = expression { return ColumnExpression<Int>(.count(path)) }
        return ColumnExpression<Int>(expression)
    }
}

extension ColumnExpression where Value == [UInt8] {
    /// Not available: bytes are no array.
    @available(*, unavailable, message: "a bytea is no array: write SQL's octet_length(column)")
    public var count: ColumnExpression<Int> { ColumnExpression<Int>(expression) }

    /// Not available: bytes are no array.
    @available(*, unavailable, message: "a bytea is no array: write SQL's position(bytes IN column)")
    public func contains(_ element: UInt8) -> Condition { compare(.contains, Self.bound(element)) }
}

// The elements of an array may be NULL: `[Element?]`.
extension ColumnExpression where Value: RandomAccessCollection, Value.Element: ExpressibleByNilLiteral {
    /// The number of an array's elements, including NULLs.
    public var count: ColumnExpression<Int> {
        if case .path(let path) = expression { return ColumnExpression<Int>(.count(path)) }
        return ColumnExpression<Int>(expression)
    }
}

extension ColumnExpression where Value == String {
    /// Not available: Swift and PostgreSQL count other characters.
    @available(
        *, unavailable, message: "Swift counts other characters than PostgreSQL: write a condition on the text itself"
    )
    public var count: ColumnExpression<Int> { ColumnExpression<Int>(expression) }
}

extension ColumnExpression where Value == PostgresTSVector {
    /// Whether the vector, which an index may hold, matches a full-text search: words, `"phrases"`, `or`, `-word`.
    ///
    /// - Parameters:
    ///   - words: The search.
    ///   - configuration: The language of the words, by the name of its configuration such as `"english"`; nil for the
    ///     server's default.
    public func search(_ words: String, configuration: String? = nil) -> Condition {
        compare(.search, words, configuration: configuration)
    }
}

extension ColumnExpression where Value == PostgresJSON {
    /// Whether the document contains another, by PostgreSQL's `@>`: all its members, in any order.
    public func contains(_ part: PostgresJSON) -> Condition {
        compare(.contains, Self.bound(part))
    }

    /// The number at a path of keys in the document; NULL if there is none, or a value of another type.
    public func number(_ keys: String...) -> ColumnExpression<PostgresNumeric> {
        ColumnExpression<PostgresNumeric>(
            ColumnMark.isIn(keys) ? .invalid(ColumnMark.refusal) : .jsonValue(expression, keys, .number))
    }

    /// The truth value at a path of keys in the document; NULL if there is none, or a value of another type.
    public func bool(_ keys: String...) -> ColumnExpression<Bool> {
        ColumnExpression<Bool>(
            ColumnMark.isIn(keys) ? .invalid(ColumnMark.refusal) : .jsonValue(expression, keys, .boolean))
    }

    /// The value at a path of keys in the document, as text; NULL if there is none.
    public subscript(keys: String...) -> ColumnExpression<String> {
        ColumnExpression<String>(ColumnMark.isIn(keys) ? .invalid(ColumnMark.refusal) : .json(expression, keys))
    }
}

extension ColumnExpression {
    private func compare(
        _ operation: ConditionComparison.Operator, _ words: String, configuration: String?
    ) -> Condition {
        var comparison = ConditionComparison(expression, operation, with: Self.bound(words))
        comparison.configuration = configuration
        return Condition(.comparison(comparison))
    }
}
