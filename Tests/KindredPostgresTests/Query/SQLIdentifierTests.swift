import KindredPostgres
import Testing

@Suite struct SQLIdentifierTests {
    @Test(arguments: [
        ("person", #""person""#), ("Person", #""Person""#), ("select", #""select""#), ("a\"b", #""a""b""#),
        ("\"", #""""""#),
        (" ", #"" ""#), ("a.b", #""a.b""#), ("$1", #""$1""#), ("'", #""'""#), ("\\", #""\""#), ("--", #""--""#),
        ("a\nb", "\"a\nb\""), ("ctid", #""ctid""#), ("e\u{301}", "\"e\u{301}\""), ("\u{301}", "\"\u{301}\""),
        ("\u{202E}x", "\"\u{202E}x\""), ("😀", "\"😀\""), ("\"\u{301}", "\"\"\"\u{301}\""),
    ])
    func namesAreQuotedAsTheyAre(name: String, quoted: String) throws {
        #expect(try Array(SQLIdentifier.quote(name).utf8) == Array(quoted.utf8))
    }

    @Test func namesThatPostgreSQLWouldCutAreErrors() throws {
        #expect(try SQLIdentifier.quote(String(repeating: "x", count: 63)).utf8.count == 65)
        for name in [
            "", "\u{0}", "a\u{0}b", String(repeating: "x", count: 64), String(repeating: "é", count: 32),
            String(repeating: "\"", count: 64),
        ] {
            let error = expectError(.invalidParameter) { try SQLIdentifier.quote(name) }
            #expect(error?.message.contains("identifier") == true)
        }
        #expect(throws: Never.self) { try SQLIdentifier.quote(String(repeating: "é", count: 31)) }
    }
}
