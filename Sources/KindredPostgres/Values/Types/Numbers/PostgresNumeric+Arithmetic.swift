// Sums, products and quotients with the digits that PostgreSQL gives them, so that a result here equals the server's.
extension PostgresNumeric: SignedNumeric {
    /// The number of an integer.
    public init?(exactly source: some BinaryInteger) {
        guard let number = PostgresNumeric(String(source)) else { return nil }
        self = number
    }

    /// The number without its sign.
    public var magnitude: PostgresNumeric { sign == .negative || sign == .negativeInfinity ? -self : self }

    /// The number with the other sign; zero and NaN have none.
    public static prefix func - (number: PostgresNumeric) -> PostgresNumeric {
        switch number.sign {
        case .notANumber: number
        case .positiveInfinity: .negativeInfinity
        case .negativeInfinity: .infinity
        case .positive, .negative:
            make(number.sign == .positive, Digits(number), scale: number.scale)
        }
    }

    /// The sum, with as many digits after the point as the longer number shows.
    public static func + (left: PostgresNumeric, right: PostgresNumeric) -> PostgresNumeric {
        guard left.isFinite, right.isFinite else {
            if left.isNaN || right.isNaN { return .notANumber }
            if left.isFinite { return right }
            return right.isFinite || left.sign == right.sign ? left : .notANumber
        }
        let (first, second) = (Digits(left), Digits(right))
        let scale = max(left.scale, right.scale)
        if left.sign == right.sign { return make(left.sign == .negative, first.adding(second), scale: scale) }
        let isLess = left.magnitude < right.magnitude
        let difference = isLess ? second.subtracting(first) : first.subtracting(second)
        return make((isLess ? right : left).sign == .negative, difference, scale: scale)
    }

    /// The difference, with as many digits after the point as the longer number shows.
    public static func - (left: PostgresNumeric, right: PostgresNumeric) -> PostgresNumeric { left + -right }

    /// The product, with the digits after the point of both; 16,383 of them at most.
    public static func * (left: PostgresNumeric, right: PostgresNumeric) -> PostgresNumeric {
        guard let isNegative = isResultNegative(left, right) else { return .notANumber }
        guard left.isFinite, right.isFinite else {
            if left.isZero || right.isZero { return .notANumber }
            return isNegative ? .negativeInfinity : .infinity
        }
        let scale = left.scale + right.scale
        let product = Digits(left).multiplied(by: Digits(right))
        return make(isNegative, product.rounded(to: min(scale, maximumScale)), scale: min(scale, maximumScale))
    }

    /// The quotient, rounded to at least 16 significant digits, as many as PostgreSQL gives.
    ///
    /// A number divided by zero is NaN here, where the server has an error.
    public static func / (left: PostgresNumeric, right: PostgresNumeric) -> PostgresNumeric {
        guard let isNegative = isResultNegative(left, right), !right.isZero else { return .notANumber }
        guard left.isFinite else {
            return right.isFinite ? (isNegative ? .negativeInfinity : .infinity) : .notANumber
        }
        guard right.isFinite else { return .zero }
        let scale = quotientScale(left, right)
        return make(isNegative, Digits(left).divided(by: Digits(right), scale: scale), scale: scale)
    }

    /// The remainder of the division, with the sign of the left number; of zero it is NaN.
    public static func % (left: PostgresNumeric, right: PostgresNumeric) -> PostgresNumeric {
        guard !left.isNaN, !right.isNaN, left.isFinite, !right.isZero else { return .notANumber }
        guard right.isFinite else { return left }
        return make(
            left.sign == .negative, Digits(left).remainder(by: Digits(right)), scale: max(left.scale, right.scale))
    }

    /// Replaces the number by the product.
    public static func *= (left: inout PostgresNumeric, right: PostgresNumeric) { left = left * right }

    /// Replaces the number by the quotient.
    public static func /= (left: inout PostgresNumeric, right: PostgresNumeric) { left = left / right }

    /// The number with so many digits after the point, halves rounded away from zero, as PostgreSQL's `round` does.
    ///
    /// A negative scale rounds digits before the point. NaN and the infinities stay as they are.
    public func rounded(toScale scale: Int) -> PostgresNumeric {
        guard isFinite else { return self }
        let scale = min(max(scale, -Self.maximumIntegralDigits), Self.maximumScale)
        return Self.make(sign == .negative, Digits(self).rounded(to: scale), scale: max(0, scale))
    }

