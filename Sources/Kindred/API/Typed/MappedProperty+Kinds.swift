import KindredSchema

// One function for each kind: overloads would slow down the compilation of long property lists.
extension EntityMapping.Property {
    /// A property for a column; optional if its values may be NULL.
    ///
    /// - Parameters:
    ///   - keyPath: the property.
    ///   - column: the column's name.
    ///   - valueKind: the kind of value that the property was written for.
    ///   - name: the property's name if it differs from the column's, for JSON by property names.
    public static func attribute<Root: DatabaseObject, Value>(
        _ keyPath: any KeyPath<Root, Value> & Sendable,
        _ column: String,
        _ valueKind: String,
        name: String? = nil
    ) -> EntityMapping.Property {
        EntityMapping.Property(
            keyPath: keyPath,
            key: column,
            name: name ?? column,
            kind: (Value.self as? any LazyPropertyType.Type)?.kind(valueKind) ?? kind(of: Value.self, valueKind)
        )
    }

    /// The kind of a property with some type of values.
    static func kind<Value>(of type: Value.Type, _ valueKind: String, isLazy: Bool = false) -> Kind {
        let reading = PropertyReading(type, of: valueKind, isEnum: isEnum(type))
        return .attribute(
            valueKind: valueKind, isOptional: type is any OptionalType.Type, reading: reading, isLazy: isLazy)
    }

    /// A property for a to-one relationship; optional if it may lead to no object.
    public static func toOne<Root: DatabaseObject, Target: ToOneTarget>(
        _ keyPath: any KeyPath<Root, ToOne<Target>> & Sendable,
        _ key: String,
        name: String? = nil
    ) -> EntityMapping.Property {
        let isOptional = Target.self is any OptionalType.Type
        return EntityMapping.Property(
            keyPath: keyPath, key: key, name: name, kind: .toOne(Target.objectType, isOptional: isOptional))
    }

    /// A property for a to-many relationship.
    public static func toMany<Root: DatabaseObject, Member: DatabaseObject>(
        _ keyPath: any KeyPath<Root, ToMany<Member>> & Sendable,
        _ key: String,
        name: String? = nil
    ) -> EntityMapping.Property {
        EntityMapping.Property(keyPath: keyPath, key: key, name: name, kind: .toMany(Member.self))
    }

    private static func isEnum(_ type: Any.Type) -> Bool {
        ((type as? any OptionalType.Type)?.wrapped ?? type) is any DatabaseEnum.Type
    }
}

extension LazyAttribute: LazyPropertyType {
    static func kind(_ valueKind: String) -> EntityMapping.Property.Kind {
        EntityMapping.Property.kind(of: Value.self, valueKind, isLazy: true)
    }
}
