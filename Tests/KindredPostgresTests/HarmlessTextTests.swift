import HarmlessText
import Testing

@Suite struct HarmlessTextTests {
    @Test(arguments: [
        ("plain", "plain"), ("größer – 名前 😀 e\u{301}", "größer – 名前 😀 e\u{301}"),
        ("\0\t\n\r\u{1B}", #"\u{0}\u{9}\u{A}\u{D}\u{1B}"#),
        ("\u{7F}\u{80}\u{9F}\u{A0}", "\\u{7F}\\u{80}\\u{9F}\u{A0}"), ("\r\n", #"\u{D}\u{A}"#),
        (
            "\u{202A}\u{202E}\u{2066}\u{2069}\u{200E}\u{200F}\u{61C}",
            #"\u{202A}\u{202E}\u{2066}\u{2069}\u{200E}\u{200F}\u{61C}"#
        ),
        ("\u{2027}\u{2028}\u{2029}\u{202F}\u{2065}\u{206A}", "\u{2027}\\u{2028}\\u{2029}\u{202F}\u{2065}\u{206A}"),
        (#"\u{1B}"#, #"\u{1B}"#),
    ])
    func whatCommandsIsWrittenOut(text: String, expected: String) {
        #expect(text.harmless.unicodeScalars.elementsEqual(expected.unicodeScalars))
        #expect(expected.harmless == expected)
    }

    @Test func linesAreIndentedButTheFirst() {
        #expect("a\n\tb\u{1B}\r\nc".harmlessLines() == "a\n    \tb\\u{1B}\\u{D}\n    c")
        #expect("a\nb".harmlessLines(indentation: "") == "a\nb")
    }
}
