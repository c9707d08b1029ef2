public import KindredSchema

/// What a typed class says of its entity: its name, and the column or relationship behind each property.
///
/// Generated code holds it; nothing else needs to make one.
public final class EntityMapping: Sendable {
    /// The entity's name.
    public let entity: QualifiedName
    /// The properties, in the order in which generated code numbers them.
    public let properties: [PropertyMapping]

    /// Creates the mapping of a class to an entity.
    public init(schema: String, name: String, _ properties: [PropertyMapping]) {
        entity = QualifiedName(schema: schema, name: name)
        self.properties = properties
    }

    /// The names of columns and relationships by key path.
    public var keys: [AnyKeyPath: String] {
        Dictionary(properties.map { ($0.keyPath, $0.key) }, uniquingKeysWith: { first, _ in first })
    }
}
