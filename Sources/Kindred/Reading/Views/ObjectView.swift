import KindredPostgres
import KindredSchema

/// Some attributes and relationships of an object, taken at a moment, to be written as JSON.
///
/// ```swift
/// let books = try await context.fetch("book").views("title", "category.name", "authors.name")
/// let data = try JSONEncoder().encode(books)
/// // [{"title": "…", "category": {"name": "…"}, "authors": [{"name": "…"}]}]
/// ```
///
/// A value of its own: it changes no more when the object does, and is encoded without the database. A relationship is
/// followed as far as the key paths say, so that a circle of relationships has an end. Values are written as
/// `PostgresValue.encode(to:)` says, whatever the encoder's strategies are.
public struct ObjectView: Sendable {
    indirect enum Content: Sendable {
        case value(PostgresValue?)
        case object(ObjectView?)
        case objects([ObjectView])
    }

    let fields: [(name: String, content: Content)]

    /// The value of an attribute in the view; nil for NULL, and for a name that is none.
    public subscript(name: String) -> PostgresValue? {
        if case .value(let value)? = fields.first(where: { $0.name == name })?.content { value } else { nil }
    }
}

extension ObjectView: Encodable {
    /// Writes the fields as an object, NULL and a missing object as `null`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: JSONKey.self)
        for (name, content) in fields {
            let key = JSONKey(name)
            switch content {
            case .value(let value): try container.encode(value, forKey: key)
            case .object(let object): try container.encode(object, forKey: key)
            case .objects(let objects): try container.encode(objects, forKey: key)
            }
        }
    }
}

/// The fields that a view shows of each object of an entity.
struct ViewTree: Sendable {
    struct Field: Sendable {
        let name: String
        let field: EntityField
        /// The fields shown of a relationship's objects; nil for an attribute.
        var tree: ViewTree?
    }

    private(set) var fields: [Field] = []
    private let entity: EntityRuntime
    /// The longest path: it may come from a client.
    private static let maximumDepth = 32

    private init(_ entity: EntityRuntime) { self.entity = entity }

    /// Reads key paths; none stands for all attributes.
    ///
    /// Throws `.unknownKey` with the nearest keys, `.invalidRequest` for a path of more than 32 keys.
    init(_ keyPaths: [String], of entity: EntityRuntime, _ keys: JSONKeys) throws {
        try self.init(paths: keyPaths.map(\.keys), of: entity, keys)
    }

    /// Reads paths of keys; none stands for all attributes.
    init(paths: [[String]], of entity: EntityRuntime, _ keys: JSONKeys) throws {
        self.init(entity)
        if paths.isEmpty { addAttributes(keys) }
        for path in paths { try add(path[...], of: path.joined(separator: "."), keys) }
    }

    private mutating func add(
        _ path: ArraySlice<String>, of whole: String, _ keys: JSONKeys
    ) throws {
        guard let key = path.first else { return }
        guard path.startIndex < Self.maximumDepth else {
            throw KindredError(.invalidRequest, "A key path of a view has at most \(Self.maximumDepth) keys")
        }
        let rest = path.dropFirst()
        if key == "*", rest.isEmpty { return addAttributes(keys) }
        let field = try entity.field(named: key)
        switch field {
        case .attribute(let position):
            guard rest.isEmpty else {
                throw KindredError(
                    .unknownKey,
                    "The path \(whole) goes on after \"\(key)\", which is an attribute of \(entity.name)",
                    entity: entity.name.description, key: key)
            }
            add(position, keys)
        case .relationship(let relationship):
            let name =
                (keys == .properties ? entity.propertyName(of: relationship) : nil)
                ?? relationship.model.name
            let place =
                fields.firstIndex { $0.name == name }
                ?? {
                    let tree = ViewTree(relationship.destination)
                    fields.append(Field(name: name, field: field, tree: tree))
                    return fields.count - 1
                }()
            if rest.isEmpty {
                fields[place].tree?.addAttributes(keys)
            } else {
                try fields[place].tree?.add(rest, of: whole, keys)
            }
        }
    }

    private mutating func add(_ position: Int, _ keys: JSONKeys) {
        let name =
            (keys == .properties ? entity.propertyName(ofAttribute: position) : nil)
            ?? entity.entity.attributes[position].name
        if !fields.contains(where: { $0.name == name }) {
            fields.append(Field(name: name, field: .attribute(position)))
        }
    }

    private mutating func addAttributes(_ keys: JSONKeys) {
        for (position, attribute) in entity.entity.attributes.enumerated() where !attribute.isHidden {
            add(position, keys)
        }
    }

    /// The relationships, with the fields shown of each.
    var relationships: [(place: Int, relationship: RelationshipRuntime, tree: ViewTree)] {
        fields.enumerated().compactMap { place, field in
            guard case .relationship(let relationship) = field.field, let tree = field.tree else { return nil }
            return (place, relationship, tree)
        }
    }
}
