package import KindredPostgres
package import KindredSchema

/// The argument of a format string's placeholder.
package enum ConditionArgument: Sendable {
    /// NULL, or no object.
    case null
    /// One value; a string where the format has `%K`.
    case value(PostgresValue)
    /// Values for IN, BETWEEN, or a comparison with an array attribute.
    case list([PostgresValue?])
    /// One object.
    case object(any ObjectReference)
    /// Objects for IN.
    case objects([any ObjectReference])
}

/// An object in a condition: its entity and its key's values.
package protocol ObjectReference: Sendable {
    /// The entity of the object's row.
    var entityName: QualifiedName { get }

    /// The value of an attribute as last read.
    func attributeValue(named name: String) throws -> PostgresValue?

    /// Whether the values of some attributes are known.
    func hasAttributes(_ names: [String]) -> Bool
}

extension ObjectReference {
    package func hasAttributes(_ names: [String]) -> Bool { true }
}
