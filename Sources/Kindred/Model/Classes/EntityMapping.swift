public import KindredSchema

/// The mapping of a typed class: its entity's name, and the column or relationship behind each property.
///
/// Made by generated code only.
public final class EntityMapping: Sendable {
    /// The entity's name when the class was generated.
    ///
    /// The class follows the search path of its database, as a name without a schema does: with `tenant_a, public` a
    /// class generated from `public.person` is bound to `tenant_a.person` if there is one. A class for exactly that
    /// entity has precedence, and a qualified one stays with its schema.
    public let entity: QualifiedName
    /// Whether the class is bound to the entity of this schema, for any search path.
    public let isQualified: Bool
    /// The columns that identify objects, where they were chosen among unique keys; nil for a primary key.
    public let key: [String]?
    /// The properties, in the order in which generated code numbers them.
    public let properties: [EntityMapping.Property]

    // Safe: key paths are immutable, and key paths of properties are declared Sendable.
    nonisolated(unsafe) private let table: [AnyKeyPath: String]
    nonisolated(unsafe) private let numbers: [AnyKeyPath: Int]

    /// Creates the mapping of a class to an entity.
    ///
    /// - Parameters:
    ///   - schema: the schema that the class was generated from.
    ///   - name: the entity's name.
    ///   - isQualified: whether the search path is ignored; generated if it did not lead to the entity.
    ///   - key: the columns of the unique key that identifies objects, in a table without a primary key. It stays the key, as stored
    ///     object IDs have it, as long as it is unique.
    ///   - properties: the properties, in the order in which generated code numbers them.
    public init(
        schema: String, name: String, isQualified: Bool = false, key: [String]? = nil,
        _ properties: [EntityMapping.Property]
    ) {
        entity = QualifiedName(schema: schema, name: name)
        (self.isQualified, self.key) = (isQualified, key)
        self.properties = properties
        attributeCount = properties.count { $0.isAttribute }
        unsafe table = Dictionary(properties.map { ($0.keyPath, $0.key) }, uniquingKeysWith: { first, _ in first })
        unsafe numbers = Dictionary(
            properties.enumerated().map { ($0.element.keyPath, $0.offset) }, uniquingKeysWith: { first, _ in first })
    }

    /// The number of properties that are columns.
    let attributeCount: Int

    /// The names of columns and relationships by key path.
    public var keys: [AnyKeyPath: String] { unsafe table }

    /// The key of a property in a path or among values; for a relationship, a key that identifies the property.
    func key(_ keyPath: AnyKeyPath) -> String? { number(keyPath).map { properties[$0].pathKey } }

    /// The number of a property; nil for a key path that is no property.
    func number(_ keyPath: AnyKeyPath) -> Int? { unsafe numbers[keyPath] }
}

extension EntityMapping {
    /// One property of a typed class, with its column or relationship.
    public struct Property: Sendable {
        enum Kind: Sendable {
            /// A column with a kind of values, as ``Attribute/valueKind`` names it.
            case attribute(valueKind: String, isOptional: Bool, reading: PropertyReading, isLazy: Bool)
            case toOne(EntityClass.Reference, isOptional: Bool)
            case toMany(EntityClass.Reference)
        }

        let keyPath: any AnyKeyPath & Sendable
        /// The column's name, or the stable name of the relationship.
        let key: String
        /// The property's name; nil for a relationship of a class that was generated without it.
        let name: String?
        let kind: Kind
        /// The key in a path; for a relationship, a key that identifies the property.
        let pathKey: String

        init(keyPath: any AnyKeyPath & Sendable, key: String, name: String?, kind: Kind) {
            (self.keyPath, self.key, self.name, self.kind) = (keyPath, key, name, kind)
            if case .attribute = kind { pathKey = key } else { pathKey = key.asPropertyKey }
        }

        var isAttribute: Bool {
            if case .attribute = kind { true } else { false }
        }
    }
}

/// The type of a property whose column is loaded when it is asked for.
protocol LazyPropertyType {
    static func kind(_ valueKind: String) -> EntityMapping.Property.Kind
}

protocol OptionalType {
    static var wrapped: Any.Type { get }
}

extension Optional: OptionalType {
    static var wrapped: Any.Type { Wrapped.self }
}
