import KindredPostgres
import KindredSchema

extension ObjectID {
    static let scheme = "kindred:"

    /// The stable text form: `kindred:/public/person?id=42`.
    ///
    /// Schema, table and the key's attributes and values are percent-encoded; attributes stand in key order.
    /// Host and database are not part of it, so that an ID survives a move of the database [B]. A temporary ID ends in
    /// `#new-` and a number, and cannot be read back.
    public var uri: String {
        let path = "\(Self.scheme)/\(PercentCoding.encode(entity.schema))/\(PercentCoding.encode(entity.name))"
        if isTemporary { return path + "#new-\(values.first?.description ?? "")" }
        let pairs = zip(attributes, values).map { name, value in
            "\(PercentCoding.encode(name))=\(PercentCoding.encode(value.description))"
        }
        return path + "?" + pairs.joined(separator: "&")
    }

    /// Reads an ID from its URI form, checking entity, attributes and value types against the schema.
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
            throw invalid("it has not the form \(Self.scheme)/schema/table?key=value")
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
