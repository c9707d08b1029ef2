import KindredPostgres
import KindredSchema
import Testing

@testable import Kindred

/// A value that the server would refuse for its size is refused before it is sent, and no other value is.
@Suite struct AttributeLimitsTests {
    @Test(arguments: [
        ("999.99", 2, 3), ("999.994", 2, 3), ("999.995", 2, 4), ("-999.995", 2, 4), ("0.004", 2, 0), ("0", 2, 0),
        ("0.999", 2, 1), ("0.099", 2, 0), ("1234", -2, 4), ("9950", -2, 5), ("49", -2, 0), ("12345", 0, 5),
        ("99999.5", 0, 6), ("NaN", 2, 0), ("Infinity", 2, Int.max), ("-Infinity", 2, Int.max), ("1000", 2, 4),
        ("50", -2, 3),
    ])
    func wholeDigitsAreCountedAfterRounding(text: String, scale: Int, digits: Int) {
        #expect(AttributeLimits.wholeDigits(text, roundedTo: scale) == digits, "\(text)")
    }

    @Test(arguments: [
        ("1.25", 4, 1, false), ("1.20", 4, 1, true), ("1", 4, 1, true), ("0.001", 4, 2, false), ("1250", 4, -2, false),
        ("1200", 4, -2, true), ("NaN", 4, 1, true), ("-3.14159", 9, 5, true), ("-3.141592", 9, 5, false),
        ("0.00012", 2, 5, true), ("0.000123", 2, 5, false),
    ])
    func digitsBehindThePointAreNoMoreThanTheColumnHas(text: String, precision: Int, scale: Int, fits: Bool) throws {
        let attribute = Attribute(
            name: "n", number: 1, typeName: "numeric", type: .numeric, numericPrecision: precision, numericScale: scale)
        let limits = try #require(AttributeLimits(attribute, column: 0))
        let number = try #require(PostgresNumeric(text))
        #expect(limits.problem(.numeric(number)).map(\.code) == (fits ? nil : .valueTooLarge), "\(text)")
        let array = PostgresArray(elementType: .numeric, elements: [nil, .numeric(number)])
        #expect((limits.problem(.array(array)) == nil) == fits)
    }

    @Test func floatsAreNumbersToo() throws {
        let attribute = Attribute(
            name: "n", number: 1, typeName: "numeric", type: .numeric, numericPrecision: 4, numericScale: 1)
        let limits = try #require(AttributeLimits(attribute, column: 0))
        #expect(limits.problem(.float(1.25))?.code == .valueTooLarge && limits.problem(.float(0.1)) == nil)
        #expect(limits.problem(.double(1.25))?.code == .valueTooLarge && limits.problem(.double(0.1)) == nil)
        #expect(limits.problem(.integer(12_345))?.code == .valueTooLarge && limits.problem(.integer(123)) == nil)
    }

    @Test func lengthsAreCountedInCharactersWithoutSpacesPastTheEnd() throws {
        let attribute = Attribute(
            name: "code", number: 1, typeName: "character varying(3)", type: .varchar, maximumLength: 3)
        let limits = try #require(AttributeLimits(attribute, column: 0))
        #expect(limits.problem("abc") == nil && limits.problem("abc   ") == nil && limits.problem("äöü") == nil)
        #expect(limits.problem("abcd")?.code == .valueTooLarge)
        #expect(limits.problem("e\u{301}e\u{301}")?.code == .valueTooLarge)
    }

    @Test func labelsMustBelongToTheEnum() throws {
        let attribute = Attribute(
            name: "mood", number: 1, typeName: "mood", type: PostgresDataType(rawValue: 99_999), enumLabels: ["happy"])
        let limits = try #require(AttributeLimits(attribute, column: 0))
        #expect(limits.problem("happy") == nil)
        #expect(limits.problem("sad")?.code == .unknownLabel)
        let array = PostgresArray(elementType: .text, elements: ["happy", nil, "sad"])
        #expect(limits.problem(.array(array))?.code == .unknownLabel)
    }
}
