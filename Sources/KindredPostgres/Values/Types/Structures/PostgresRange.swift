/// A range of values such as `int4range` or `tstzrange`.
///
/// The server normalises ranges of integers and days to `[1,5)`; `[1,4]` comes back in that form.
public struct PostgresRange<Bound: Hashable & Sendable>: Hashable, Sendable {
    /// An end of a range.
    public enum Limit: Hashable, Sendable {
        /// No end.
        case unbounded
        /// An inclusive bound.
        case inclusive(Bound)
        /// An exclusive bound.
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

    /// The lower limit.
    public let lower: Limit
    /// The upper limit.
    public let upper: Limit
    /// Whether the range is empty.
    public let isEmpty: Bool

    /// A range between two limits; the server refuses a lower bound above the upper one.
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

    /// The empty range.
    public static var empty: Self { Self() }

    func map<T: Hashable & Sendable>(_ transform: (Bound) throws -> T) rethrows -> PostgresRange<T> {
        isEmpty ? .empty : PostgresRange<T>(lower: try lower.map(transform), upper: try upper.map(transform))
    }
}

extension PostgresRange where Bound: Comparable {
    /// The range of the same values; empty if there are none.
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

/// A multirange such as `int4multirange`: ranges with gaps between them.
///
/// The server sorts the ranges, merges ranges that touch and drops empty ranges.
public struct PostgresMultirange<Bound: Hashable & Sendable>: Hashable, Sendable {
    /// The ranges.
    public let ranges: [PostgresRange<Bound>]

    /// A multirange of ranges, in any order.
    public init(_ ranges: [PostgresRange<Bound>]) {
        self.ranges = ranges
    }
}

extension PostgresMultirange: CustomStringConvertible where Bound: CustomStringConvertible {
    /// The multirange as the server prints it: `{[1,5),[7,9)}`.
    public var description: String { "{\(ranges.map(\.description).joined(separator: ","))}" }
}
