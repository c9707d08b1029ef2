import KindredSchema

/// One property of a typed class: the column or relationship that it stands for.
public struct PropertyMapping: Sendable {
    enum Kind: Sendable {
        /// A column whose values are of a kind, as ``Attribute/valueKind`` names it.
        case attribute(valueKind: String, isOptional: Bool, reading: PropertyReading)
        case toOne(DatabaseObject.Type, isOptional: Bool)
        case toMany(DatabaseObject.Type)
    }

    let keyPath: any AnyKeyPath & Sendable
    /// The column's name, or a name that the relationship keeps for ever.
    let key: String
    let kind: Kind

    var isAttribute: Bool {
        if case .attribute = kind { true } else { false }
    }

    // One function for each kind: overloads would make long lists of properties slow to compile.

    /// A property that holds a column; an optional one where its values may be NULL.
    public static func attribute<Root: DatabaseObject, Value>(
        _ keyPath: any KeyPath<Root, Value> & Sendable,
        _ column: String,
        _ valueKind: String
    ) -> PropertyMapping {
        let isOptional = Value.self is any OptionalType.Type
        let reading = PropertyReading(Value.self, of: valueKind)
        return PropertyMapping(
            keyPath: keyPath,
            key: column,
            kind: .attribute(valueKind: valueKind, isOptional: isOptional, reading: reading)
        )
    }

    /// A property that leads to one object, or to none where the target is optional.
    public static func toOne<Root: DatabaseObject, Target: ToOneTarget>(
        _ keyPath: any KeyPath<Root, ToOne<Target>> & Sendable,
        _ key: String
    ) -> PropertyMapping {
        let isOptional = Target.self is any OptionalType.Type
        return PropertyMapping(keyPath: keyPath, key: key, kind: .toOne(Target.objectType, isOptional: isOptional))
    }

    /// A property that leads to any number of objects.
    public static func toMany<Root: DatabaseObject, Member: DatabaseObject>(
        _ keyPath: any KeyPath<Root, ToMany<Member>> & Sendable,
        _ key: String
    ) -> PropertyMapping {
        PropertyMapping(keyPath: keyPath, key: key, kind: .toMany(Member.self))
    }
}

protocol OptionalType {
    static var wrapped: Any.Type { get }
}

extension Optional: OptionalType {
    static var wrapped: Any.Type { Wrapped.self }
}
