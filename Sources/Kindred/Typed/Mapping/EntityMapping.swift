public import KindredSchema

/// What a typed class says of its entity: its name, and the column or relationship behind each property.
///
/// Generated code holds it; nothing else needs to make one.
public final class EntityMapping: Sendable {
    /// The entity's name.
    public let entity: QualifiedName
    /// The properties, in the order in which generated code numbers them.
    public let properties: [PropertyMapping]

    // Key paths are immutable, and those of properties are declared Sendable.
    nonisolated(unsafe) private let table: [AnyKeyPath: String]

    /// Creates the mapping of a class to an entity.
    public init(schema: String, name: String, _ properties: [PropertyMapping]) {
        entity = QualifiedName(schema: schema, name: name)
        self.properties = properties
        table = Dictionary(properties.map { ($0.keyPath, $0.key) }, uniquingKeysWith: { first, _ in first })
    }

    /// The names of columns and relationships by key path.
    public var keys: [AnyKeyPath: String] { table }

    func key(_ keyPath: AnyKeyPath) -> String? { table[keyPath] }
}
