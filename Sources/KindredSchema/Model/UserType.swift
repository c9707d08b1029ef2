public import KindredPostgres

/// A type that the database defines: an enum, a domain or a composite type.
public struct UserType: Sendable, Hashable {
    /// The structure of a type.
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
    /// The type's structure.
    public let definition: Definition
}
