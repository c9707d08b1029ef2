import Foundation
import Kindred
import KindredTesting
import TestSupport
import Testing

@testable import KindredModelImport

/// Regular expressions of ICU in PostgreSQL's syntax: a translated pattern matches the same texts.
@Suite struct PatternTranslationTests {
    @Test(arguments: [
        ("[A-Z]{2}-\\d+", "^(?:[A-Z]{2}-\\d+)$"), ("a.c", "^(?:a[^\\n\\r]c)$"), ("\\bword\\b", "^(?:\\yword\\y)$"),
        ("[-a^]", "^(?:[\\-a\\^])$"), ("(?:a|b)*?", "^(?:(?:a|b)*?)$"), ("\\u00e9", "^(?:\\u00e9)$"),
    ])
    func whatBothHaveIsTranslated(_ pattern: String, _ wanted: String) throws {
        #expect(try PatternTranslation.translate(pattern) == wanted)
    }

    @Test(arguments: [
        "(?i)a", "a++", "(?<name>a)", "\\p{L}", "[a-z&&[b]]", "[[a]b]", "(a", "a)", "*a", "a{2", "a{300}", "\\Qa\\E",
        "[z-a]",
        "a{2}{3}", "\\1", "[]", "(?>a)", "((((a{200}){200}){200}){200})", "(?=a)*", "[a", "\\", "\u{1}", "^*",
        "[\\d-z]",
    ])
    func theRestIsRefused(_ pattern: String) {
        #expect(throws: PatternTranslation.Failure.self) { try PatternTranslation.translate(pattern) }
    }

    @Test(.database) func randomExpressionsMatchTheSameTexts() async throws {
        var random = SeededGenerator(seed: 31)
        try await withClient { client in
            var compared = 0
            for _ in 0..<250 {
                let pattern = Self.pattern(3, &random)
                guard let translated = try? PatternTranslation.translate(pattern),
                    (try? NSRegularExpression(pattern: pattern)) != nil
                else { continue }
                // MATCHES wants the whole text, also where an earlier alternative would match a part.
                let whole = try NSRegularExpression(pattern: "\\A(?:\(pattern))\\z")
                let texts = (0..<8).map { _ in
                    String((0..<Int.random(in: 0...5, using: &random)).map { _ in random.pick(Array("ab1-. Bé\n")) })
                }
                let rows = try await client.query(
                    "SELECT t ~ \(translated) FROM unnest(\(texts)::text[]) WITH ORDINALITY AS u(t, n) ORDER BY n")
                for (text, row) in zip(texts, rows) {
                    let range = NSRange(text.startIndex..., in: text)
                    let matches = whole.firstMatch(in: text, range: range) != nil
                    #expect(
                        try row.decode(0, as: Bool.self) == matches, "\(pattern) \(translated) \(text.debugDescription)"
                    )
                    compared += 1
                }
            }
            #expect(compared > 500)
        }
    }

    private static func pattern(_ depth: Int, _ random: inout SeededGenerator) -> String {
        let atoms = [
            "a", "b", "1", "-", "\\.", ".", "\\d", "\\w", "\\s", "\\D", "[ab]", "[^a]", "[a-b1]", "[\\d-]", "[-b]", "é",
            "\\b", "^",
            "$", "[[:alpha:]]", "\\u00e9", " ", "[^\\w]", "\\-", "(?=a)", "(?!b)", "#", "]",
        ]
        var text = ""
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            if depth > 0, random.once(in: 4) {
                text += random.pick(["(", "(?:"]) + pattern(depth - 1, &random) + ")"
            } else {
                text += random.pick(atoms)
            }
            if random.once(in: 3) { text += random.pick(["*", "+", "?", "{2}", "{1,3}", "{0,}", "*?", "+?"]) }
            if random.once(in: 8) { text += "|" }
        }
        return text
    }
}
