#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A type with a neutral value, which a non-optional property has while its object has no value yet.
///
/// Zero, false, an empty text, an empty array, the first label of an enum, a composite of NULLs, the beginning of 1970. All
/// types of generated properties conform; a type of your own declares it:
///
/// ```swift
/// extension Percent: NeutralValue {
///     static var neutralValue: Percent { Percent(value: 0) }
/// }
/// ```
public protocol NeutralValue {
    /// The value for a property without one.
    static var neutralValue: Self { get }
}

extension NeutralValue where Self: AdditiveArithmetic {
    /// Zero.
    public static var neutralValue: Self { zero }
}

extension Int: NeutralValue {}
extension Int8: NeutralValue {}
extension Int16: NeutralValue {}
extension Int32: NeutralValue {}
extension Int64: NeutralValue {}
extension UInt: NeutralValue {}
extension UInt8: NeutralValue {}
extension UInt16: NeutralValue {}
extension UInt32: NeutralValue {}
extension UInt64: NeutralValue {}
extension Float: NeutralValue {}
extension Double: NeutralValue {}
extension Decimal: NeutralValue {}

extension Bool: NeutralValue {
    /// False.
    public static var neutralValue: Bool { false }
}

extension String: NeutralValue {
    /// No characters.
    public static var neutralValue: String { "" }
}

extension Array: NeutralValue {
    /// No elements.
    public static var neutralValue: [Element] { [] }
}

extension Data: NeutralValue {
    /// No bytes.
    public static var neutralValue: Data { Data() }
}

extension Date: NeutralValue {
    /// The beginning of 1970, in UTC.
    public static var neutralValue: Date { Date(timeIntervalSince1970: 0) }
}

extension UUID: NeutralValue {
    /// All zeros.
    public static var neutralValue: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
}

extension PostgresValue: NeutralValue {
    /// An empty text, for columns of types unknown to the library.
    public static var neutralValue: PostgresValue { .string("") }
}

extension PostgresNumeric: NeutralValue {
    /// Zero.
    public static var neutralValue: PostgresNumeric { .zero }
}

extension PostgresMoney: NeutralValue {
    /// Zero.
    public static var neutralValue: PostgresMoney { PostgresMoney(units: 0) }
}

extension PostgresTime: NeutralValue {
    /// Midnight.
    public static var neutralValue: PostgresTime { .midnight }
}

extension PostgresInterval: NeutralValue {
    /// No time.
    public static var neutralValue: PostgresInterval { PostgresInterval() }
}

extension PostgresJSON: NeutralValue {
    /// The document `null`.
    public static var neutralValue: PostgresJSON { PostgresJSON(text: "null") }
}

extension PostgresBits: NeutralValue {
    /// No bits.
    public static var neutralValue: PostgresBits { PostgresBits([]) }
}

extension PostgresTSQuery: NeutralValue {
    /// The query that finds nothing.
    public static var neutralValue: PostgresTSQuery { .empty }
}

extension PostgresRange: NeutralValue {
    /// The empty range.
    public static var neutralValue: PostgresRange { .empty }
}

extension PostgresMultirange: NeutralValue {
    /// No ranges.
    public static var neutralValue: PostgresMultirange { PostgresMultirange([]) }
}

extension PostgresArray: NeutralValue {
    /// No elements.
    public static var neutralValue: PostgresArray { PostgresArray(elementType: .text, elements: []) }
}

extension PostgresComposite: NeutralValue {
    /// No fields.
    public static var neutralValue: PostgresComposite { PostgresComposite(fields: []) }
}

extension PostgresHStore: NeutralValue {
    /// No keys.
    public static var neutralValue: PostgresHStore { [:] }
}

extension PostgresPoint: NeutralValue {
    /// The origin.
    public static var neutralValue: PostgresPoint { PostgresPoint(x: 0, y: 0) }
}

extension PostgresLineSegment: NeutralValue {
    /// The origin alone.
    public static var neutralValue: PostgresLineSegment {
        PostgresLineSegment(start: .neutralValue, end: .neutralValue)
    }
}

extension PostgresBox: NeutralValue {
    /// The origin alone.
    public static var neutralValue: PostgresBox { PostgresBox(.neutralValue, .neutralValue) }
}
