#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension PostgresNumeric {
    /// The number of an integer.
    public init(_ value: some FixedWidthInteger) {
        // The text of an integer always parses, and has far fewer digits than PostgreSQL's limit.
        self = PostgresNumeric(String(value)) ?? .notANumber
    }

    /// The number of a decimal, exactly.
    public init(_ value: Decimal) {
        // The text of a decimal always parses: at most 39 digits, or NaN.
        self = PostgresNumeric(value.description) ?? .notANumber
    }

    /// The shortest number that reads as the double, NaN and infinities included: 0.1 for 0.1.
    public init(_ value: Double) {
        self = PostgresNumeric(NumberText.text(value)) ?? .notANumber
    }

    /// The shortest number that reads as the float, NaN and infinities included: 0.1 for 0.1.
    public init(_ value: Float) {
        self = PostgresNumeric(NumberText.text(value)) ?? .notANumber
    }

    /// The number's digits without sign and point, if they fit 64 bits: the number is ± digits × 10^exponent.
    fileprivate var significand: (digits: UInt64, exponent: Int)? {
        guard isFinite else { return nil }
        var digits: UInt64 = 0
        for group in groups {
            let (product, isTooLarge) = digits.multipliedReportingOverflow(by: 10_000)
            let (sum, isTooLargeAgain) = product.addingReportingOverflow(UInt64(group))
            guard !isTooLarge, !isTooLargeAgain else { return nil }
            digits = sum
        }
        return (digits, groups.isEmpty ? 0 : 4 * (Int(weight) - groups.count + 1))
    }
}

extension FixedWidthInteger {
    /// The number as an integer; nil if it has a fraction or is out of range.
    public init?(exactly numeric: PostgresNumeric) {
        guard numeric.isFinite, numeric.neededScale == 0, numeric.weight < 10 else { return nil }
        var value: Int128 = 0
        for position in 0...Swift.max(0, Int(numeric.weight)) {
            let group = numeric.groups.indices.contains(position) ? numeric.groups[position] : 0
            let (product, isTooLarge) = value.multipliedReportingOverflow(by: 10_000)
            let (sum, isTooLargeAgain) = product.addingReportingOverflow(Int128(group))
            guard !isTooLarge, !isTooLargeAgain else { return nil }
            value = sum
        }
        self.init(exactly: numeric.sign == .negative ? -value : value)
    }
}

extension Decimal {
    /// The number as a decimal; nil if it has more digits than a decimal holds, or is NaN or infinite.
    public init?(exactly numeric: PostgresNumeric) {
        guard numeric.isFinite else { return nil }
        if let (digits, exponent) = numeric.significand, (-127...100).contains(exponent) {
            self.init(
                sign: numeric.sign == .negative ? .minus : .plus, exponent: exponent, significand: Decimal(digits))
            return
        }
        // `Decimal` drops digits silently; converting back shows whether it kept all.
        guard let value = Decimal(string: numeric.normalized.description), PostgresNumeric(value) == numeric else {
            return nil
        }
        self = value
    }
}

extension Double {
    /// The double nearest to the number, infinite beyond the range of doubles.
    public init(_ numeric: PostgresNumeric) { self = numeric.nearest() }
}

extension Float {
    /// The float nearest to the number, infinite beyond the range of floats.
    public init(_ numeric: PostgresNumeric) { self = numeric.nearest() }
}

extension PostgresNumeric {
    fileprivate func nearest<T: BinaryFloatingPoint & LosslessStringConvertible>() -> T {
        switch sign {
        case .notANumber: .nan
        case .positiveInfinity: .infinity
        case .negativeInfinity: -.infinity
        // Swift parses the description of every number.
        case .positive, .negative: T(description) ?? .nan
        }
    }
}
