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
/// A value of its own: it does not change with the object, and is encoded without the database. A relationship is
/// followed as far as the key paths say, so that a circle of relationships has an end. Values are written as
/// `PostgresValue.encode(to:)` says, whatever the encoder's strategies are.
public struct ObjectView: Sendable {
    indirect enum Content: Sendable {
        case value(PostgresValue?)
        case object(ObjectView?)
        case objects([ObjectView])
    }

    let fields: [(name: String, content: Content)]

    /// The value of an attribute in the view; nil for NULL, and for a name that the view does not have.
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
            case .value(let value): try PostgresValue.encode(value, to: &container, forKey: key)
            case .object(nil): try container.encodeNil(forKey: key)
            case .object(let object?): try container.encode(object, forKey: key)
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
        /// The part of the relationship that is shown; nil for all of it.
        var part: PartQuery?
    }

    private(set) var fields: [Field] = []
    /// The attributes that are shown of no object, although a path shows all.
    private var omitted = ColumnSet()
    private let entity: EntityRuntime
    /// The relationships of which parts are shown.
    private let parts: PrefetchTree
    /// The longest path: it may come from a client.
    private static let maximumDepth = 32

    private init(_ entity: EntityRuntime, _ parts: PrefetchTree) { (self.entity, self.parts) = (entity, parts) }

    /// Reads paths of keys; no path stands for all attributes except lazy attributes.
    ///
    /// Throws `.unknownKey` with the nearest keys, `.invalidRequest` for a path of more than 32 keys, and for a
    /// relationship with two parts.
    ///
    /// - Parameters:
    ///   - paths: the paths of attributes and relationships.
    ///   - omitted: the paths that are taken out.
    ///   - entity: the entity of the objects.
    ///   - keys: how the fields are named.
    ///   - parts: the relationships of which parts are shown.
    init(
        paths: [[String]], omitting omitted: [[String]], of entity: EntityRuntime, _ keys: DatabaseObject.JSONKeys,
        parts: PrefetchTree
    ) throws {
        self.init(entity, parts)
        if paths.isEmpty { addAttributes(keys) }
        for path in paths { try add(path[...], of: path.joined(separator: "."), keys) }
        for path in omitted { try omit(path[...]) }
    }

    /// The columns that statements for the objects omit; nil for the lazy ones.
    var leftOut: ColumnSet? {
        let (known, lazy) = (parts.leftOut, entity.lazyColumns)
        if entity.key.isEmpty { return known }
        let leftOut = (known ?? lazy).subtracting(ColumnSet(attributes)).union(omitted)
        return known == nil && leftOut == lazy ? nil : leftOut
    }

    /// Leaves out columns that the view does not show of rows that are loaded below, and loads the columns that it
    /// shows.
    func leaveOut(of tree: inout PrefetchTree) {
        for (place, relationship) in relationships {
            guard let below = fields[place].tree else { continue }
            for (position, branch) in tree.branches.enumerated()
            where branch.relationship === relationship && branch.part?.key == fields[place].part?.key {
                tree.change(at: position) { deeper in
                    deeper.leftOut = below.leftOut
                    below.leaveOut(of: &deeper)
                }
            }
        }
    }

    /// Takes the end of a path out of the view.
    private mutating func omit(_ path: ArraySlice<String>) throws {
        guard let key = path.first else { return }
        let (field, rest) = (try entity.field(named: key), path.dropFirst())
        switch field {
        case .attribute(let position):
            guard rest.isEmpty else { throw entity.unknownKey(path.joined(separator: ".")) }
            fields.removeAll { if case .attribute(position) = $0.field { true } else { false } }
            if !entity.fixedColumns.contains(position) { omitted.insert(position) }
        case .relationship(let relationship):
            let place = fields.firstIndex { if case .relationship(relationship) = $0.field { true } else { false } }
            guard let place else {
                // A wrong key is an error, even where nothing is shown.
                var unseen = ViewTree(relationship.destination, PrefetchTree())
                return try rest.isEmpty ? () : unseen.omit(rest)
            }
            if rest.isEmpty { fields.remove(at: place) } else { try fields[place].tree?.omit(rest) }
        }
    }

    private mutating func add(
        _ path: ArraySlice<String>, of whole: String, _ keys: DatabaseObject.JSONKeys
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
            let known = fields.firstIndex { $0.name == name }
            let place = known ?? fields.count
            if known == nil {
                let shown = try parts.shown(of: relationship)
                let tree = ViewTree(relationship.destination, shown?.tree ?? PrefetchTree())
                fields.append(Field(name: name, field: field, tree: tree, part: shown?.part))
            }
            if rest.isEmpty {
                fields[place].tree?.addAttributes(keys)
            } else {
                try fields[place].tree?.add(rest, of: whole, keys)
            }
        }
    }

    private mutating func add(_ position: Int, _ keys: DatabaseObject.JSONKeys) {
        let name =
            (keys == .properties ? entity.propertyName(ofAttribute: position) : nil)
            ?? entity.entity.attributes[position].name
        if !fields.contains(where: { $0.name == name }) {
            fields.append(Field(name: name, field: .attribute(position)))
        }
    }

    private mutating func addAttributes(_ keys: DatabaseObject.JSONKeys) {
        for (position, attribute) in entity.entity.attributes.enumerated()
        where !attribute.isHidden && !attribute.isLazy {
            add(position, keys)
        }
    }

    /// The positions of the attributes.
    var attributes: [Int] {
        fields.compactMap { field in
            if case .attribute(let position) = field.field { position } else { nil }
        }
    }

    /// The relationships, by the places of their fields.
    var relationships: [(place: Int, relationship: RelationshipRuntime)] {
        fields.enumerated().compactMap { place, field in
            guard case .relationship(let relationship) = field.field else { return nil }
            return (place, relationship)
        }
    }
}

extension PrefetchTree {
    /// The branch whose objects a view shows of a relationship: the part, if there is one.
    fileprivate func shown(of relationship: RelationshipRuntime) throws -> Branch? {
        let branches = branches.filter { $0.relationship === relationship }
        let parts = branches.filter { $0.part != nil }
        guard parts.count <= 1 else {
            throw KindredError(
                .invalidRequest,
                """
                A view shows one part of \(relationship.source.name).\(relationship.model.name), and \(parts.count) are \
                prefetched
                """,
                entity: relationship.source.name.description, key: relationship.model.name)
        }
        return parts.first ?? branches.first
    }
}
