import KindredPostgres
import KindredSchema
import Testing

@testable import KindredDoctor

@Suite struct IndexConditionTests {
    @Test(arguments: [
        ("(a IS NOT NULL)", true), ("((a IS NOT NULL) AND (b IS NOT NULL))", true), ("a IS NOT NULL", true),
        ("(b IS NOT NULL)", true), ("(c IS NOT NULL)", false), ("((a IS NOT NULL) AND (c IS NOT NULL))", false),
        ("((a IS NOT NULL) OR (c > 0))", true), ("((c > 0) OR (b IS NOT NULL))", true), ("((c > 0) OR (d > 0))", false),
        ("(((c > 0) OR (a IS NOT NULL)) AND (b IS NOT NULL))", true), ("(NOT (a IS NULL))", true),
        ("(a IS NULL)", false),
        ("(NOT (a IS NOT NULL))", false), ("(NOT ((a IS NULL) OR (b IS NULL)))", true),
        ("(NOT ((a IS NULL) OR (c IS NULL)))", false), ("(NOT ((a IS NULL) AND (c IS NULL)))", true),
        ("(NOT (NOT (a IS NULL)))", false), ("(NOT ((a IS NULL) OR (c > 0)))", false),
        ("(NOT ((a IS NULL) AND (c > 0)))", true), ("true", true),
        ("false", false),
        ("(ROW(a, b) IS NOT NULL)", true), ("(ROW(a, c) IS NOT NULL)", false), ("(NOT (ROW(a, b) IS NULL))", false),
        ("((a)::text IS NOT NULL)", true), ("((b)::text IS NOT NULL)", false), ("((a)::integer IS NOT NULL)", false),
        ("(\"Group\" IS NOT NULL)", true), ("(\"group\" IS NOT NULL)", false), ("(\"a b\"\"c\" IS NOT NULL)", true),
        ("((a + 1) IS NOT NULL)", false), ("(lower(a) IS NOT NULL)", false), ("(a > 0)", false), ("a", false),
        ("((a IS NOT NULL) = true)", false), ("(a IS NOT NULL) IS TRUE", false), ("(c = 'a IS NOT NULL'::text)", false),
        ("((c = ') OR (a IS NOT NULL'::text) OR (a IS NOT NULL))", true), ("((a IS NOT NULL) AND", false), ("", false),
        ("(a IS NOT DISTINCT FROM b)", false), ("(a IS NOT NULL", false), (")", false),
        ("(c = ANY (ARRAY[1, 2]))", false),
    ])
    func aConditionFollowsOrNot(text: String, follows: Bool) {
        let columns: [ServerText: Bool] = ["a": true, "b": false, "Group": false, "a b\"c": false]
        #expect(ExpressionCondition(text).follows(from: columns) == follows)
    }

    @Test(arguments: [
        ("(a IS NULL)", true), ("(b IS NULL)", false), ("((a IS NULL) AND (b IS NOT NULL))", true),
        ("((a IS NULL) OR (c > 0))", true), ("((a IS NULL) AND (c > 0))", false), ("(a IS NOT NULL)", false),
        ("((a IS NULL) AND (c IS NULL))", false), ("(ROW(a, b) IS NULL)", false),
    ])
    func aConditionFollowsWhereAColumnIsNULL(text: String, follows: Bool) {
        #expect(ExpressionCondition(text).follows(from: ["b": false], absent: ["a"]) == follows)
    }

    @Test(arguments: [
        ("(a IS NOT NULL)", true), ("((a > 0) AND (a IS NOT NULL))", true), ("((a > 0) OR (a IS NOT NULL))", false),
        ("((a IS NOT NULL) OR ((a IS NOT NULL) AND (b > 0)))", true), ("(b IS NOT NULL)", false), ("(a > 0)", false),
        ("(NOT (a IS NULL))", true), ("true", false), ("(num_nonnulls(a, b) = 1)", false),
    ])
    func aCheckRequiresAColumnOrNot(text: String, requires: Bool) {
        #expect(ExpressionCondition(text).requiredColumns.contains("a") == requires)
    }

    @Test(
        arguments: [
            ("COALESCE(a, 0)", ["a"]), ("COALESCE(\"A b\", ''::text)", ["A b"]),
            ("COALESCE(a, '-1'::integer), COALESCE(b, ''::character varying)", ["a", "b"]),
            ("COALESCE(a, b)", nil), ("COALESCE(a, NULL::integer)", nil), ("COALESCE(a, 0) + 1", nil),
            ("lower(a)", nil),
            ("COALESCE(a, 0), lower(b)", nil), ("COALESCE(lower(a), ''::text)", nil), ("COALESCE(a", nil), ("", nil),
        ] as [(String, [String]?)])
    func expressionsWithAConstantForNULLAreKnown(text: String, columns: [String]?) {
        #expect(CoalescedColumns.columns(of: text) == columns)
    }

    /// A condition comes from a server and can be of any depth.
    @Test func deepConditionsSayNothing() {
        let depth = 100_000
        for opening in ["(", "NOT ", "(a IS NOT NULL OR ", "ROW("] {
            let text = String(repeating: opening, count: depth) + "a IS NOT NULL" + String(repeating: ")", count: depth)
            #expect(!ExpressionCondition(text).follows(from: ["a": false]) || opening == "(a IS NOT NULL OR ")
        }
    }
}
