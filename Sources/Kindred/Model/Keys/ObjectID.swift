public import KindredPostgres
public import KindredSchema

/// The identity of a row: its entity and the values of its key.
///
/// Equal across contexts and processes. `uri` is a stable text form that can be stored and given to
/// `DatabaseContext.object(with:)` later.
public struct ObjectID: Hashable, Sendable {
    /// The entity's schema and name.
    public let entity: QualifiedName
    /// The names of the key's attributes, in key order.
    public let attributes: [String]
    /// The key's values, in key order.
    public let values: [PostgresValue]

    package init(entity: QualifiedName, attributes: [String], key: ObjectKey) {
        self.entity = entity
        self.attributes = attributes
        values = key.values
    }

    package init(_ entity: EntityRuntime, _ key: ObjectKey) {
        self.init(entity: entity.name, attributes: key.isTemporary ? [] : entity.entity.primaryKey, key: key)
    }

    /// Whether the ID stands for a new object that is not stored yet; it has another one afterwards.
    public var isTemporary: Bool { attributes.isEmpty }
}

extension ObjectID: CustomStringConvertible {
    /// The URI form.
    public var description: String { uri }
}
