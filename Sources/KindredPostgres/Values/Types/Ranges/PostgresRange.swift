/// A range of values such as `int4range` or `tstzrange`.
///
/// The server keeps ranges of whole numbers and of days in one form, `[1,5)`: a range that is written as `[1,4]` comes
/// back so.
public struct PostgresRange<Bound: Hashable & Sendable>: Hashable, Sendable {
    /// An end of a range.
    public enum Limit: Hashable, Sendable {
        /// No end.
        case unbounded
        /// A bound that belongs to the range.
        case inclusive(Bound)
        /// A bound that is just outside.
        case exclusive(Bound)

        /// The bound, if there is one.
        public var bound: Bound? {
            switch self {
            case .unbounded: nil
            case .inclusive(let bound), .exclusive(let bound): bound
            }
        }

        var isInclusive: Bool { if case .inclusive = self { true } else { false } }

        func map<T: Hashable & Sendable>(_ transform: (Bound) throws -> T) rethrows -> PostgresRange<T>.Limit {
            switch self {
            case .unbounded: .unbounded
            case .inclusive(let bound): .inclusive(try transform(bound))
            case .exclusive(let bound): .exclusive(try transform(bound))
            }
        }
    }

    /// Where the range begins.
    public let lower: Limit
    /// Where the range ends.
    public let upper: Limit
    /// Whether it is the range without values.
    public let isEmpty: Bool

    /// A range between two limits; the server refuses one whose lower bound is the greater.
    public init(lower: Limit = .unbounded, upper: Limit = .unbounded) {
        self.lower = lower
        self.upper = upper
        isEmpty = false
    }

    private init() {
        lower = .unbounded
        upper = .unbounded
        isEmpty = true
    }

    /// The range without values.
    public static var empty: Self { Self() }

    func map<T: Hashable & Sendable>(_ transform: (Bound) throws -> T) rethrows -> PostgresRange<T> {
        isEmpty ? .empty : PostgresRange<T>(lower: try lower.map(transform), upper: try upper.map(transform))
    }
}

extension PostgresRange where Bound: Comparable {
    /// The range of the same values; without values it is the empty one.
    public init(_ range: Range<Bound>) {
        if range.isEmpty {
            self.init()
        } else {
            self.init(lower: .inclusive(range.lowerBound), upper: .exclusive(range.upperBound))
        }
    }

    /// The range of the same values.
    public init(_ range: ClosedRange<Bound>) {
        self.init(lower: .inclusive(range.lowerBound), upper: .inclusive(range.upperBound))
    }

    /// The range of the same values.
    public init(_ range: PartialRangeFrom<Bound>) {
        self.init(lower: .inclusive(range.lowerBound))
    }

    /// The range of the same values.
    public init(_ range: PartialRangeUpTo<Bound>) {
        self.init(upper: .exclusive(range.upperBound))
    }

    /// The range of the same values.
    public init(_ range: PartialRangeThrough<Bound>) {
        self.init(upper: .inclusive(range.upperBound))
    }

    /// Whether a value is in the range.
    public func contains(_ value: Bound) -> Bool {
        let isAbove =
            switch lower {
            case .unbounded: true
            case .inclusive(let bound): bound <= value
            case .exclusive(let bound): bound < value
            }
        let isBelow =
            switch upper {
            case .unbounded: true
            case .inclusive(let bound): value <= bound
            case .exclusive(let bound): value < bound
            }
        return !isEmpty && isAbove && isBelow
    }
}

extension PostgresRange: CustomStringConvertible where Bound: CustomStringConvertible {
    /// The range as the server prints it: `[1,5)`.
    public var description: String {
        if isEmpty { return "empty" }
        let start = lower.bound.map { PartText.quotedInRange($0.description) } ?? ""
        let end = upper.bound.map { PartText.quotedInRange($0.description) } ?? ""
        return "\(lower.isInclusive ? "[" : "(")\(start),\(end)\(upper.isInclusive ? "]" : ")")"
    }
}
