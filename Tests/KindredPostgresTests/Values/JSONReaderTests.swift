import Foundation
import TestSupport
import Testing

@testable import KindredPostgres

/// The reader of JSON: accepted texts, refused texts with the place, and the number of looks at a byte.
@Suite struct JSONReaderTests {
    private static func read(_ text: String, _ limits: JSONLimits = JSONLimits()) throws -> JSONValue {
        try JSONDocument(Array(text.utf8), limits: limits).root
    }

    /// The place and the reason of a refusal; nil for a text that is read.
    private static func refusal(_ bytes: [UInt8], _ limits: JSONLimits = JSONLimits()) -> JSONSyntaxError? {
        do {
            _ = try JSONDocument(bytes, limits: limits)
            return nil
        } catch {
            return error
        }
    }

    /// The value in a form that can be compared: texts in quotes with their scalars, members in their order.
    private static func shown(_ value: JSONValue) -> String {
        switch value.content {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .number(let text): text
        case .string(let text): "<\(text)>"
        case .array(let elements): "[\(elements.map(shown).joined(separator: ","))]"
        case .object(let members): "{\(members.map { "<\($0.key)>:\(shown($0.value))" }.joined(separator: ","))}"
        }
    }

    @Test(arguments: [
        ("null", "null"), (" true\n", "true"), ("\t[ ]\r", "[]"), ("{ }", "{}"), ("-0", "-0"), ("1e999", "1e999"),
        ("[0.10,-1.5E+3,1e-400,12345678901234567890123]", "[0.10,-1.5E+3,1e-400,12345678901234567890123]"),
        (#"{"b" : [1 , {}], "a":null, "b":""}"#, "{<b>:[1,{}],<a>:null,<b>:<>}"),
        (#""\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC\uD83d\uDe00\uFFFF""#, "<\"\\/\u{8}\u{C}\n\r\tAé€😀\u{FFFF}>"),
        ("\"é€😀\u{7F}\u{2028}\u{10FFFF}\"", "<é€😀\u{7F}\u{2028}\u{10FFFF}>"), (#""\u0000""#, "<\0>"),
        (#"["\\","\\\"",["]"]]"#, #"[<\>,<\">,[<]>]]"#),
    ])
    func whatIsJSONIsRead(text: String, expected: String) throws {
        let value = try Self.read(text)
        #expect(Self.shown(value).unicodeScalars.elementsEqual(expected.unicodeScalars))
        // The text of the value is the same value.
        #expect(Self.shown(try Self.read(value.text)).unicodeScalars.elementsEqual(expected.unicodeScalars))
        #expect(value.text.utf8.count <= text.utf8.count)
    }

    @Test(arguments: [
        ("", 0), (" ", 1), ("nul", 0), ("nulll", 4), ("True", 0), ("NaN", 0), ("-Infinity", 1), ("'a'", 0), ("// a", 0),
        ("01", 0), ("-01", 0), ("1.", 2), (".5", 0), ("+1", 0), ("1e", 2), ("1e+", 3), ("0x1", 1), ("--1", 1),
        ("1 2", 2),
        ("[", 1), ("[1", 2), ("[1,]", 3), ("[,1]", 1), ("[1 2]", 3), ("[1}", 2), ("]", 0), ("[]]", 2), ("{\"a\"}", 4),
        ("{a: 1}", 1), ("{\"a\": 1,}", 8), ("{\"a\" 1}", 5), ("{\"a\":}", 5), ("{1: 2}", 1), ("{\"a\": 1]", 7),
        ("\"", 1), ("\"a", 2), ("\"\n\"", 1), ("\"a\u{1F}\"", 2), ("\"\0\"", 1), (#""\x""#, 1), (#""\"#, 1),
        (#""\u12g4""#, 1), (#""\u123"#, 1), (#""\ud800""#, 1), (#""\uDC00""#, 1), (#""a\ud800\u0041""#, 2),
        (#""\ud800\ud800""#, 1), ("\u{FEFF}1", 0), ("[1]\0", 3), ("[\u{A0}1]", 1),
    ])
    func whatIsNoneIsRefusedAtItsByte(text: String, offset: Int) {
        #expect(Self.refusal(Array(text.utf8))?.offset == offset)
    }

    @Test(
        arguments: [
            [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x9F, 0xBF], [0xED, 0xA0, 0x80], [0xF0, 0x8F, 0xBF, 0xBF],
            [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF], [0xC3], [0xE2, 0x82], [0xE2, 0x28, 0xA1],
            [0xF0, 0x9F, 0x98],
        ] as [[UInt8]])
    func whatIsNoUTF8IsRefused(bytes: [UInt8]) {
        let quote = UInt8(ascii: "\"")
        #expect(Self.refusal([quote] + bytes + [quote])?.offset == 1)
        #expect(Self.refusal([quote] + bytes)?.offset == 1)
        #expect(Self.refusal(bytes)?.offset == 0)
    }

    @Test func limitsAreKept() throws {
        var limits = JSONLimits()
        (limits.bytes, limits.depth) = (12, 2)
        #expect(try Self.shown(Self.read("[[],{}, [1]]", limits)) == "[[],{},[1]]")
        #expect(Self.refusal(Array("[[],{}, [1]] ".utf8), limits)?.offset == 12)
        #expect(Self.refusal(Array("[1, [[]]]".utf8), limits)?.offset == 5)
        #expect(try JSONDocument(Array("[{\"a\":[]},[1]]".utf8)).depth == 3)
    }

    @Test func equalKeysAreFoundByTheirBytes() throws {
        var strict = JSONLimits()
        strict.refusesEqualKeys = true
        // Few keys are compared with each other, and many by a table.
        for count in [1, 2, 15, 16, 17, 40, 1_000] {
            let members = (0..<count).map { "\"k\($0)\\n\":{}" }
            #expect(try Self.read("{\(members.joined(separator: ","))}", strict).kindName == "an object")
            for key in [0, count / 2, count - 1] {
                let text = "{\(members.joined(separator: ",")), \"\\u006B\(key)\\u000a\": 1}"
                let refusal = Self.refusal(Array(text.utf8), strict)
                #expect(refusal?.key == "k\(key)\n" && refusal?.offset == text.utf8.count - 18 - "\(key)".utf8.count)
                #expect(Self.refusal(Array(text.utf8)) == nil)
            }
        }
        #expect(try Self.read("{\"\u{E9}\":1,\"e\u{301}\":2}", strict).kindName == "an object")
        #expect(Self.refusal(Array(#"[{"":{"":1}},{"a":0,"b":[{"c":1,"c":1}]}]"#.utf8), strict)?.offset == 32)
    }

    @Test func randomTextsAreReadOrRefusedAsFoundationDoes() throws {
        var random = SeededGenerator(seed: 55)
        var count = 0
        for _ in 0..<20_000 {
            var bytes = Array(Self.text(3, &random).utf8)
            if random.chance(70) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                if random.chance(50) {
                    bytes.remove(at: place)
                } else {
                    bytes[place] = random.pick(Array("[]{},:\"\\u1-e. \u{1}".utf8))
                }
            }
            let text = String(decoding: bytes, as: UTF8.self)
            let object = try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
            let refusal = Self.refusal(bytes)
            // Foundation takes a comma behind the last element.
            let mayDiffer = object != nil && text.contains(/,\s*\]/)
            #expect((object == nil) == (refusal != nil) || mayDiffer, "\(text): \(refusal?.sentence ?? "read")")
            if object != nil { count += 1 }
        }
        #expect(count > 5_000 && count < 15_000)
    }

    /// A random document with blanks and escapes.
    private static func text(_ depth: Int, _ random: inout SeededGenerator) -> String {
        let blank = random.pick(["", "", " ", "\n\t"])
        func list(_ body: (inout SeededGenerator) -> String) -> String {
            (0..<Int.random(in: 0...3, using: &random)).map { _ in body(&random) }.joined(separator: "\(blank),")
        }
        switch Int.random(in: depth > 0 ? 0..<6 : 2..<6, using: &random) {
        case 0: return "[\(list { text(depth - 1, &$0) })\(blank)]"
        case 1: return "{\(list { "\(string(&$0)):\(blank)\(text(depth - 1, &$0))" })}\(blank)"
        case 2: return random.pick(["true", "false", "null"])
        case 3: return random.pick(["0", "-0", "12", "-1.50", "1e5", "2E-3", "0.1e+2"])
        default: return string(&random)
        }
    }

    private static func string(_ random: inout SeededGenerator) -> String {
        let parts = ["a", "é", "😀", "\\n", "\\\"", "\\\\", "\\/", "\\u00e9", "\\ud83d\\ude00", "[", "}"]
        return "\"\((0..<Int.random(in: 0...3, using: &random)).map { _ in random.pick(parts) }.joined())\""
    }

    /// Texts whose length is about so many times that of one part.
    private static let shapes: [(name: String, make: @Sendable (Int) -> String)] = [
        ("arrays", { String(repeating: "[", count: $0) + String(repeating: "]", count: $0) }),
        ("objects", { String(repeating: "{\"a\":", count: $0) + "1" + String(repeating: "}", count: $0) }),
        ("open arrays", { String(repeating: "[", count: $0) }), ("digits", { String(repeating: "7", count: $0) }),
        ("numbers", { "[\(String(repeating: "1.5e3,", count: $0))0]" }),
        ("text", { "\"\(String(repeating: "aé😀\\n\\u00e9\\ud83d\\ude00", count: $0))\"" }),
        ("open text", { "[\"\(String(repeating: "\\\\", count: $0))" }),
        ("keys", { "{\((0..<$0).map { "\"\($0)\":0" }.joined(separator: ","))}" }),
        ("escaped keys", { "{\((0..<$0).map { "\"\\u0061\($0)\":0" }.joined(separator: ","))}" }),
        (
            "equal spellings",
            { count in
                // All of one hash, as strings.
                let keys = (0..<count).map { number in
                    "\"" + (0..<12).map { number >> $0 & 1 == 0 ? "\u{E9}" : "e\u{301}" }.joined() + "\":0"
                }
                return "{\(keys.joined(separator: ","))}"
            }
        ),
        ("small objects", { "[\(String(repeating: #"{"a":1,"b":{},"c":[2]},"#, count: $0))0]" }),
        ("blanks", { "[\(String(repeating: " \n", count: $0))]" }),
    ]

    @Test(arguments: shapes.indices) func eachByteIsLookedAtAFewTimes(shape: Int) throws {
        let (name, make) = Self.shapes[shape]
        var limits = JSONLimits()
        limits.refusesEqualKeys = true
        let counts = [500, 1_000, 4_000].map { size -> Double in
            let bytes = CountedBytes(Array(make(size).utf8))
            var reader = JSONReader(bytes, limits: limits)
            try? reader.read()
            return Double(bytes.looks.count) / Double(bytes.count)
        }
        // The share of keys, which are looked at more often, grows with their digits.
        #expect(counts.allSatisfy { $0 < 12 } && counts[2] < counts[0] * 1.3 + 0.1, "\(name): \(counts)")
    }

    @Test func deepDocumentsNeedNoStack() async throws {
        try await onASmallStack {
            for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
                let text = String(repeating: open, count: 200_000) + "1" + String(repeating: close, count: 200_000)
                let document = try JSONDocument(Array(text.utf8))
                #expect(document.depth == 200_000 && document.root.text == text)
                #expect(throws: EncodingError.self) {
                    try JSONEncoder().encode([PostgresValue.json(PostgresJSON(text: text))])
                }
                let deepest = String(repeating: open, count: 400) + "1" + String(repeating: close, count: 400)
                let data = try JSONEncoder().encode(["d": PostgresValue.json(PostgresJSON(text: deepest))])
                #expect(String(decoding: data, as: UTF8.self) == "{\"d\":\(deepest)}")
            }
        }
    }

    @Test func aDocumentThatCannotBeWrittenIsNamed() throws {
        let deep = String(repeating: "[", count: 401) + String(repeating: "]", count: 401)
        for (text, part) in [
            (deep, "deeper than 400"), (#"["s3cr3t", 01]"#, "at byte 11"), (#""\ud800""#, "surrogate"),
        ] {
            let values = ["a": PostgresValue.json(PostgresJSON(text: "[1]")), "doc": .json(PostgresJSON(text: text))]
            do {
                _ = try JSONEncoder().encode([values])
                Issue.record("\(text.prefix(20)) was written")
            } catch EncodingError.invalidValue(let value, let context) {
                #expect(context.codingPath.last?.stringValue == "doc" && context.debugDescription.contains(part))
                #expect(!"\(value) \(context)".contains("s3cr3t"))
            }
        }
    }

    @Test(arguments: [
        (#"[1,-0,9223372036854775807,9223372036854775808]"#, "[1,-0,9223372036854775807,9223372036854775808]"),
        (#"[2.50,0.1,1e300,1e-7,0e5]"#, "[2.5,0.1,1e+300,1e-07,0]"),
        (
            #"[0.12345678901234567890123456789,1e400,-1e400,1e-400]"#,
            #"[0.12345678901234567890123456789,"1e400","-1e400","1e-400"]"#
        ),
        (#"{"a":{"x":1},"a":{"y":[]},"b":{},"b":2}"#, #"{"a":{"y":[]},"b":2}"#),
        (#"{"aB":{"c_d":[{}]},"a_b":[]}"#, #"{"aB":{"c_d":[{}]},"a_b":[]}"#),
        (#"[[],[[]],{},"\u00e9\n"]"#, #"[[],[[]],{},"é\n"]"#),
    ])
    func documentsAreWrittenByAnyEncoder(text: String, expected: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let value = PostgresValue.json(PostgresJSON(text: text))
        #expect(String(decoding: try encoder.encode(value), as: UTF8.self) == expected)
        // Keys that this makes one must not end the process.
        encoder.keyEncodingStrategy = .convertToSnakeCase
        #expect(try !encoder.encode([value]).isEmpty)
    }

    private func onASmallStack(_ body: @escaping @Sendable () throws -> Void) async throws {
        let result = await withCheckedContinuation { continuation in
            let thread = Thread { continuation.resume(returning: Result { try body() }) }
            // The stack of a thread of the concurrency runtime on macOS.
            thread.stackSize = 512 * 1024
            thread.start()
        }
        try result.get()
    }
}

/// Bytes that count how often one is looked at.
private struct CountedBytes: RandomAccessCollection {
    final class Looks {
        var count = 0
    }

    let looks = Looks()
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var startIndex: Int { 0 }
    var endIndex: Int { bytes.count }

    subscript(position: Int) -> UInt8 {
        looks.count += 1
        return bytes[position]
    }
}
