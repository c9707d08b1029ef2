import KindredPostgres
import Testing

@testable import Kindred

private let textArray = PostgresDataType(rawValue: 1009)
private let integerArray = PostgresDataType(rawValue: 1007)
private let numericArray = PostgresDataType(rawValue: 1231)

@Suite struct ConditionBindingTests {
    /// A parameter as the server would read it.
    private struct Parameter: Equatable, CustomStringConvertible {
        let type: PostgresDataType
        let value: PostgresValue?

        init(_ type: PostgresDataType, _ value: PostgresValue?) {
            self.type = type
            self.value = value
        }

        var description: String { "\(type) \(value.map { "\($0)" } ?? "NULL")" }
    }

    private func parameters(_ format: String, _ arguments: ConditionArgument...) throws -> [Parameter] {
        var query = SelectQuery(entity: try ConditionFixture.entity("person"))
        try query.narrow(by: Condition(format: format, arguments: arguments), in: ConditionFixture.schema)
        let bindings = try query.statement(in: ConditionFixture.schema).bindings
        return try bindings.slots.map { slot in
            guard slot.length >= 0 else { return Parameter(slot.type, nil) }
            let bytes = Array(bindings.bytes[slot.offset..<slot.offset + slot.length])
            return try bytes.withBytes { bytes in
                let type = slot.type == .unspecified ? .text : slot.type
                return Parameter(slot.type, try Codec.decode(bytes, type: type, format: slot.format))
            }
        }
    }

    @Test func valuesTakeTheColumnsType() throws {
        #expect(try parameters("age = 5") == [Parameter(.int4, 5)])
        #expect(try parameters("age = 5.0") == [Parameter(.int4, 5)])
        #expect(try parameters("age = %@", .value(.double(5))) == [Parameter(.int4, 5)])
        #expect(try parameters("5 = age AND surname = 'x'") == [Parameter(.int4, 5), Parameter(.text, "x")])
        #expect(try parameters("height = 0.1") == [Parameter(.float4, .float(0.1))])
        #expect(try parameters("wealth = %@", .value(1)) == [Parameter(.numeric, .numeric(1))])
        #expect(try parameters("born = '2020-02-29'").map(\.type) == [.date])
        #expect(try parameters("emailSet.@count = 1") == [Parameter(.int8, 1)])
        #expect(try parameters("code = 'abc'") == [Parameter(.bpchar, "abc")])
    }

    @Test func numbersThatDoNotFitKeepTheirOwnType() throws {
        #expect(try parameters("age = 5.5").map(\.type) == [.numeric])
        #expect(try parameters("age < %@", .value(.double(5.5))) == [Parameter(.float8, 5.5)])
        #expect(try parameters("age = 99999999999") == [Parameter(.int8, 99_999_999_999)])
        #expect(try parameters("age IN {1, 2.5}").map(\.type) == [numericArray])
        #expect(try parameters("age / 2 > 1") == [Parameter(.int8, 2), Parameter(.int8, 1)])
        #expect(try parameters("age / 2.0 > 1").map(\.type) == [.numeric, .numeric])
        #expect(try parameters("height * 2.5 > 1").map(\.type) == [.float8, .float8])
    }

    @Test func typesThatOnlyTheServerKnowsAreLeftToIt() throws {
        #expect(try parameters("mood = 'sad'") == [Parameter(.unspecified, "sad")])
        #expect(try parameters("mood IN {'sad', 'happy'}") == [Parameter(.unspecified, "{sad,happy}")])
        #expect(try parameters("address = '::1'") == [Parameter(.unspecified, "::1")])
        #expect(try parameters("address IN {'a,b', 'c\"d'}") == [Parameter(.unspecified, #"{"a,b","c\"d"}"#)])
    }

    @Test func aListIsOneParameter() throws {
        let list = PostgresArray(elementType: .int4, elements: [1, 2, 2])
        #expect(try parameters("age IN {1, 2, 2, NULL}") == [Parameter(integerArray, .array(list))])
        let empty = PostgresArray(elementType: .int4, elements: [])
        #expect(try parameters("age IN %@", .list([])) == [Parameter(integerArray, .array(empty))])
        let tags = PostgresArray(elementType: .text, elements: ["a", nil])
        #expect(try parameters("tags = %@", .list(["a", nil])) == [Parameter(textArray, .array(tags))])
    }

    @Test(arguments: [
        ("LIKE", "a*b?c", "a%b_c"), ("LIKE", #"50%_\"#, #"50\%\_\\"#), ("LIKE", #"\*\?\\*\a"#, #"*?\\%\\a"#),
        ("BEGINSWITH", "a%*", #"a\%*%"#), ("ENDSWITH", #"\_"#, #"%\\\_"#), ("CONTAINS", "x", "%x%"),
        ("MATCHES", "a|b", "^(?:a|b)$"),
    ])
    func patternsAreTranslatedAndEscaped(operation: String, value: String, pattern: String) throws {
        #expect(
            try parameters("surname \(operation) %@", .value(.string(value))) == [Parameter(.text, .string(pattern))])
    }

    @Test func injectionsStayValues() throws {
        let hostile = #"'; DROP TABLE person; -- \" $1 %@ %K"#
        #expect(try parameters("surname = %@", .value(.string(hostile))) == [Parameter(.text, .string(hostile))])
    }

    @Test func equalShapesHaveEqualTexts() throws {
        func text(_ format: String, _ arguments: ConditionArgument...) throws -> String {
            var query = SelectQuery(entity: try ConditionFixture.entity("person"))
            try query.narrow(by: Condition(format: format, arguments: arguments), in: ConditionFixture.schema)
            return try query.statement(in: ConditionFixture.schema).text.text
        }
        let lists: [[PostgresValue?]] = [[], [1], [1, 2, 3], [1.5]]
        #expect(try Set(lists.map { try text("age IN %@ AND surname LIKE %@", .list($0), .value("x")) }).count == 1)
        #expect(try text("age = %@", .value(1)) == text("age == 99999999999.5"))
    }
}