    private var isZero: Bool { isFinite && groups.isEmpty }

    /// Whether product and quotient are negative; nil if one of the numbers is NaN.
    private static func isResultNegative(_ left: PostgresNumeric, _ right: PostgresNumeric) -> Bool? {
        guard !left.isNaN, !right.isNaN else { return nil }
        func isNegative(_ number: PostgresNumeric) -> Bool {
            number.sign == .negative || number.sign == .negativeInfinity
        }
        return isNegative(left) != isNegative(right)
    }

    /// The digits after the point that PostgreSQL gives a quotient: 16 significant digits, and at least as many as each
    /// number has.
    private static func quotientScale(_ left: PostgresNumeric, _ right: PostgresNumeric) -> Int {
        var weight = Int(left.groups.isEmpty ? 0 : left.weight) - Int(right.weight)
        // Where the first groups are equal the quotient may be less than one of its groups.
        if left.groups.first ?? 0 <= right.groups.first ?? 0 { weight -= 1 }
        return min(max(16 - 4 * weight, left.scale, right.scale, 0), 1000)
    }

    /// A finite number; infinite where PostgreSQL could not hold it.
    private static func make(_ isNegative: Bool, _ digits: Digits, scale: Int) -> PostgresNumeric {
        let number = PostgresNumeric(
            isNegative: isNegative, groups: digits.groups.map { UInt16(clamping: $0) }, weight: digits.weight,
            scale: scale)
        return number ?? (isNegative ? .negativeInfinity : .infinity)
    }
}

extension PostgresNumeric: ExpressibleByFloatLiteral {
    /// The number that is written, of up to 15 digits: `0.99`.
    ///
    /// More digits are given as a text: `PostgresNumeric("…")`.
    public init(floatLiteral value: Double) { self.init(value) }
}

/// The magnitude of a finite number: groups of four digits, the first of them times 10,000 to the power of `weight`.
private struct Digits {
    var groups: [Int]
    var weight: Int

    /// The power of the last group.
    private var lowest: Int { weight - groups.count + 1 }

    init(_ number: PostgresNumeric) {
        groups = number.groups.map(Int.init)
        weight = Int(number.weight)
    }

    private init(_ groups: [Int], lowest: Int) {
        self.groups = groups
        weight = lowest + groups.count - 1
    }

    /// The groups down to a power that is not above the last one's.
    private func groups(downTo power: Int) -> [Int] { groups + Array(repeating: 0, count: max(0, lowest - power)) }

    func adding(_ other: Digits) -> Digits {
        if groups.isEmpty { return other }
        if other.groups.isEmpty { return self }
        let power = min(lowest, other.lowest)
        var (sum, added) = (groups(downTo: power), other.groups(downTo: power))
        if sum.count < added.count { swap(&sum, &added) }
        sum.insert(0, at: 0)
        for place in added.indices { sum[sum.count - 1 - place] += added[added.count - 1 - place] }
        carry(&sum)
        return Digits(sum, lowest: power)
    }

    /// The difference to a number that is not greater.
    func subtracting(_ other: Digits) -> Digits {
        if other.groups.isEmpty { return self }
        let power = min(lowest, other.lowest)
        var difference = groups(downTo: power)
        let taken = other.groups(downTo: power)
        for place in taken.indices where place < difference.count {
            difference[difference.count - 1 - place] -= taken[taken.count - 1 - place]
        }
        for place in difference.indices.dropFirst().reversed() where difference[place] < 0 {
            difference[place] += 10_000
            difference[place - 1] -= 1
        }
        return Digits(difference, lowest: power)
    }

    func multiplied(by other: Digits) -> Digits {
        if groups.isEmpty || other.groups.isEmpty { return Digits([], lowest: 0) }
        var product = Array(repeating: 0, count: groups.count + other.groups.count)
        for place in groups.indices.reversed() {
            // Each row is carried at once, so that no group ever holds more than 64 bits.
            var rest = 0
            for otherPlace in other.groups.indices.reversed() {
                let sum = product[place + otherPlace + 1] + groups[place] * other.groups[otherPlace] + rest
                product[place + otherPlace + 1] = sum % 10_000
                rest = sum / 10_000
            }
            product[place] += rest
        }
        return Digits(product, lowest: lowest + other.lowest)
    }

