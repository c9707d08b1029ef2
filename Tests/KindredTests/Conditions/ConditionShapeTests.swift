import KindredPostgres
import Testing

@testable import Kindred
@testable import KindredSchema

/// A statement that is found by its shape equals the resolved and rendered statement, whatever its values are.
@Suite struct ConditionShapeTests {
    private let runtime = SchemaRuntime(ConditionFixture.schema)

    private static let formats = [
        "age = %@", "age != %@", "age < %@", "age >= %@", "wealth > %@", "height = %@", "code = %@", "active == %@",
        "surname = %@", "surname ==[c] %@", "surname LIKE %@", "surname LIKE[c] %@", "surname BEGINSWITH %@",
        "surname ENDSWITH %@", "surname CONTAINS %@", "surname MATCHES %@", "surname SEARCH %@", "surname IN %@",
        "surname IN[c] %@", "tags CONTAINS %@", "tags = %@", "ANY tags = %@", "ANY tags LIKE %@", "%@ IN tags",
        "data CONTAINS %@", "data.a.b = %@", "notes.a > %@", "mood = %@", "mood IN %@", "address = %@", "address IN %@",
        "token = %@", "token IN %@", "born < %@", "seen >= %@", "manager = %@", "manager.age > %@", "SELF = %@",
        "manager.manager.surname = %@", "manager IN %@", "age IN %@", "NOT age IN %@", "ANY emailSet.size = %@",
        "ALL emailSet.size > %@", "NONE emailSet.size = %@", "ANY emailSet.size IN %@", "emailSet.@count > %@",
        "emailSet.@count = %@", "manager.emailSet.@count = %@", "emailSet CONTAINS %@", "ANY emailSet = %@",
        "SUBQUERY(emailSet, $e, $e.size > %@).@count > 0", "%@ = age", "age = -%@", "age + %@ > 3", "age = %@ + 1",
        "age BETWEEN %@", "age BETWEEN {%@, 5}", "age IN {%@, 5}", "NOT (age = %@)", "age = %@ AND surname = 'x'",
        "age = 3 OR surname = %@", "manager.age = 3 AND (surname = %@ OR age = 7)", "%K = 5", "age = %d", "age = %f",
        "surname = %s", "unknown = %@", "age = %@ AND unknown = 3", "(age = %@", "surname = 'x' AND age < surname",
    ]

    private static let values: [ConditionArgument] = [
        .value(5), .value(0), .value(-1), .value(99_999_999_999), .value(.double(5)), .value(.double(5.5)),
        .value(.double(.nan)), .value(.numeric(.notANumber)), .value(.float(0.1)), .value("x"), .value("5"),
        .value("a*b?%_\\"), .value("("), .value("\u{0}"), .value("age"), .value(true), .value(.bytes([1])), .null,
        .list([1, 2]), .list([1, 99_999_999_999]), .list([1, nil]), .list([.double(1.5)]), .list(["a"]),
        .list(["a", 1]),
        .list([]), .list([.bytes([1])]), .value(.array(PostgresArray(elementType: .text, elements: ["a"]))),
        .object(FakeObject("person", ["id": 1])), .object(FakeObject("email", [:])),
        .objects([FakeObject("email", ["id": 1])]),
    ]

    /// A statement, or the error in its place.
    private struct Outcome: Equatable {
        var text = ""
        var bindings = Bindings()
        var error: String?

        init(_ make: () throws -> Statement) {
            do {
                let statement = try make()
                (text, bindings) = (statement.text.text, statement.bindings)
            } catch {
                self.error = "\(error)"
            }
        }
    }

    private typealias Steps = (inout SelectQuery) throws -> Void

    /// Compares the statements of a request that finds shapes with the statements of a request that does not.
    private func check(_ name: String, _ steps: Steps) throws {
        func statements(_ query: SelectQuery) -> [Outcome] {
            var query = query
            do {
                try steps(&query)
            } catch {
                return [Outcome { throw error }]
            }
            let schema = runtime.schema
            return [
                Outcome { try query.statement(in: schema) }, Outcome { try query.countStatement(in: schema) },
                Outcome { try query.existsStatement(in: schema) },
            ]
        }
        let person = try runtime.entity(named: "person")
        let expected = statements(SelectQuery(entity: person.entity))
        #expect(statements(SelectQuery(person)) == expected, "\(name)")
    }

    @Test func eachConditionIsWhatItWasWithoutItsShape() throws {
        // Whatever was asked first, and twice.
        for values in [Self.values, Self.values.reversed()] {
            let fresh = ConditionShapeTests()
            for format in Self.formats {
                let count = format.split(separator: "%", omittingEmptySubsequences: false).count - 1
                for value in values {
                    let arguments = Array(repeating: value, count: count)
                    try fresh.check("\(format) \(value)") {
                        try $0.narrow(by: format, arguments, in: fresh.runtime.schema)
                    }
                    try fresh.check("the tree of \(format) \(value)") {
                        try $0.narrow(by: Condition(format: format, arguments: arguments), in: fresh.runtime.schema)
                    }
                }
            }
        }
    }

