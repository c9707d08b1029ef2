public import KindredPostgres

/// A type that the database defines: an enum, a domain or a composite type.
public struct UserType: Sendable, Hashable {
    /// What a type is made of.
    public enum Definition: Sendable, Hashable {
        /// An enum with its labels, in their order.
        case enumeration(labels: [String])
        /// A domain over a type.
        case domain(base: PostgresDataType, isNotNull: Bool)
        /// A composite type with its fields, in their order.
        case composite(fields: [Attribute])
    }

    /// The type's name.
    public let name: QualifiedName
    /// The type's OID.
    public let type: PostgresDataType
    /// What the type is made of.
    public let definition: Definition
}
