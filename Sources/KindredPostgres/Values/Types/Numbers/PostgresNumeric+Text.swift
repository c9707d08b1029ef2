extension PostgresNumeric: LosslessStringConvertible, ExpressibleByIntegerLiteral {
    /// An integer.
    public init(integerLiteral value: Int64) { self.init(value) }

    /// The number that a text such as `-12.50`, `1e6`, `NaN` or `Infinity` stands for.
    ///
    /// nil for any other text, and for numbers that PostgreSQL cannot hold.
    public init?(_ text: some StringProtocol) {
        switch text.lowercased() {
        case "nan": self = .notANumber
        case "infinity", "+infinity": self = .infinity
        case "-infinity": self = .negativeInfinity
        default:
            guard let number = Self.parse(Array(text.utf8)[...]) else { return nil }
            self = number
        }
    }

    /// Reads an optional sign, digits with at most one point, and an optional exponent.
    private static func parse(_ text: ArraySlice<UInt8>) -> PostgresNumeric? {
        var rest = text
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
        var digits: [UInt8] = []
        digits.reserveCapacity(rest.count)
        var digitsBeforePoint: Int?
        while let byte = rest.first {
            if let digit = digit(byte) {
                digits.append(digit)
            } else if byte == UInt8(ascii: "."), digitsBeforePoint == nil {
                digitsBeforePoint = digits.count
            } else {
                break
            }
            rest.removeFirst()
        }
        guard !digits.isEmpty, let exponent = exponent(rest) else { return nil }
        let pointAt = digitsBeforePoint ?? digits.count
        let scale = max(0, digits.count - pointAt - exponent)
        return make(isNegative, digits, pointAt: pointAt + exponent, scale: scale)
    }

    /// No exponent is 0; an exponent out of range is clamped to an exponent that is still out of range.
    private static func exponent(_ text: ArraySlice<UInt8>) -> Int? {
        guard let first = text.first else { return 0 }
        guard first == UInt8(ascii: "e") || first == UInt8(ascii: "E") else { return nil }
        var rest = text.dropFirst()
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
        guard !rest.isEmpty else { return nil }
        var value = 0
        for byte in rest {
            guard let digit = digit(byte) else { return nil }
            value = min(1 << 40, value * 10 + Int(digit))
        }
        return isNegative ? -value : value
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        let digit = byte &- UInt8(ascii: "0")
        return digit < 10 ? digit : nil
    }

    /// The number with the given digits and point, which may lie outside of the digits.
    private static func make(_ isNegative: Bool, _ digits: [UInt8], pointAt: Int, scale: Int) -> PostgresNumeric? {
        let significant = digits.drop { $0 == 0 }
        // Digits before the point from the first significant one on; negative for zeros after the point.
        let integral = pointAt - (digits.count - significant.count)
        guard scale <= maximumScale, significant.isEmpty || integral <= maximumIntegralDigits else { return nil }
        // Groups are aligned to the point: the first one holds the digits above a multiple of four.
        let weight = ((integral + 3) >> 2) - 1
        var groups: [UInt16] = []
        groups.reserveCapacity(significant.count / 4 + 2)
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
            for _ in filled..<4 { group *= 10 }
            groups.append(group)
        }
        return PostgresNumeric(isNegative: isNegative, groups: groups, weight: weight, scale: scale)
    }

    /// The number in plain digits, with `scale` of them after the point, as the server prints it.
    public var description: String {
        switch sign {
        case .notANumber: return "NaN"
        case .positiveInfinity: return "Infinity"
        case .negativeInfinity: return "-Infinity"
        case .positive, .negative: break
        }
        var text: [UInt8] = []
        text.reserveCapacity(4 * max(1, Int(weight) + 1) + scale + 6)
        if sign == .negative { text.append(UInt8(ascii: "-")) }
        if weight < 0 || groups.isEmpty {
            text.append(UInt8(ascii: "0"))
        } else {
            for position in 0...Int(weight) { appendGroup(at: position, skippingZeros: position == 0, to: &text) }
        }
        if scale > 0 {
            text.append(UInt8(ascii: "."))
            let end = text.count + scale
            var position = Int(weight) + 1
            while text.count < end {
                appendGroup(at: position, skippingZeros: false, to: &text)
                position += 1
            }
            text.removeSubrange(end...)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends the four digits of a group; groups that are not stored are zero.
    private func appendGroup(at index: Int, skippingZeros: Bool, to text: inout [UInt8]) {
        let group = groups.indices.contains(index) ? groups[index] : 0
        for divisor: UInt16 in [1000, 100, 10, 1] where !skippingZeros || group >= divisor {
            text.append(UInt8(ascii: "0") + UInt8(group / divisor % 10))
        }
    }
}
