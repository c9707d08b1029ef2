package import KindredPostgres
package import KindredSchema

/// What a condition needs to know of an object that it compares with: its entity and its key's values.
package protocol ObjectReference: Sendable {
    /// The entity that the object's row belongs to.
    var entityName: QualifiedName { get }

    /// The value of an attribute as last seen.
    func attributeValue(named name: String) throws -> PostgresValue?

    /// Whether the values of some attributes are known.
    func hasAttributes(_ names: [String]) -> Bool
}

extension ObjectReference {
    package func hasAttributes(_ names: [String]) -> Bool { true }
}
