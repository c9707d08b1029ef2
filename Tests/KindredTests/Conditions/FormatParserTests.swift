import KindredPostgres
import Testing

@testable import Kindred

@Suite struct FormatParserTests {
    @Test(arguments: [
        ("a == 1", "(== a 1)"),
        ("a = 1 AND b <> 2 OR c => 3", "(or (and (== a 1) (!= b 2)) (>= c 3))"),
        ("a = 1 && (b = 2 || NOT c = 3)", "(and (== a 1) (or (== b 2) (not (== c 3))))"),
        ("not not a = 1", "(not (not (== a 1)))"),
        ("! a = 1 and b = 2", "(and (not (== a 1)) (== b 2))"),
        ("(((a))) = (1)", "(== a 1)"),
        ("(a + 1) * 2 > 3", "(> (* (+ a 1) 2) 3)"),
        ("a - 1 - 2 = b ** 2 ** 3 / 4", "(== (- (- a 1) 2) (/ (** b (** 2 3)) 4))"),
        ("-a < -5", "(< (- a) -5)"),
        ("a = - -1.5e2", "(== a 150)"),
        ("a == nil OR a != NULL", "(or (== a nil) (!= a nil))"),
        ("a = yes AND b = FALSE", "(and (== a t) (== b f))"),
        ("TRUEPREDICATE OR falsepredicate", "(or true false)"),
        ("a BETWEEN {1, 2}", "(BETWEEN a [1, 2])"),
        ("a between {b, 2 + 3}", "(BETWEEN a {b, (+ 2 3)})"),
        ("a IN {}", "(IN a [])"),
        ("a in {'x', nil}", "(IN a [x, nil])"),
        ("a LIKE[c] 'x' AND a ==[c] 'y'", "(and (LIKE[c] a x) (==[c] a y))"),
        ("a.b.c BEGINSWITH 'x'", "(BEGINSWITH a.b.c x)"),
        ("SELF == 1 AND self.a = 1", "(and (== SELF 1) (== a 1))"),
        ("ANY a.b = 1", "(ANY == a.b 1)"),
        ("some a.b = 1 OR all a = 1 OR NONE #in = 1", "(or (ANY == a.b 1) (ALL == a 1) (NONE == in 1))"),
        ("any = 1 AND all IN {1} AND none.a = 2", "(and (== any 1) (IN all [1]) (== none.a 2))"),
        ("#true = TRUE", "(== true t)"),
        ("a.@count > 1", "(> a@count 1)"),
        ("@through.a = 1 AND 2 < @through.b.c", "(and (== @through.a 1) (< 2 @through.b.c))"),
        ("ANY @through.a = 1 OR NONE @through.b.c = 2", "(or (ANY == @through.a 1) (NONE == @through.b.c 2))"),
        ("ALL @through.a.b = 1", "(ALL == @through.a.b 1)"),
        ("'it' IN a", "(IN it a)"),
        ("SUBQUERY(a.b, $x, $x.c = 1 AND ANY $x.d < 2).@count > 2", "(> a.b@count(and (== $1.c 1) (ANY < $1.d 2)) 2)"),
        (
            "SUBQUERY(a, $x, SUBQUERY($x.b, $y, $y = 1).@count = 0).@count = 1",
            "(== a@count(== $1.b@count(== $2 1) 0) 1)"
        ),
        // Bare paths and SELF are of the request's object at any depth, and variables of any SUBQUERY around.
        (
            "SUBQUERY(a, $x, b = $x.c AND $x != SELF.d AND d.@count = 1).@count = 1",
            "(== a@count(and (== b $1.c) (!= $1 d) (== d@count 1)) 1)"
        ),
        (
            "SUBQUERY(a, $x, SUBQUERY(b, $y, $y.c = $x.c AND d = SELF).@count = 0).@count = 1",
            "(== a@count(== b@count(and (== $2.c $1.c) (== d SELF)) 0) 1)"
        ),
        (
            "SUBQUERY(a, $x, SUBQUERY($x.b, $x, $x.c = 1).@count = $x.d).@count = 1",
            "(== a@count(== $1.b@count(== $2.c 1) $1.d) 1)"
        ),
        ("subquery = 1", "(== subquery 1)"),
    ])
    func formatsBecomeTrees(format: String, tree: String) throws {
        #expect(describe(try Condition(format: format, arguments: []).node) == tree)
    }

