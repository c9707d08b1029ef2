import KindredPostgres

/// A value for a to-one relationship of a new row, or nothing: an object, its key, or an optional object.
public protocol OptionalToOneValue<Target>: Sendable {
    /// The class at the other end.
    associatedtype Target

    /// The object or the key; nil for nothing.
    var toOneContent: ToOneContent? { get }
}

/// A value for a to-one relationship that a new row must have: an object, or its key.
///
/// ```swift
/// context.add(Post.new(text: "Hello", forum: .key(id), author: user))
/// ```
///
/// The key is the primary key of the other table, with a parameter for each column. Nothing is read: the server checks whether
/// there is such a row.
public protocol ToOneValue<Target>: OptionalToOneValue {}

/// A typed class whose objects are found by a key.
public protocol KeyedObject: TypedObject, ToOneValue {
    /// The type of the key's column; a tuple for several, in the order of the key.
    associatedtype PrimaryKey
}

extension KeyedObject {
    /// The object.
    public var toOneContent: ToOneContent? { ToOneContent(.object(self)) }
}

/// The key of an object of a class.
public struct ToOneKey<Target: KeyedObject>: ToOneValue {
    /// The key.
    public let toOneContent: ToOneContent?

    fileprivate init(_ values: [any PropertyValue]) { toOneContent = ToOneContent(.key(values)) }
}

/// An object or the values of its key.
public struct ToOneContent: Sendable {
    enum Kind: Sendable {
        case object(DatabaseObject)
        case key([any PropertyValue])
    }

    let kind: Kind

    init(_ kind: Kind) { self.kind = kind }
}

extension Optional: OptionalToOneValue where Wrapped: ToOneValue {
    /// The class at the other end.
    public typealias Target = Wrapped.Target

    /// The object or the key; nil for nothing.
    public var toOneContent: ToOneContent? { flatMap(\.toOneContent) }
}

extension OptionalToOneValue {
    /// The object with a key.
    public static func key<Object: KeyedObject>(_ key: Object.PrimaryKey) -> Self
    where Self == ToOneKey<Object>, Object.PrimaryKey: PropertyValue { ToOneKey([key]) }

    /// The object with a key of two columns, in the order of the key.
    public static func key<Object: KeyedObject, First: PropertyValue, Second: PropertyValue>(
        _ first: First, _ second: Second
    ) -> Self where Self == ToOneKey<Object>, Object.PrimaryKey == (First, Second) { ToOneKey([first, second]) }

    /// The object with a key of three columns, in the order of the key.
    public static func key<Object: KeyedObject, First: PropertyValue, Second: PropertyValue, Third: PropertyValue>(
        _ first: First, _ second: Second, _ third: Third
    ) -> Self where Self == ToOneKey<Object>, Object.PrimaryKey == (First, Second, Third) {
        ToOneKey([first, second, third])
    }
}
