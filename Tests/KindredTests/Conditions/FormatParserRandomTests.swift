import KindredPostgres
import Testing

@testable import Kindred

/// Throws anything at the parser and the renderer: each format is either understood or an error, and never ends the
/// process.
@Suite struct FormatParserRandomTests {
    private static let pieces = [
        "age", "surname", "emailSet", "manager", "titles", "address", "SELF", "tags", "mood", "ANY", "ALL", "NONE",
        "AND",
        "OR", "NOT", "==", "!=", "<", ">=", "BETWEEN", "IN", "LIKE", "MATCHES", "CONTAINS", "BEGINSWITH", "[c]", "[d]",
        "{",
        "}", "(", ")", ",", ".", "@count", "%@", "%K", "%d", "%f", "nil", "TRUE", "'x*'", "\"é\"", "5", "1.5e3", "-",
        "+",
        "*", "/", "**", "!", "&&", "||", "TRUEPREDICATE", "#in", "$v", "\\", "\u{0}", "%", "9223372036854775808", "\n",
    ]
    private static let arguments: [ConditionArgument] = [
        .null, .value("x"), .value(5), .value(.double(.nan)), .value(true), .list([1, nil]), .list(["a"]), .list([]),
        .object(FakeObject("person", ["id": 1])), .object(FakeObject("email", [:])),
        .objects([FakeObject("email", ["id": 1])]), .value("manager.age"), .value(.numeric(.notANumber)),
    ]

    @Test func randomFormatsNeverTrap() throws {
        var generator = SystemRandomNumberGenerator()
        var understood = 0
        for _ in 0..<20_000 {
            let count = Int.random(in: 0..<14, using: &generator)
            var format = (0..<count).map { _ in Self.pieces.randomElement(using: &generator) ?? "" }.joined(
                separator: " ")
            if Bool.random(using: &generator) {
                // Something that begins well.
                let operators = ["=", "!=", "<", "IN", "LIKE", "CONTAINS", "BETWEEN", "+ 1 =", "==[c]"]
                let keys = [
                    "age", "surname", "ANY emailSet", "ANY emailSet.size", "manager", "tags", "SELF", "titles.@count",
                ]
                let key = keys.randomElement(using: &generator) ?? ""
                format =
                    "\(key) \(operators.randomElement(using: &generator) ?? "") \(["%@", "5", "'x'", "{1,2}"].randomElement(using: &generator) ?? "") \(format)"
            }
            let wanted = format.split(separator: "%").count - 1
            let arguments = (0..<max(0, wanted)).map { _ in Self.arguments.randomElement(using: &generator) ?? .null }
            do {
                var query = SelectQuery(entity: try ConditionFixture.entity("person"))
                try query.narrow(by: Condition(format: format, arguments: arguments), in: ConditionFixture.schema)
                _ = try query.statement(in: ConditionFixture.schema)
                understood += 1
            } catch let error as KindredError {
                #expect([.invalidCondition, .unknownKey, .wrongType].contains(error.code), "\(format): \(error)")
            }
        }
        #expect(understood > 0)
    }

    @Test func randomBytesNeverTrap() throws {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<5_000 {
            let bytes = (0..<Int.random(in: 0..<60, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            let format = String(decoding: bytes, as: UTF8.self)
            // Now and then they are a condition, such as `b<z`.
            do {
                _ = try Condition(format: format, arguments: [])
            } catch let error as KindredError {
                #expect(error.code == .invalidCondition, "\(format): \(error)")
            }
        }
    }
}
