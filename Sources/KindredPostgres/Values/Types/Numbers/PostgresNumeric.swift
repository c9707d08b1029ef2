/// A `numeric` value, exactly: up to 131,072 digits before the point and 16,383 after it, NaN and the infinities.
///
/// Values are equal if they are the same number: 1.0 is 1.00, although their descriptions differ. NaN is equal to itself
/// and greater than everything else, as in PostgreSQL.
public struct PostgresNumeric: Sendable {
    /// The sign as encoded in the binary form.
    enum Sign: UInt16, Sendable {
        case positive = 0x0000
        case negative = 0x4000
        case notANumber = 0xC000
        case positiveInfinity = 0xD000
        case negativeInfinity = 0xF000
    }

    /// The most digits after the point that PostgreSQL can hold.
    static let maximumScale = 16_383
    /// The most digits before the point that PostgreSQL can hold.
    static let maximumIntegralDigits = 131_072

    /// Groups of four decimal digits, without leading and trailing zero groups, as the server keeps them.
    let groups: [UInt16]
    let sign: Sign
    /// The power of 10,000 of the first group.
    let weight: Int16
    private let shownDigits: Int16

    /// The number of digits shown after the point.
    public var scale: Int { Int(shownDigits) }

    /// A finite number; nil if the scale hides digits or PostgreSQL cannot hold it.
    init?(isNegative: Bool, groups: [UInt16], weight: Int, scale: Int) {
        guard let first = groups.firstIndex(where: { $0 != 0 }), let last = groups.lastIndex(where: { $0 != 0 }) else {
            self.init(zeroWithScale: scale)
            return
        }
        let trimmed = first == 0 && last == groups.count - 1 ? groups : Array(groups[first...last])
        guard let weight = Int16(exactly: weight - first), let shownDigits = Int16(exactly: scale),
            (0...Self.maximumScale).contains(scale),
            Self.neededScale(count: trimmed.count, last: groups[last], weight: weight) <= scale
        else { return nil }
        self.init(sign: isNegative ? .negative : .positive, groups: trimmed, weight: weight, shownDigits: shownDigits)
    }

    /// Zero, which has no sign.
    private init?(zeroWithScale scale: Int) {
        guard let shownDigits = Int16(exactly: scale), (0...Self.maximumScale).contains(scale) else { return nil }
        self.init(sign: .positive, groups: [], weight: 0, shownDigits: shownDigits)
    }

    private init(sign: Sign, groups: [UInt16], weight: Int16, shownDigits: Int16) {
        self.sign = sign
        self.groups = groups
        self.weight = weight
        self.shownDigits = shownDigits
    }

    /// Zero, NaN or an infinity.
    private init(_ sign: Sign) {
        self.init(sign: sign, groups: [], weight: 0, shownDigits: 0)
    }

    /// Zero.
    public static let zero = PostgresNumeric(.positive)
    /// Not a number.
    public static let notANumber = PostgresNumeric(.notANumber)
    /// Greater than every number.
    public static let infinity = PostgresNumeric(.positiveInfinity)
    /// Less than every number.
    public static let negativeInfinity = PostgresNumeric(.negativeInfinity)

    /// Whether the value is neither NaN nor an infinity.
    public var isFinite: Bool { sign == .positive || sign == .negative }

    /// Whether the value is not a number.
    public var isNaN: Bool { sign == .notANumber }

    /// The number of significant digits after the point.
    package var neededScale: Int {
        groups.last.map { Self.neededScale(count: groups.count, last: $0, weight: weight) } ?? 0
    }

    /// The scale that a number of so many groups needs; its last group is not zero.
    static func neededScale(count: Int, last: UInt16, weight: Int16) -> Int {
        let groupsAfterPoint = count - 1 - Int(weight)
        guard groupsAfterPoint > 0 else { return 0 }
        let trailingZeros = last % 1000 == 0 ? 3 : last % 100 == 0 ? 2 : last % 10 == 0 ? 1 : 0
        return 4 * groupsAfterPoint - trailingZeros
    }

    /// The value with as few digits after the point as it needs, so that equal values have one form.
    package var normalized: PostgresNumeric {
        // A number never needs more digits than it shows.
        PostgresNumeric(sign: sign, groups: groups, weight: weight, shownDigits: Int16(clamping: neededScale))
    }
}

extension PostgresNumeric: Hashable {
    /// Whether the values are the same number.
    public static func == (left: PostgresNumeric, right: PostgresNumeric) -> Bool {
        left.sign == right.sign && left.weight == right.weight && left.groups == right.groups
    }

    /// Hashes the parts that `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(sign)
        hasher.combine(weight)
        hasher.combine(groups)
    }
}

extension PostgresNumeric: Comparable {
    /// Whether PostgreSQL sorts the left value first.
    public static func < (left: PostgresNumeric, right: PostgresNumeric) -> Bool {
        guard left.rank == right.rank else { return left.rank < right.rank }
        switch left.sign {
        case .positive: return magnitudeIsLess(left, right)
        case .negative: return magnitudeIsLess(right, left)
        case .notANumber, .positiveInfinity, .negativeInfinity: return false
        }
    }

    /// The sign's rank in the order; zero ranks with the positive numbers.
    private var rank: Int {
        switch sign {
        case .negativeInfinity: 0
        case .negative: 1
        case .positive: 2
        case .positiveInfinity: 3
        case .notANumber: 4
        }
    }

    private static func magnitudeIsLess(_ left: PostgresNumeric, _ right: PostgresNumeric) -> Bool {
        if left.groups.isEmpty || right.groups.isEmpty { return left.groups.isEmpty && !right.groups.isEmpty }
        guard left.weight == right.weight else { return left.weight < right.weight }
        return left.groups.lexicographicallyPrecedes(right.groups)
    }
}
