import Testing

@testable import KindredSchema

/// Conditions of partial indexes as `pg_get_expr` writes them.
@Suite struct RowPredicateTests {
    private func terms(_ text: String) -> [String]? {
        RowPredicate(text).terms?.map { "\($0.column) \($0.test)" }
    }

    @Test(arguments: [
        ("(deleted_at IS NULL)", ["deleted_at isNull"]),
        ("(\"Deleted at\" IS NOT NULL)", ["Deleted at isNotNull"]),
        ("active", ["active isTrue"]), ("(NOT active)", ["active isFalse"]),
        ("((deleted_at IS NULL) AND active)", ["deleted_at isNull", "active isTrue"]),
        ("(state = 'open'::text)", [#"state equals("open")"#]),
        ("((state)::text = 'it''s (AND) open'::text)", [#"state equals("it\'s (AND) open")"#]),
        ("((state)::pg_catalog.\"char\" = 'a'::\"char\")", [#"state equals("a")"#]),
        ("((name)::character varying = 'x'::character varying)", [#"name equals("x")"#]),
        ("((kind = 1) AND (NOT gone) AND (a IS NULL))", [#"kind equals("1")"#, "gone isFalse", "a isNull"]),
        ("(path = E'a\\\\b''c'::text)", [#"path equals("a\\b\'c")"#]),
        ("(kind = (2)::smallint)", [#"kind equals("2")"#]),
        ("((kind = 1) AND ((gone IS NULL) AND active))", [#"kind equals("1")"#, "gone isNull", "active isTrue"]),
        ("(level = '-1'::integer)", [#"level equals("-1")"#]),
    ])
    func conditionsThatARowAnswersAreRead(_ text: String, _ expected: [String]) {
        #expect(terms(text) == expected)
    }

    @Test(arguments: [
        "", "(a OR b)", "(NOT (a AND b))", "(lower(name) = 'a'::text)", "(a > 5)", "(a = b)", "((a IS NULL) = b)",
        "(a = ANY ('{1,2}'::integer[]))", "(price = 1.5)", "((name COLLATE \"C\") = 'a'::text)", "(a IS TRUE)",
        "(a = 'unfinished",
        "((created)::date = '2020-01-01'::date)", "((price)::integer = 1)",
        "((name)::text IS NULL)", "(state = 'open'::character varying(10))",
        "(NOT (a IS NULL))", "true", "CASE WHEN a THEN b ELSE c END", "(date_trunc('day'::text, day) = day)",
    ])
    func whatOnlyTheServerCanTellIsUnknown(_ text: String) {
        #expect(terms(text) == nil)
    }
}
