import Kindred
import KindredTesting
import TestSupport
import Testing

/// Arithmetic with random numbers, compared digit by digit with what the server gives.
@Suite(.database) struct NumericArithmeticTests {
    private static func number(_ generator: inout SeededGenerator) -> PostgresNumeric {
        // Numbers whose digits are nines, ones or zeros are where carries and guesses go wrong.
        guard generator.once(in: 3) else { return RandomValue.numeric(&generator) }
        func digits(_ count: Int) -> String {
            String((0..<count).map { _ in generator.pick(Array("0009999951")) })
        }
        let text =
            digits(Int.random(in: 1...24, using: &generator)) + "." + digits(Int.random(in: 1...24, using: &generator))
        return PostgresNumeric((generator.once(in: 2) ? "-" : "") + text) ?? 0
    }

    @Test func resultsAreThoseOfTheServer() async throws {
        try await withDatabase { (database, context, other) async throws in
            var generator = SeededGenerator(seed: 30)
            for _ in 0..<20 {
                let left = (0..<250).map { _ in Self.number(&generator) }
                let right = (0..<250).map { _ in Self.number(&generator) }
                let scales = (0..<250).map { _ in Int.random(in: -30...40, using: &generator) }
                let rows = try await context.query(
                    """
                    SELECT (a + b)::text, (a - b)::text, (a * b)::text, CASE WHEN b <> 0 THEN (a / b)::text END,
                        CASE WHEN b <> 0 THEN (a % b)::text END, round(a, s::integer)::text, (-a)::text, abs(a)::text
                    FROM unnest(\(left), \(right), \(scales)) WITH ORDINALITY AS t (a, b, s, place) ORDER BY place
                    """)
                try #require(rows.count == 250)
                for (place, row) in rows.enumerated() {
                    let (a, b) = (left[place], right[place])
                    let results = [
                        a + b, a - b, a * b, a / b, a % b, a.rounded(toScale: scales[place]), -a, a.magnitude,
                    ]
                    for (column, result) in results.enumerated() {
                        // Division by zero is an error of the server's, and NaN here.
                        let expected = try row.decode(column, as: String.self) ?? "NaN"
                        #expect(result.description == expected, "operation \(column) of \(a) and \(b)")
                    }
                }
            }
        }
    }

    @Test func literalsAndCompoundAssignmentsWork() {
        var price: PostgresNumeric = 0.99
        #expect(price.description == "0.99" && price * 2 == 1.98 && 3 - price == 2.01)
        price *= 3
        price += 0.03
        price -= 1
        price /= 4
        #expect(price.description == "0.50000000000000000000" && price == 0.5)
        #expect([0.1, 0.2, 0.3].reduce(0, +) == (0.6 as PostgresNumeric))
        #expect((2.345 as PostgresNumeric).rounded(toScale: 2).description == "2.35")
        #expect((-2.345 as PostgresNumeric).rounded(toScale: 2).description == "-2.35")
        #expect(
            abs(-1.5 as PostgresNumeric) == 1.5
                && PostgresNumeric(exactly: Int64.min)?.description == "-9223372036854775808")
    }

    @Test func specialValuesAndLimitsNeverTrap() {
        let (nan, infinity) = (PostgresNumeric.notANumber, PostgresNumeric.infinity)
        #expect((1 / (0 as PostgresNumeric)).isNaN && (infinity / 0).isNaN && (1 % (0 as PostgresNumeric)).isNaN)
        #expect((infinity - infinity).isNaN && infinity + infinity == infinity && (infinity * 0).isNaN)
        #expect(
            infinity * -1 == .negativeInfinity && 5 / infinity == 0 && (infinity / infinity).isNaN && 5 % infinity == 5)
        #expect((nan + 1).isNaN && (nan * 0).isNaN && (nan / 0).isNaN && nan.rounded(toScale: 1).isNaN)
        let huge = PostgresNumeric("9e131071") ?? 0
        #expect(huge * huge == infinity && huge + huge == infinity && -huge * huge == .negativeInfinity)
        let tiny = PostgresNumeric("1e-16383") ?? 0
        #expect(tiny * tiny == 0 && (tiny * tiny).scale == 16_383 && huge / tiny == infinity)
        #expect((PostgresNumeric("1e131071") ?? 1).rounded(toScale: .min) == 0 && tiny.rounded(toScale: .max) == tiny)
    }
}
