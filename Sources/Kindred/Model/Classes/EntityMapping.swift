public import KindredSchema

/// What a typed class says of its entity: its name, and the column or relationship behind each property.
///
/// Generated code holds it; nothing else needs to make one.
public final class EntityMapping: Sendable {
    /// The entity's name when the class was generated.
    ///
    /// The class follows the search path of the database that it is used with, as a name without a schema does: with
    /// `tenant_a, public` a class made from `public.person` stands for `tenant_a.person` if there is one. A class for exactly
    /// that entity goes before, and one that is qualified stays with its schema.
    public let entity: QualifiedName
    /// Whether the class stands for the entity of this very schema, whatever the search path is.
    public let isQualified: Bool
    /// The properties, in the order in which generated code numbers them.
    public let properties: [PropertyMapping]

    // Key paths are immutable, and those of properties are declared Sendable.
    nonisolated(unsafe) private let table: [AnyKeyPath: String]
    nonisolated(unsafe) private let paths: [AnyKeyPath: String]

    /// Creates the mapping of a class to an entity.
    ///
    /// - Parameters:
    ///   - schema: the schema that the class was generated from.
    ///   - name: the entity's name.
    ///   - isQualified: whether the search path has no say; generated where it did not lead to the entity.
    ///   - properties: the properties, in the order in which generated code numbers them.
    public init(schema: String, name: String, isQualified: Bool = false, _ properties: [PropertyMapping]) {
        entity = QualifiedName(schema: schema, name: name)
        self.isQualified = isQualified
        self.properties = properties
        table = Dictionary(properties.map { ($0.keyPath, $0.key) }, uniquingKeysWith: { first, _ in first })
        paths = Dictionary(
            properties.map { ($0.keyPath, $0.isAttribute ? $0.key : $0.key.asPropertyKey) },
            uniquingKeysWith: { first, _ in first })
    }

    /// The names of columns and relationships by key path.
    public var keys: [AnyKeyPath: String] { table }

    /// The key of a property on a path or among values: of a relationship one that means the property.
    func key(_ keyPath: AnyKeyPath) -> String? { paths[keyPath] }
}
