/// A condition on an entity's objects, written in any of the supported forms.
///
/// It is two-valued, as in Swift: a comparison with NULL is false, except that `== nil` and `!=` treat nil as a value,
/// and the negation of a condition is true exactly if the condition is false.
public struct Condition: Sendable {
    package let node: ConditionNode

    package init(_ node: ConditionNode) {
        self.node = node
    }

    /// The conjunction of the given conditions; true for none.
    package static func all(_ conditions: [Condition]) -> Condition {
        Condition(
            .all(
                conditions.flatMap { condition in
                    // Flattened, so that repeated narrowing does not nest deeply.
                    if case .all(let parts) = condition.node { parts } else { [condition.node] }
                }
            )
        )
    }

    /// The disjunction of the given conditions; false for none.
    package static func any(_ conditions: [Condition]) -> Condition {
        Condition(
            .any(
                conditions.flatMap { condition in
                    if case .any(let parts) = condition.node { parts } else { [condition.node] }
                }
            )
        )
    }

    /// The negation of the given condition.
    package static func not(_ condition: Condition) -> Condition {
        if case .not(let inner) = condition.node { return Condition(inner) }
        return Condition(.not(condition.node))
    }
}

extension Condition {
    /// Whether both are true.
    public static func && (left: Condition, right: Condition) -> Condition { .all([left, right]) }

    /// Whether at least one is true.
    public static func || (left: Condition, right: Condition) -> Condition { .any([left, right]) }

    /// Whether the condition is false.
    public static prefix func ! (condition: Condition) -> Condition { .not(condition) }
}

extension Condition {
    /// Parses a format string in NSPredicate's grammar; its placeholders take the arguments in order.
    ///
    /// The supported grammar:
    /// * `AND` `OR` `NOT`, `&&` `||` `!`, parentheses, `TRUEPREDICATE`, `FALSEPREDICATE`;
    /// * `=` `==` `!=` `<>` `<` `<=` `>` `>=`, `BETWEEN {a, b}`, `IN {a, b}`, and both with `%@` for a collection;
    /// * `LIKE` with `*` and `?`, `BEGINSWITH`, `ENDSWITH`, `CONTAINS`, `MATCHES` for the whole text, `'b' IN 'abc'`, `[c]`
    ///   after them;
    /// * `ANY` or `SOME`, `ALL`, `NONE` before a path to many objects, `path.@count`, `value IN path`,
    ///   `SUBQUERY(path, $member, $member.key == 1 AND …).@count`;
    /// * `SEARCH` for full text, `CONTAINS` of an array's elements and of a JSON document's parts, keys of a JSON document
    ///   after its own (`settings.theme.name`), `array.@count`;
    /// * `SELF`, key paths such as `person.surname`, `#key` for a key spelled like a keyword, `#"a.b"` for one with
    ///   characters other than letters and digits, `%K`;
    /// * strings in either quotes, numbers, `TRUE` `YES` `FALSE` `NO`, `NULL` `NIL`, `+` `-` `*` `/` `**`;
    /// * `%@` for any argument, `%d` for an integer, `%f` for a number, `%s` for a string.
    ///
    /// Keys are checked once the entity is known. Throws `KindredError` `.invalidCondition` with the position of the
    /// error and the expected token.
    package init(format: String, arguments: [ConditionArgument]) throws {
        var parser = FormatParser(tokens: try FormatLexer.tokens(of: format), arguments: arguments)
        self.init(try parser.format())
    }
}