    /// The quotient, rounded to so many digits after the point.
    func divided(by other: Digits, scale: Int) -> Digits {
        // One group more than is shown; its first digit decides the rounding.
        let power = -(scale / 4 + 1)
        let shift = lowest - other.lowest - power
        let (quotient, _) = Self.divide(
            groups + Array(repeating: 0, count: max(0, shift)),
            other.groups + Array(repeating: 0, count: max(0, -shift)))
        return Digits(quotient, lowest: power).rounded(to: scale)
    }

    func remainder(by other: Digits) -> Digits {
        if groups.isEmpty { return self }
        let power = min(lowest, other.lowest)
        let (_, remainder) = Self.divide(groups(downTo: power), other.groups(downTo: power))
        return Digits(remainder, lowest: power)
    }

    /// The number with so many digits after the point, halves rounded up.
    func rounded(to scale: Int) -> Digits {
        // The power of the group that holds the last digit, and how many of its digits are cut off.
        let power = -((scale + 3) >> 2)
        let cut = (4 - scale & 3) & 3
        guard lowest < power || cut > 0 && lowest == power else { return self }
        let unit = [1, 10, 100, 1000][cut]
        // Leading zeros for numbers smaller than a unit.
        var kept = Array(repeating: 0, count: max(0, power - weight)) + groups
        let end = kept.count - (power - lowest)
        guard end >= 1 else { return Digits([], lowest: 0) }
        let next = cut > 0 ? kept[end - 1] % unit >= unit / 2 : end < kept.count && kept[end] >= 5000
        kept.removeSubrange(end...)
        kept[end - 1] -= kept[end - 1] % unit
        if next { kept[end - 1] += unit }
        kept.insert(0, at: 0)
        carry(&kept)
        return Digits(kept, lowest: power)
    }

    private func carry(_ groups: inout [Int]) {
        for place in groups.indices.dropFirst().reversed() where groups[place] >= 10_000 {
            groups[place] -= 10_000
            groups[place - 1] += 1
        }
    }

    /// Long division of whole numbers in groups (Knuth's algorithm D); the divisor is not zero.
    private static func divide(_ dividend: [Int], _ divisor: [Int]) -> (quotient: [Int], remainder: [Int]) {
        let dividend = Array(dividend.drop { $0 == 0 })
        var divisor = Array(divisor.drop { $0 == 0 })
        guard let first = divisor.first, dividend.count >= divisor.count else { return ([], dividend) }
        let factor = 10_000 / (first + 1)
        var rest = [0] + dividend
        multiply(&rest, by: factor)
        multiply(&divisor, by: factor)
        let count = divisor.count
        var quotient: [Int] = []
        quotient.reserveCapacity(dividend.count - count + 1)
        for place in 0...(dividend.count - count) {
            let top = rest[place] * 10_000 + rest[place + 1]
            var (guess, left) = (top / divisor[0], top % divisor[0])
            while guess >= 10_000 || count > 1 && guess * divisor[1] > left * 10_000 + rest[place + 2] {
                guess -= 1
                left += divisor[0]
                if left >= 10_000 { break }
            }
            var borrow = 0
            for digit in (0..<count).reversed() {
                let difference = rest[place + digit + 1] - guess * divisor[digit] - borrow
                borrow = difference < 0 ? (9_999 - difference) / 10_000 : 0
                rest[place + digit + 1] = difference + borrow * 10_000
            }
            rest[place] -= borrow
            if rest[place] < 0 {
                // The guess was one too many.
                guess -= 1
                var sum = 0
                for digit in (0..<count).reversed() {
                    sum += rest[place + digit + 1] + divisor[digit]
                    rest[place + digit + 1] = sum % 10_000
                    sum /= 10_000
                }
                rest[place] += sum
            }
            quotient.append(guess)
        }
        var remainder: [Int] = []
        var carried = 0
        for group in rest.suffix(count) {
            carried = carried * 10_000 + group
            remainder.append(carried / factor)
            carried %= factor
        }
        return (quotient, remainder)
    }

    private static func multiply(_ groups: inout [Int], by factor: Int) {
        var rest = 0
        for place in groups.indices.reversed() {
            let product = groups[place] * factor + rest
            groups[place] = product % 10_000
            rest = product / 10_000
        }
        // The factor was chosen so that the first group has room.
        if rest > 0 { groups.insert(rest, at: 0) }
    }
}
