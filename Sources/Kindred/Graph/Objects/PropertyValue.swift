public import KindredPostgres

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Anything that can be assigned to a key: an attribute's value, an object, or a collection of either.
///
/// All `PostgresEncodable` types of the library conform, and so do objects, set proxies, and arrays and sets of them.
/// An ``ObjectID`` stands for its object in to-one relationships and conditions. `nil` stands for NULL, no object, or
/// an empty collection.
public protocol PropertyValue: Sendable {
    /// The value in the form that keys take.
    ///
    /// Throws if the value has no exact PostgreSQL form, such as an integer past 64 bits.
    var propertyContent: DatabaseObject.PropertyContent { get throws }
}

extension DatabaseObject {
    /// The content assigned to a key: one value, one object, or a collection.
    public enum PropertyContent: Sendable {
        /// A value for an attribute.
        case value(PostgresValue?)
        /// An object for a to-one relationship.
        case object(DatabaseObject)
        /// The ID of an object for a to-one relationship.
        case objectID(ObjectID)
        /// Members for a to-many relationship, or elements for an array attribute.
        case collection([DatabaseObject.PropertyContent])
        /// The members of a set proxy, read when it is used.
        case set(ToMany<DatabaseObject>)
    }
}

extension PropertyValue where Self: PostgresEncodable {
    /// The encoded value.
    public var propertyContent: DatabaseObject.PropertyContent {
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
    /// Bytes from a collection of integers, such as `[UInt8]`, where a column holds bytes.
    init?(values: some Collection<PostgresValue?>) {
        self.init()
        reserveCapacity(values.count)
        for value in values {
            guard case .integer(let number)? = value, let byte = UInt8(exactly: number) else { return nil }
            append(byte)
        }
    }
}

extension DatabaseObject.PropertyContent {
    /// The bytes of a collection of numbers.
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
    public var propertyContent: DatabaseObject.PropertyContent {
        get throws { try self?.propertyContent ?? .value(nil) }
    }
}

extension Array: PropertyValue where Element: PropertyValue {
    /// The elements' contents.
    public var propertyContent: DatabaseObject.PropertyContent {
        get throws { .collection(try map { try $0.propertyContent }) }
    }
}

extension Set: PropertyValue where Element: PropertyValue {
    /// The members' contents.
    public var propertyContent: DatabaseObject.PropertyContent {
        get throws { .collection(try map { try $0.propertyContent }) }
    }
}

// Networks, geometry, text search and structured values.
extension PostgresInet: PropertyValue {}
extension PostgresMACAddress: PropertyValue {}
extension PostgresBits: PropertyValue {}
extension PostgresMoney: PropertyValue {}
extension PostgresPoint: PropertyValue {}
extension PostgresLine: PropertyValue {}
extension PostgresLineSegment: PropertyValue {}
extension PostgresBox: PropertyValue {}
extension PostgresPath: PropertyValue {}
extension PostgresPolygon: PropertyValue {}
extension PostgresCircle: PropertyValue {}
extension PostgresTSVector: PropertyValue {}
extension PostgresTSQuery: PropertyValue {}
extension PostgresHStore: PropertyValue {}
extension PostgresVector: PropertyValue {}
extension PostgresComposite: PropertyValue {}
extension PostgresRange: PropertyValue where Bound: PostgresEncodable {}
extension PostgresMultirange: PropertyValue where Bound: PostgresEncodable {}