    @Test func placeholdersTakeTheArgumentsInOrder() throws {
        let condition = try Condition(
            format: "%K = %@ AND %d < %f AND %@ IN %@ AND %K.@count = %@ AND a = %s AND %K == 1",
            arguments: [
                .value("a.b"), .value("x"), .value(5), .value(2.5), .null, .list([1, nil]), .value("c"), .value(true),
                .value("text"), .list(["with.dot"]),
            ]
        )
        #expect(
            describe(condition.node)
                == "(and (== a.b x) (< 5 2.5) (IN nil [1, nil]) (== c@count t) (== a text) (== with.dot 1))"
        )
    }

    @Test func keysOfAnySpellingAreArgumentsBehindVariables() throws {
        let condition = try Condition(
            format: "SUBQUERY(%K, $x, $x.%K = %K AND $x.b.%K = SUBQUERY($x.%K, $y, $y = %@).@count).@count > 0",
            arguments: [
                .value("a+b"), .value("c+d.e"), .value("f+g"), .list(["h.i"]), .list(["j+k"]), .value(1),
            ])
        #expect(
            describe(condition.node)
                == "(> a+b@count(and (== $1.c+d.e f+g) (== $1.b.h.i $1.j+k@count(== $2 1))) 0)")
    }

    @Test(arguments: [
        ("", 1, "a value or a key is expected"), ("a", 2, "a comparison such as"), ("a =", 4, "a value or a key"),
        ("a = 1 b", 7, "AND, OR or the end"), ("(a = 1", 7, "\")\" is expected"), ("a = 1)", 6, "AND, OR or the end"),
        ("a = {1, }", 9, "a value or a key"), ("a = {1", 7, "\"}\" is expected"), ("a. = 1", 4, "a key is expected"),
        ("a LIKE[d] 'x'", 8, "diacritics"), ("a LIKE[cd] 'x'", 8, "diacritics"), ("a LIKE[x] 'x'", 8, "only option"),
        ("a <[c] 1", 5, "no options"), ("a LIKE[ 'x'", 9, "the option c"), ("a.@sum = 1", 3, "@count"),
        ("@count = 1", 1, "@count"), ("a.@count.b = 1", 9, "the end of the path"), ("ANY 1 = 2", 5, "comparison"),
        ("ANY a", 6, "a comparison such as"), ("ANY (1) = 2", 5, "key path"), ("abs(a) = 1", 1, "functions"),
        ("a = (b = 1)", 5, "not a condition"), ("(a = 1) + 2 = 3", 1, "not a condition"),
        ("(a = 1) = 2", 9, "AND, OR or the end"), ("a = %@", 5, "no argument"), ("a = $b", 5, "belong in SUBQUERY"),
        ("SUBQUERY(a, $x, $y.b = 1).@count = 1", 17, "the variables here are $x, and no $y"),
        ("SUBQUERY($x.a, $x, b = 1).@count = 1", 10, "belong in SUBQUERY"),
        ("SUBQUERY(a, $x, b = 1).@count = 1 AND $x.b = 1", 39, "belong in SUBQUERY"),
        ("SUBQUERY(a, $x, $x.b = 1) = 1", 27, "\".\" is expected"),
        ("SUBQUERY(a, $x, $x.b = 1).b = 1", 27, "@count"), ("SUBQUERY(a, b, c = 1).@count = 1", 13, "a variable"),
        ("NOT a", 6, "a comparison such as"),
        ("a AND b = 1", 3, "a comparison such as"), ("a = 1e999999", 5, "a number that"),
    ])
    func faultsAreNamedWithTheirPlace(format: String, position: Int, message: String) throws {
        let error = try #require(throws: KindredError.self) { try Condition(format: format, arguments: []) }
        #expect(error.code == .invalidCondition)
        #expect(error.message.contains("at character \(position):") && error.message.contains(message), "\(error)")
    }

    @Test(
        arguments: [
            ("a = %d", .value("1"), "an integer"), ("a = %d", .value(1.5), "an integer"),
            ("a = %f", .value("1"), "a number"),
            ("a = %s", .value(1), "a string"), ("%K = 1", .value(1), "a key path"),
            ("%K = 1", .value("a..b"), "a key path"),
            ("%K = 1", .value(""), "a key path"), ("%K = 1", .null, "a key path"),
            ("%K = 1", .value("@count"), "a key path"),
            ("a = %d", .list([1]), "an integer"),
        ] as [(String, ConditionArgument, String)])
    func argumentsMustFitTheirPlaceholders(format: String, argument: ConditionArgument, message: String) throws {
        let error = try #require(throws: KindredError.self) { try Condition(format: format, arguments: [argument]) }
        #expect(error.message.contains("argument 1 must be \(message)"), "\(error)")
    }

    @Test func leftOverArgumentsAreAnError() throws {
        let error = try #require(throws: KindredError.self) {
            try Condition(format: "a = %@", arguments: [.value(1), .value(2)])
        }
        #expect(error.message == "The condition has 1 placeholder, but 2 arguments were given")
    }

    @Test(arguments: ["(", "NOT ", "-(", "{", "a = (", "a = 1 OR (b = 1 AND ("])
    func deepNestingIsRefused(opening: String) throws {
        let format = String(repeating: opening, count: 1_000)
        let error = try #require(throws: KindredError.self) { try Condition(format: format, arguments: []) }
        #expect(error.message.contains("nested more than 256 deep"), "\(error)")
    }

    @Test func longCalculationsAreRefused() {
        let format = "a = 1" + String(repeating: " + 1", count: 65)
        #expect(throws: KindredError.self) { try Condition(format: format, arguments: []) }
    }
}

