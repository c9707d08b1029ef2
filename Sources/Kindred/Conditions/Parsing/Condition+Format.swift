import KindredPostgres

extension Condition {
    /// Parses a format string in NSPredicate's grammar; its placeholders take the arguments in order.
    ///
    /// The supported grammar:
    /// * `AND` `OR` `NOT`, `&&` `||` `!`, parentheses, `TRUEPREDICATE`, `FALSEPREDICATE`;
    /// * `=` `==` `!=` `<>` `<` `<=` `>` `>=`, `BETWEEN {a, b}`, `IN {a, b}`, and both with `%@` for a collection;
    /// * `LIKE` with `*` and `?`, `BEGINSWITH`, `ENDSWITH`, `CONTAINS`, `MATCHES` for the whole text, `'b' IN 'abc'`, `[c]`
    ///   after them;
    /// * `ANY` or `SOME`, `ALL`, `NONE` before a path to many objects, `path.@count`, `value IN path`, `SUBQUERY(path,
    ///   $member, $member.key == 1 AND …).@count`, in which a path without a variable, and `SELF`, mean the request's
    ///   object, and the variables of enclosing SUBQUERYs can be named;
    /// * `SEARCH` for full text, `CONTAINS` of an array's elements and of a JSON document's parts, keys of a JSON document
    ///   after its own (`settings.theme.name`), `array.@count`;
    /// * `SELF`, key paths such as `person.surname`, `#key` for a key spelled like a keyword, `#"a.b"` for a key with
    ///   characters other than letters and digits, `%K`, also behind a variable;
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

extension GivenCondition {
    /// The condition as a tree.
    var condition: Condition {
        get throws {
            switch self {
            case .tree(let condition): condition
            case .format(let format, let arguments): try Condition(format: format, arguments: arguments)
            }
        }
    }
}
