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
}

protocol OptionalType {
    static var wrapped: Any.Type { get }
}

extension Optional: OptionalType {
    static var wrapped: Any.Type { Wrapped.self }
}