private func describe(_ node: ConditionNode, _ scopes: [ColumnScope] = []) -> String {
    func all(_ nodes: some Collection<ConditionNode>) -> String {
        nodes.map { describe($0, scopes) }.joined(separator: " ")
    }
    switch node {
    case .constant(let value): return "\(value)"
    case .all(let nodes): return "(and \(all(nodes)))"
    case .any(let nodes): return "(or \(all(nodes)))"
    case .not(let node): return "(not \(all([node])))"
    case .comparison(let comparison):
        let quantifier = comparison.quantifier.map { "\($0.rawValue) " } ?? ""
        let operation = comparison.operation.rawValue + (comparison.ignoresCase ? "[c]" : "")
        let (left, right) = (describe(comparison.left, scopes), describe(comparison.right, scopes))
        return "(\(quantifier)\(operation) \(left) \(right))"
    case .members(let quantifier, let condition):
        let path = describe(condition.members, scopes)
        return "(\(quantifier.rawValue) \(path) \(describe(condition.condition, scopes + [condition.scope])))"
    case .scoped(let scope, let node): return "(scoped \(describe(node, scopes + [scope])))"
    }
}

/// `$1` is the outermost member.
private func describe(_ path: ConditionPath, _ scopes: [ColumnScope]) -> String {
    let variable = scopes.firstIndex(of: path.scope).map { "$\($0 + 1)" }
    let start = path.scope == .own ? path.keys.isEmpty ? "SELF" : nil : variable ?? "$?"
    return ([start].compactMap(\.self) + path.keys).joined(separator: ".")
}

private func describe(_ expression: ConditionExpression, _ scopes: [ColumnScope]) -> String {
    switch expression {
    case .path(let path): describe(path, scopes)
    case .count(let path): "\(describe(path, scopes))@count"
    case .value(let value): value.map { "\($0)" } ?? "nil"
    case .values(let values): "[\(values.map { $0.map { "\($0)" } ?? "nil" }.joined(separator: ", "))]"
    case .list(let list): "{\(list.map { describe($0, scopes) }.joined(separator: ", "))}"
    case .ofMembers(let value):
        """
        \(describe(value.members.members, scopes))@count\
        \(describe(value.members.condition, scopes + [value.members.scope]))
        """
    case .jsonValue(let document, let keys, _): "\(describe(document, scopes))#>\(keys.joined(separator: "."))"
    case .json(let document, let keys): "\(describe(document, scopes))#>>\(keys.joined(separator: "."))"
    case .invalid(let error): "\(error)"
    case .object, .objects: "object"
    case .arithmetic(let operation, let left, let right):
        "(\(operation.rawValue) \(describe(left, scopes)) \(describe(right, scopes)))"
    case .negative(let inner): "(- \(describe(inner, scopes)))"
    case .total(let total): total.label
    case .scoped(let scope, let inner): "(scoped \(describe(inner, scopes + [scope])))"
    case .coalesced(let first, let second): "(?? \(describe(first, scopes)) \(describe(second, scopes)))"
    case .joined(let left, let right): "(|| \(describe(left, scopes)) \(describe(right, scopes)))"
    }
}
