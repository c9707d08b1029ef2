public import KindredPostgres

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Anything that can be given to a key: an attribute's value, an object, or a collection of either.
///
/// Everything `PostgresEncodable` in the library conforms, and so do objects, set proxies, arrays and sets of them. An
/// ``ObjectID`` stands for its object where a to-one relationship takes one, and in conditions.
/// `nil` stands for NULL, for no object, or for an empty collection.
public protocol PropertyValue: Sendable {
    /// The value in the form that keys take.
    ///
    /// Throws where the value has no exact PostgreSQL form, such as an integer past 64 bits.
    var propertyContent: PropertyContent { get throws }
}

/// What a key was given: one value, one object, or a collection.
public enum PropertyContent: Sendable {
    /// A value for an attribute.
    case value(PostgresValue?)
    /// An object for a to-one relationship.
    case object(DatabaseObject)
    /// The ID of such an object.
    case objectID(ObjectID)
    /// Members for a to-many relationship, or elements for an array attribute.
    case collection([PropertyContent])
    /// Whatever a set proxy holds when it is used.
    case set(ToMany<DatabaseObject>)
}

extension PropertyValue where Self: PostgresEncodable {
    /// The encoded value.
    public var propertyContent: PropertyContent {
        get throws { .value(try postgresValue) }
    }
}

extension Bool: PropertyValue {}
extension Int: PropertyValue {}
extension Int8: PropertyValue {}
extension Int16: PropertyValue {}
extension Int32: PropertyValue {}
extension Int64: PropertyValue {}
extension UInt8: PropertyValue {}
extension UInt16: PropertyValue {}
extension UInt32: PropertyValue {}
extension UInt64: PropertyValue {}
extension UInt: PropertyValue {}
extension Float: PropertyValue {}
extension Double: PropertyValue {}
extension String: PropertyValue {}
extension Substring: PropertyValue {}
extension UUID: PropertyValue {}
extension Date: PropertyValue {}
extension Data: PropertyValue {}
extension Decimal: PropertyValue {}
extension PostgresValue: PropertyValue {}
extension PostgresNumeric: PropertyValue {}
extension PostgresDate: PropertyValue {}
extension PostgresTime: PropertyValue {}
extension PostgresTimeTZ: PropertyValue {}
extension PostgresTimestamp: PropertyValue {}
extension PostgresInterval: PropertyValue {}
extension PostgresJSON: PropertyValue {}
extension PostgresArray: PropertyValue {}

extension [UInt8] {
    /// The bytes that some numbers are where a column holds bytes: `[UInt8]` is a collection of integers as well.
    init?(values: some Collection<PostgresValue?>) {
        self.init()
        reserveCapacity(values.count)
        for value in values {
            guard case .integer(let number)? = value, let byte = UInt8(exactly: number) else { return nil }
            append(byte)
        }
    }
}

extension PropertyContent {
    /// The bytes that a collection of numbers is.
    var bytes: [UInt8]? {
        guard case .collection(let contents) = self else { return nil }
        return [UInt8](
            values: contents.lazy.map { content in
                if case .value(let value) = content { value } else { nil }
            })
    }
}

extension Optional: PropertyValue where Wrapped: PropertyValue {
    /// The wrapped value's content, or NULL.
    public var propertyContent: PropertyContent {
        get throws { try self?.propertyContent ?? .value(nil) }
    }
}

extension Array: PropertyValue where Element: PropertyValue {
    /// The elements' contents.
    public var propertyContent: PropertyContent {
        get throws { .collection(try map { try $0.propertyContent }) }
    }
}

extension Set: PropertyValue where Element: PropertyValue {
    /// The members' contents.
    public var propertyContent: PropertyContent {
        get throws { .collection(try map { try $0.propertyContent }) }
    }
}
