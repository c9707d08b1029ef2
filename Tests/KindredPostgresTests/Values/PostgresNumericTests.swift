import Foundation
import KindredPostgres
import TestSupport
import Testing

@Suite struct PostgresNumericTests {
    @Test(arguments: [
        ("0", "0"), ("-0", "0"), ("-0.00", "0.00"), ("007", "7"), ("+5", "5"), (".5", "0.5"), ("5.", "5"),
        ("1e3", "1000"), ("1.5e1", "15"), ("1.50e1", "15.0"), ("1e-3", "0.001"), ("-12.5E+2", "-1250"),
        ("10000", "10000"), ("100000000", "100000000"), ("0.0001", "0.0001"), ("0.00001", "0.00001"),
        ("12345.6789", "12345.6789"), ("9999.9999", "9999.9999"), ("0e0", "0"), ("0e99", "0"), ("0.0e-2", "0.000"),
        ("NaN", "NaN"), ("nan", "NaN"), ("Infinity", "Infinity"), ("-infinity", "-Infinity"), ("1E0", "1"),
    ])
    func textsAreReadAsTheServerReadsThem(text: String, description: String) throws {
        #expect(try #require(PostgresNumeric(text)).description == description)
    }

    @Test func numbersOfJSONAreReadAsTheyAreWritten() throws {
        struct Line: Decodable {
            let price: PostgresNumeric
            let others: [PostgresNumeric?]
        }
        let text = #"{"price": 0.1, "others": [12345678901234567890.123456789, "1.50", -7, 1e3, null, "NaN"]}"#
        let line = try JSONDecoder().decode(Line.self, from: Data(text.utf8))
        #expect(line.price.description == "0.1")
        #expect(
            line.others.map { $0?.description } == [
                "12345678901234567890.123456789", "1.50", "-7", "1000", nil, "NaN",
            ])
        for wrong in ["true", "\"x\"", "[]", "{}", "null"] {
            #expect(throws: DecodingError.self) {
                try JSONDecoder().decode(PostgresNumeric.self, from: Data(wrong.utf8))
            }
        }
        // More digits than a decimal can hold.
        for count in [38, 39, 45] {
            let digits = String(String(repeating: "123456789", count: 5).prefix(count))
            for long in [digits, "-\(digits)", "0.\(digits)"] {
                let plain = try JSONDecoder().decode(PostgresNumeric.self, from: Data(long.utf8))
                #expect(plain.description == long)
                let quoted = try JSONDecoder().decode(PostgresNumeric.self, from: Data("\"\(long)\"".utf8))
                #expect(quoted.description == long)
            }
        }
        let longest = String(String(repeating: "123456789", count: 5).prefix(37))
        #expect(
            try JSONDecoder().decode(PostgresNumeric.self, from: Data("-\(longest)e-9".utf8))
                == PostgresNumeric("-\(longest)e-9"))
        let written = try JSONEncoder().encode([PostgresNumeric(0.1)])
        #expect(String(decoding: written, as: UTF8.self) == #"["0.1"]"#)
    }

    @Test(arguments: [
        "", " ", "-", ".", "e5", "1e", "1e+", "1e+-5", "1.2.3", "1,5", "1 000", " 1", "1 ", "0x10", "1_000", "--1",
        "+-1",
        "１", "1e1e1", "∞", "inf", "1\u{0}", "-NaN",
    ])
    func otherTextsAreNone(text: String) {
        #expect(PostgresNumeric(text) == nil)
    }

    @Test func whatPostgreSQLCannotHoldIsNone() throws {
        #expect(PostgresNumeric("1e131071")?.description.count == 131_072)
        #expect(PostgresNumeric("1e131072") == nil)
        #expect(PostgresNumeric(String(repeating: "9", count: 131_072)) != nil)
        #expect(PostgresNumeric(String(repeating: "9", count: 131_073)) == nil)
        #expect(PostgresNumeric("0." + String(repeating: "1", count: 16_383))?.scale == 16_383)
        #expect(PostgresNumeric("0." + String(repeating: "1", count: 16_384)) == nil)
        #expect(PostgresNumeric("1e-16383") != nil)
        #expect(PostgresNumeric("1e-16384") == nil)
        #expect(PostgresNumeric("1e99999999999999999999999") == nil)
        #expect(PostgresNumeric("1e-99999999999999999999999") == nil)
        // Zeros before the first digit count for nothing.
        #expect(PostgresNumeric(String(repeating: "0", count: 140_000) + "1")?.description == "1")
    }

    @Test func theLargestComesBackInBinaryForm() throws {
        let text = String(repeating: "9", count: 131_072) + "." + String(repeating: "9", count: 16_383)
        let number = try #require(PostgresNumeric(text))
        var bytes: [UInt8] = []
        _ = try Codec.encode(.numeric(number), as: .numeric, into: &bytes)
        let back = try decoded(bytes, .numeric)
        #expect(back == .numeric(number) && back.description == text)
    }

    @Test func randomNumbersAgreeWithDigitsByHand() throws {
        var generator = SeededGenerator(seed: 4)
        var numbers: [(number: PostgresNumeric, reference: Reference)] = []
        for _ in 0..<5000 {
            let reference = Reference(&generator)
            let number = try #require(PostgresNumeric(reference.text), "\(reference.text)")
            #expect(number.description == reference.description, "\(reference.text)")
            #expect(number.scale == reference.fraction.count)
            numbers.append((number, reference))
        }
        for (left, right) in zip(numbers, numbers.shuffled(using: &generator)) {
            #expect((left.number == right.number) == (left.reference.compare(right.reference) == 0))
            #expect((left.number < right.number) == (left.reference.compare(right.reference) < 0))
            if left.number == right.number { #expect(left.number.hashValue == right.number.hashValue) }
            #expect(left.number.normalized == left.number)
            #expect(!left.number.normalized.description.hasSuffix("0") || left.number.normalized.scale == 0)
        }
    }

    @Test func specialValuesAreOrderedAsTheServerOrdersThem() {
        let ordered: [PostgresNumeric] = [.negativeInfinity, -5, 0, 5, .infinity, .notANumber]
        #expect(ordered.shuffled().sorted() == ordered)
        #expect(PostgresNumeric.notANumber == .notANumber && !PostgresNumeric.notANumber.isFinite)
    }

    @Test func integersAreExactOrNothing() throws {
        #expect(try Int64(exactly: #require(PostgresNumeric("9223372036854775807"))) == .max)
        #expect(try Int64(exactly: #require(PostgresNumeric("-9223372036854775808"))) == .min)
        #expect(try Int64(exactly: #require(PostgresNumeric("9223372036854775808"))) == nil)
        #expect(try UInt64(exactly: #require(PostgresNumeric("18446744073709551615"))) == .max)
        #expect(try Int8(exactly: #require(PostgresNumeric("-128.000"))) == -128)
        #expect(try Int8(exactly: #require(PostgresNumeric("128"))) == nil)
        #expect(try Int(exactly: #require(PostgresNumeric("0.5"))) == nil)
        #expect(try Int(exactly: #require(PostgresNumeric("1e4"))) == 10_000)
        #expect(try Int(exactly: #require(PostgresNumeric("1e131071"))) == nil)
        #expect(try UInt(exactly: #require(PostgresNumeric("-1"))) == nil)
        #expect(Int(exactly: PostgresNumeric.notANumber) == nil && Int(exactly: PostgresNumeric.infinity) == nil)
        #expect(PostgresNumeric(UInt64.max).description == "18446744073709551615")
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<2000 {
            let integer = generator.integer(Int64.self)
            #expect(Int64(exactly: PostgresNumeric(integer)) == integer)
        }
    }

    @Test func decimalsAreExactOrNothing() throws {
        for text in ["0", "12.50", "-0.0001", "1e100", "1e-100", "99999999999999999999999999999999999999", "1e127"] {
            let number = try #require(PostgresNumeric(text))
            let decimal = try #require(Decimal(exactly: number), "\(text)")
            #expect(PostgresNumeric(decimal) == number, "\(text)")
        }
        for text in ["1e200", "1e-200", "1234567890123456789012345678901234567890.5", "NaN", "Infinity"] {
            #expect(try Decimal(exactly: #require(PostgresNumeric(text))) == nil, "\(text)")
        }
        var generator = SeededGenerator(seed: 6)
        for _ in 0..<2000 {
            let number = RandomValue.numeric(&generator)
            if let decimal = Decimal(exactly: number) { #expect(PostgresNumeric(decimal) == number, "\(number)") }
        }
    }

    @Test func doublesAreTheShortestNumber() {
        #expect(PostgresNumeric(0.1).description == "0.1")
        #expect(PostgresNumeric(1e22).description == "1" + String(repeating: "0", count: 22))
        #expect(PostgresNumeric(Double.leastNonzeroMagnitude).scale == 324)
        #expect(PostgresNumeric(Double.nan) == .notANumber && PostgresNumeric(-Double.infinity) == .negativeInfinity)
        #expect(PostgresNumeric(Float(0.1)).description == "0.1")
        #expect(PostgresNumeric("1e400").map { Double($0) } == .infinity)
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<2000 {
            let double = RandomValue.double(&generator)
            #expect(Double(PostgresNumeric(double)) == double || double.isNaN, "\(double)")
        }
    }
}

/// A number as plain digits, compared digit by digit.
private struct Reference {
    var isNegative: Bool
    var integral: String
    var fraction: String

    init(_ generator: inout SeededGenerator) {
        func digits(_ count: Int, _ generator: inout SeededGenerator) -> String {
            String((0..<count).map { _ in generator.once(in: 2) ? "0" : generator.pick(Array("0123456789")) })
        }
        isNegative = Bool.random(using: &generator)
        integral = digits(Int.random(in: 1...12, using: &generator), &generator)
        fraction = digits(Int.random(in: 0...12, using: &generator), &generator)
    }

    var text: String { "\(isNegative ? "-" : "")\(integral)\(fraction.isEmpty ? "" : ".")\(fraction)" }

    var isZero: Bool { (integral + fraction).allSatisfy { $0 == "0" } }

    var description: String {
        let shown = integral.drop { $0 == "0" }
        let sign = isNegative && !isZero ? "-" : ""
        return "\(sign)\(shown.isEmpty ? "0" : shown)\(fraction.isEmpty ? "" : ".")\(fraction)"
    }

    func compare(_ other: Reference) -> Int {
        let (left, right) = (padded, other.padded)
        let magnitude = left == right ? 0 : left < right ? -1 : 1
        switch (isNegative && !isZero, other.isNegative && !other.isZero) {
        case (false, false): return magnitude
        case (true, true): return -magnitude
        case (true, false): return -1
        case (false, true): return 1
        }
    }

    private var padded: String {
        String(repeating: "0", count: 12 - integral.count) + integral + fraction
            + String(repeating: "0", count: 12 - fraction.count)
    }
}
