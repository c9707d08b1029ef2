import Testing

@testable import Kindred

@Suite struct FormatLexerTests {
    private func kinds(_ format: String) throws -> [FormatToken.Kind] {
        try FormatLexer.tokens(of: format).map(\.kind).dropLast()
    }

    @Test(
        arguments: [
            ("a.b == 'x'", [.word("a"), .symbol(.dot), .word("b"), .symbol(.equal), .string("x")]),
            ("a=<5", [.word("a"), .symbol(.lessOrEqual), .integer(5)]),
            ("a=>5", [.word("a"), .symbol(.greaterOrEqual), .integer(5)]),
            ("a<>.5", [.word("a"), .symbol(.notEqual), .decimal("0.5")]),
            ("1.5e-3 2E+4 3e5", [.decimal("1.5e-3"), .decimal("2e4"), .decimal("3e5")]),
            ("9223372036854775808", [.decimal("9223372036854775808")]),
            ("%@ %K %d %lld %f %s", [.any, .keyPath, .integer, .integer, .number, .string].map { .placeholder($0) }),
            ("größe_1 #true @count", [.word("größe_1"), .key("true"), .collectionOperator("count")]),
            (#"'it\'s' "\u00e9\\\n""#, [.string("it's"), .string("é\\\n")]),
            ("'%@ {'", [.string("%@ {")]),
            ("a&&b||!c", [.word("a"), .symbol(.and), .word("b"), .symbol(.or), .symbol(.not), .word("c")]),
            (
                "[cd]{}(,)**",
                ([.leftBracket] as [FormatToken.Symbol]).map { .symbol($0) } + [.word("cd")]
                    + [.rightBracket, .leftBrace, .rightBrace, .leftParenthesis, .comma, .rightParenthesis, .power].map
                { .symbol($0) }
            ),
        ] as [(String, [FormatToken.Kind])])
    func textIsCutIntoTokens(format: String, expected: [FormatToken.Kind]) throws {
        #expect(try kinds(format) == expected)
    }

    @Test func positionsCountCharactersFromOne() throws {
        #expect(try FormatLexer.tokens(of: "ü = %@").map(\.position) == [1, 3, 5, 7])
    }

    @Test(arguments: [
        ("a == 'x", 6), (#"'a\q'"#, 4), (#"'\ud800'"#, 8), (#"'\u12"#, 6), ("a ~ b", 3), ("12ab", 3), ("%y", 2),
        ("%l@", 3), ("%", 2), ("$", 2), ("#", 2), ("@", 2), ("a\0b", 2), ("'\\", 3),
    ])
    func whatCannotBeReadIsNamedWithItsPlace(format: String, position: Int) throws {
        let error = try #require(throws: KindredError.self) { try FormatLexer.tokens(of: format) }
        #expect(error.code == .invalidCondition)
        #expect(error.message.contains("at character \(position):"), "\(error)")
    }

    @Test func longFormatsAreRefused() {
        let format = String(repeating: "a", count: FormatLexer.maximumBytes + 1)
        #expect(throws: KindredError.self) { try FormatLexer.tokens(of: format) }
    }
}
