public import KindredPostgres
public import KindredSchema

/// The identity of a row: its entity and the values of its key.
///
/// Equal across contexts and processes. `uri` is a stable text form that can be stored and passed to
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

    /// Whether the ID belongs to a new object; it changes when the object is stored.
    public var isTemporary: Bool { attributes.isEmpty }
}

extension ObjectID: CustomStringConvertible {
    /// The URI form.
    public var description: String { uri }
}

extension ObjectID {
    static let scheme = "kindred:"

    /// The stable text form: `kindred:/public/person?id=42`.
    ///
    /// Schema, table and the key's attributes and values are percent-encoded; attributes are in key order. The URI has
    /// no host and database, so that an ID remains valid when a database moves. A temporary ID ends in `#new-` and a
    /// number, and cannot be parsed.
    public var uri: String {
        let path = "\(Self.scheme)/\(PercentCoding.encode(entity.schema))/\(PercentCoding.encode(entity.name))"
        if isTemporary { return path + "#new-\(values.first?.description ?? "")" }
        let pairs = zip(attributes, values).map { name, value in
            "\(PercentCoding.encode(name))=\(PercentCoding.encode(value.description))"
        }
        return path + "?" + pairs.joined(separator: "&")
    }

    /// Parses the URI form, and checks entity, attributes and value types against the schema.
    ///
    /// Throws `KindredError` `.invalidObjectID` with the reason. Sends nothing.
    package init(uri: String, schema: SchemaRuntime) throws {
        func invalid(_ reason: String) -> KindredError {
            KindredError(.invalidObjectID, "The text is not the URI of an object: \(reason)")
        }
        guard uri.hasPrefix("\(Self.scheme)/") else {
            throw invalid("it does not begin with \(Self.scheme)/")
        }
        let parts = uri.dropFirst(Self.scheme.count + 1).split(
            separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = parts[0].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, path.count == 2, let schemaName = PercentCoding.decode(path[0]),
            let tableName = PercentCoding.decode(path[1])
        else {
            throw invalid("it does not have the form \(Self.scheme)/schema/table?key=value")
        }
        guard let entity = schema[QualifiedName(schema: schemaName, name: tableName)] else {
            throw invalid("there is no entity \(schemaName).\(tableName)")
        }
        var given: [String: String] = [:]
        for pair in parts[1].split(separator: "&", omittingEmptySubsequences: false) {
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard halves.count == 2, let name = PercentCoding.decode(halves[0]),
                let value = PercentCoding.decode(halves[1])
            else {
                throw invalid("a part after the question mark is not attribute=value")
            }
            guard given.updateValue(value, forKey: name) == nil else { throw invalid("\"\(name)\" stands twice") }
        }
        guard !entity.key.isEmpty, Set(given.keys) == Set(entity.entity.primaryKey) else {
            let key = entity.entity.primaryKey.joined(separator: ", ")
            throw invalid("the key of \(entity.name) is (\(key))")
        }
        let values = try entity.key.map { position in
            let attribute = entity.entity.attributes[position]
            do {
                return try PostgresValue(text: given[attribute.name] ?? "", type: attribute.baseType)
            } catch {
                throw invalid("\"\(attribute.name)\" is not a value of type \(attribute.typeName)")
            }
        }
        self.init(entity, ObjectKey(values))
    }
}