    @Test func stepsFollowEachOther() throws {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<3_000 {
            let formats = (0..<Int.random(in: 1...3, using: &generator)).map { _ in
                (
                    Self.formats.randomElement(using: &generator) ?? "",
                    Self.values.randomElement(using: &generator) ?? .null
                )
            }
            let sort = ["surname", "manager.age", "data.a", "emailSet.@count", "nothing"].randomElement(
                using: &generator)
            let (limit, offset) = ([nil, 3, -1].randomElement() ?? nil, [nil, 2].randomElement() ?? nil)
            let isFiltered = Bool.random(using: &generator)
            try check("\(formats) by \(sort ?? "")") { query in
                query.isFiltered = isFiltered
                for (format, value) in formats {
                    let count = format.split(separator: "%", omittingEmptySubsequences: false).count - 1
                    try query.narrow(by: format, Array(repeating: value, count: count), in: runtime.schema)
                }
                if let sort { try query.append(SortTerm(path: sort.keys), in: runtime.schema) }
                (query.limit, query.offset) = (limit, offset)
            }
        }
    }

    /// The text of a statement, which is one object for all requests of a shape.
    private func text(_ format: String, _ argument: ConditionArgument) throws -> StatementText {
        var query = SelectQuery(try runtime.entity(named: "person"))
        try query.narrow(by: format, [argument], in: runtime.schema)
        try query.append(SortTerm(path: ["surname"]), in: runtime.schema)
        query.limit = 1
        return try query.statement(in: runtime.schema).text
    }

    @Test func textsAreRenderedOnce() throws {
        for format in ["age = %@", "age IN %@", "ANY emailSet.size < %@ AND surname = 'x'", "surname LIKE %@"] {
            let (first, second): (ConditionArgument, ConditionArgument) =
                format.contains("IN")
                ? (.list([1]), .list([2, 3]))
                : format.contains("LIKE")
                    ? (.value("a*"), .value("b")) : (.value(1), .value(2))
            #expect(try text(format, first) === text(format, second), "\(format)")
        }
        #expect(try text("age = %@", .value(1)) !== text("age = %@", .null))
        #expect(try text("age = %@", .value(1)) !== text("age != %@", .value(1)))
    }

    @Test func aTypedConditionSharesItsTextWithOthers() throws {
        func text(_ value: PostgresValue) throws -> StatementText {
            var query = SelectQuery(try runtime.entity(named: "person"))
            let comparison = ConditionComparison(.path(.own("age")), .greater, with: .value(value))
            try query.narrow(by: Condition(.comparison(comparison)), in: runtime.schema)
            return try query.statement(in: runtime.schema).text
        }
        #expect(try text(1) === text(2))
    }

    @Test func scopesAreToldApart() throws {
        func text(_ value: PostgresValue, of column: ColumnScope, in scope: ColumnScope) throws -> StatementText {
            var query = SelectQuery(try runtime.entity(named: "person"))
            let path = ConditionPath(column, ["age"])
            let node = ConditionNode.comparison(ConditionComparison(.path(path), .greater, with: .value(value)))
            try query.narrow(by: Condition(.scoped(scope, node)), in: runtime.schema)
            return try query.statement(in: runtime.schema).text
        }
        let (first, second) = (ColumnScope(), ColumnScope())
        // Each closure has a scope of its own, and its conditions share the shape of other closures' conditions.
        #expect(try text(1, of: first, in: first) === text(2, of: second, in: second))
        let error = try #require(throws: KindredError.self) { try text(1, of: first, in: second) }
        #expect(error.code == .invalidCondition && error.message.contains("kept from a closure"))
    }

    @Test func manyShapesAreForgotten() throws {
        for number in 0..<600 {
            try check("\(number)") {
                try $0.narrow(by: "age > \(number) AND surname = %@", [.value("x")], in: runtime.schema)
                try $0.append(SortTerm(path: ["age"], ascending: number.isMultiple(of: 2)), in: runtime.schema)
            }
        }
    }

    @Test func partsAreTheSame() throws {
        let emails = try #require(try runtime.entity(named: "person").relationship(named: "emailSet"))
        func key(_ start: SelectQuery, _ size: Int64) throws -> PartQuery.Key {
            var query = start
            try query.narrow(by: "size > %@", [.value(.integer(size))], in: runtime.schema)
            return try PartQuery(emails, query, in: runtime.schema).key
        }
        let (found, rendered) = (SelectQuery(emails.destination), SelectQuery(entity: emails.destination.entity))
        #expect(try key(found, 1) == key(rendered, 1) && key(found, 1) == key(found, 1))
        #expect(try key(found, 2) == key(rendered, 2) && key(found, 2) != key(found, 1))
    }
}
