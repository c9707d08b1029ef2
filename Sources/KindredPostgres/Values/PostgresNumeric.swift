#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A `numeric` value, exactly: up to 131,072 digits before the point and 16,383 after it, NaN and the infinities.
///
/// Values are equal if they are the same number: 1.0 is 1.00, although their descriptions differ.
public struct PostgresNumeric: Sendable {
    enum Sign: UInt16, Sendable {
        case positive = 0x0000
        case negative = 0x4000
        case notANumber = 0xC000
        case positiveInfinity = 0xD000
        case negativeInfinity = 0xF000
    }

    let sign: Sign
    /// Groups of four decimal digits, without leading and trailing zero groups, as the server keeps them.
    let groups: [UInt16]
    /// The first group stands for its value times 10,000 to this power.
    let weight: Int
    /// The number of digits after the point to be shown.
    public let scale: Int

    init(sign: Sign, groups: [UInt16], weight: Int, scale: Int) {
        var groups = groups[...]
        var weight = weight
        while groups.first == 0 {
            groups.removeFirst()
            weight -= 1
        }
        while groups.last == 0 { groups.removeLast() }
        // Zero has no sign.
        self.sign = groups.isEmpty && sign == .negative ? .positive : sign
        self.groups = Array(groups)
        self.weight = groups.isEmpty ? 0 : weight
        self.scale = scale
    }

    /// Not a number; equal to itself, as in PostgreSQL.
    public static let notANumber = PostgresNumeric(sign: .notANumber, groups: [], weight: 0, scale: 0)
    /// Greater than every number.
    public static let infinity = PostgresNumeric(sign: .positiveInfinity, groups: [], weight: 0, scale: 0)

    /// Whether the value is a number, neither NaN nor an infinity.
    public var isFinite: Bool { sign == .positive || sign == .negative }

    /// The value with as few digits after the point as it needs, so that equal values have one form.
    package var normalized: PostgresNumeric {
        guard isFinite, scale > 0 else { return self }
        guard let last = groups.last else { return PostgresNumeric(sign: sign, groups: [], weight: 0, scale: 0) }
        var digits = max(0, (groups.count - 1 - weight) * 4)
        var group = last
        while digits > 0 && group % 10 == 0 {
            group /= 10
            digits -= 1
        }
        return PostgresNumeric(sign: sign, groups: groups, weight: weight, scale: digits)
    }
}

extension PostgresNumeric: Hashable {
    /// Whether the values are the same number.
    public static func == (left: PostgresNumeric, right: PostgresNumeric) -> Bool {
        left.sign == right.sign && left.weight == right.weight && left.groups == right.groups
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(sign)
        hasher.combine(weight)
        hasher.combine(groups)
    }
}

extension PostgresNumeric {
    /// The number that a text such as `-12.50`, `1e6`, `NaN` or `Infinity` stands for; nil for any other text, and for
    /// numbers that PostgreSQL cannot hold.
    public init?(_ text: some StringProtocol) {
        switch text.lowercased() {
        case "nan": self = .notANumber
        case "infinity", "inf", "+infinity": self = .infinity
        case "-infinity", "-inf": self.init(sign: .negativeInfinity, groups: [], weight: 0, scale: 0)
        default:
            guard let parsed = Self.parse(text.utf8) else { return nil }
            self = parsed
        }
    }

    private static func parse(_ text: some Sequence<UInt8>) -> PostgresNumeric? {
        var sign = Sign.positive
        var digits: [UInt8] = []
        var pointAt: Int?
        var exponent: (isNegative: Bool, value: Int, hasDigits: Bool)?
        for (index, byte) in text.enumerated() {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                let digit = byte - UInt8(ascii: "0")
                if let current = exponent {
                    exponent = (current.isNegative, min(1_000_000, current.value * 10 + Int(digit)), true)
                } else {
                    digits.append(digit)
                }
            case UInt8(ascii: "."):
                guard pointAt == nil, exponent == nil else { return nil }
                pointAt = digits.count
            case UInt8(ascii: "e"), UInt8(ascii: "E"):
                guard exponent == nil, !digits.isEmpty else { return nil }
                exponent = (false, 0, false)
            case UInt8(ascii: "-"), UInt8(ascii: "+"):
                let isNegative = byte == UInt8(ascii: "-")
                if index == 0 {
                    sign = isNegative ? .negative : .positive
                } else if let current = exponent, !current.hasDigits, current.value == 0 {
                    exponent?.isNegative = isNegative
                } else {
                    return nil
                }
            default: return nil
            }
        }
        guard !digits.isEmpty, exponent?.hasDigits ?? true else { return nil }
        let shift = exponent.map { $0.isNegative ? -$0.value : $0.value } ?? 0
        let fraction = digits.count - (pointAt ?? digits.count)
        return make(sign, digits, pointAt: (pointAt ?? digits.count) + shift, scale: max(0, fraction - shift))
    }

    /// The number whose digits stand around a point, which may lie outside of them.
    private static func make(_ sign: Sign, _ digits: [UInt8], pointAt: Int, scale: Int) -> PostgresNumeric? {
        let significant = digits.drop { $0 == 0 }
        let leadingZeros = digits.count - significant.count
        let integral = pointAt - leadingZeros
        guard scale <= 16_383, significant.isEmpty || integral <= 131_072 else { return nil }
        guard !significant.isEmpty else { return PostgresNumeric(sign: sign, groups: [], weight: 0, scale: scale) }
        // Groups are aligned to the point: the first one holds the digits above a multiple of four.
        let weight = Int((Double(integral) / 4).rounded(.up)) - 1
        var groups: [UInt16] = []
        var group: UInt16 = 0
        var filled = (weight + 1) * 4 - integral
        for digit in significant {
            group = group * 10 + UInt16(digit)
            filled += 1
            if filled == 4 {
                groups.append(group)
                (group, filled) = (0, 0)
            }
        }
        if filled > 0 {
            while filled < 4 {
                group *= 10
                filled += 1
            }
            groups.append(group)
        }
        return PostgresNumeric(sign: sign, groups: groups, weight: weight, scale: scale)
    }

    /// The number of an integer.
    public init(_ value: some BinaryInteger) {
        // The text of an integer is always a number.
        self = PostgresNumeric(String(value)) ?? .notANumber
    }

    /// The number of a decimal, exactly.
    public init(_ value: Decimal) {
        self = PostgresNumeric(value.description) ?? .notANumber
    }

    /// The shortest number that reads as the double, NaN and infinities included.
    public init(_ value: Double) {
        if value.isInfinite {
            self = value > 0 ? .infinity : PostgresNumeric(sign: .negativeInfinity, groups: [], weight: 0, scale: 0)
        } else {
            self = PostgresNumeric(value.description) ?? .notANumber
        }
    }
}

extension PostgresNumeric: CustomStringConvertible, ExpressibleByIntegerLiteral {
    /// An integer.
    public init(integerLiteral value: Int64) { self.init(value) }

    /// The number in plain digits, with `scale` of them after the point, as the server prints it.
    public var description: String {
        switch sign {
        case .notANumber: return "NaN"
        case .positiveInfinity: return "Infinity"
        case .negativeInfinity: return "-Infinity"
        case .positive, .negative: break
        }
        var text: [UInt8] = sign == .negative ? [UInt8(ascii: "-")] : []
        let first = text.count
        for position in stride(from: weight, through: 0, by: -1) {
            appendGroup(at: weight - position, to: &text)
        }
        let leading = text[first...].prefix { $0 == UInt8(ascii: "0") }.count
        text.removeSubrange(first..<first + leading)
        if text.count == first { text.append(UInt8(ascii: "0")) }
        if scale > 0 {
            text.append(UInt8(ascii: "."))
            let end = text.count + scale
            var position = weight + 1
            // A number below one has groups of zeros between the point and its first digits.
            while text.count < end {
                appendGroup(at: position, to: &text)
                position += 1
            }
            text.removeSubrange(end...)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends the four digits of a group; groups outside of those kept are zero.
    private func appendGroup(at index: Int, to text: inout [UInt8]) {
        let group = groups.indices.contains(index) ? groups[index] : 0
        for divisor: UInt16 in [1000, 100, 10, 1] {
            text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: group / divisor % 10))
        }
    }
}

extension Decimal {
    /// The number as a decimal; nil if it has more digits than a decimal holds, or is NaN or infinite.
    public init?(exactly numeric: PostgresNumeric) {
        guard numeric.isFinite, let value = Decimal(string: numeric.normalized.description),
            PostgresNumeric(value) == numeric
        else { return nil }
        self = value
    }
}

extension Int64 {
    /// The number as an integer; nil if it has a fraction or is out of range.
    public init?(exactly numeric: PostgresNumeric) {
        guard numeric.isFinite, let value = Int64(numeric.normalized.description) else { return nil }
        self = value
    }
}

extension Double {
    /// The double nearest to the number.
    public init(_ numeric: PostgresNumeric) {
        switch numeric.sign {
        case .notANumber: self = .nan
        case .positiveInfinity: self = .infinity
        case .negativeInfinity: self = -.infinity
        case .positive, .negative: self = Double(numeric.description) ?? .nan
        }
    }
}
