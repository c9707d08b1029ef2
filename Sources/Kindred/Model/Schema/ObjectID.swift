public import KindredPostgres
public import KindredSchema

/// The identity of a row: its entity and the values of its key.
///
/// Equal across contexts and processes. `uri` is a stable text form that can be stored and passed to
/// `DatabaseContext.get(_:)` later.
public struct ObjectID: Hashable, Sendable {
    /// The entity's schema and name.
    public let entity: QualifiedName
    /// The names of the key's attributes, in key order.
    ///
    /// Where other tables inherit from the entity's and the row is in such a table, `tableoid` follows, and its value
    /// is the name of the table that holds the row.
    public let attributes: [String]
    /// The key's values, in key order.
    public let values: [PostgresValue]

    package init(entity: QualifiedName, attributes: [String], key: ObjectKey) {
        self.entity = entity
        self.attributes = attributes
        values = key.values
    }

    /// - Parameter schema: the tenant's schema, for entities that are tenants'; nil without tenants.
    package init(_ entity: EntityRuntime, _ key: ObjectKey, in schema: String? = nil) {
        self.entity =
            entity.name.isTenants
            ? schema.map { QualifiedName(schema: $0, name: entity.name.name) } ?? entity.name : entity.name
        var (attributes, values) = (key.isTemporary ? [] : entity.entity.primaryKey, key.values)
        // Numbers of tables change when a database moves, so that their names stand in IDs. The entity's own is not named: IDs
        // stay the same when a table begins or ceases to inherit from it.
        if let tables = entity.rowTable?.tables, !key.isTemporary, case .integer(let number)? = values.popLast(),
            let oid = UInt32(exactly: number), oid != tables.own
        {
            attributes.append(Attribute.table.name)
            values.append(.string(tables.text(of: oid)))
        }
        self.attributes = attributes
        self.values = values
    }

    /// The table that holds the row, if it is not the entity's own.
    var table: String? {
        guard attributes.last == Attribute.table.name, case .string(let text)? = values.last else { return nil }
        return text
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
    ///
    /// - Parameter find: finds an entity; nil if there is none.
    package init(uri: String, _ find: (QualifiedName) throws -> EntityRuntime?) throws {
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
        guard let entity = try find(QualifiedName(schema: schemaName, name: tableName)) else {
            throw invalid("there is no entity \(schemaName).\(tableName)")
        }
        var given: [ServerText: String] = [:]
        for pair in parts[1].split(separator: "&", omittingEmptySubsequences: false) {
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard halves.count == 2, let name = PercentCoding.decode(halves[0]),
                let value = PercentCoding.decode(halves[1])
            else {
                throw invalid("a part after the question mark is not attribute=value")
            }
            guard given.updateValue(value, forKey: name) == nil else { throw invalid("\"\(name)\" stands twice") }
        }
        let table = entity.rowTable == nil ? nil : given.removeValue(forKey: Attribute.table.name)
        guard !entity.key.isEmpty, Set(given.keys) == Set(texts: entity.entity.primaryKey) else {
            let key = entity.entity.primaryKey.joined(separator: ", ")
            throw invalid("the key of \(entity.name) is (\(key))")
        }
        var values = try entity.referencedKey.map { position in
            let attribute = entity.entity.attributes[position]
            do {
                return try PostgresValue(text: given[attribute.name] ?? "", type: attribute.baseType)
            } catch {
                throw invalid("\"\(attribute.name)\" is not a value of type \(attribute.typeName)")
            }
        }
        if let tables = entity.rowTable?.tables {
            let oid = table.map { tables.table($0) } ?? tables.own
            guard let oid else { throw invalid("\(entity.name) has no rows of a table \(table ?? "")") }
            values.append(.integer(Int64(oid)))
        }
        self.init(entity, ObjectKey(values), in: schemaName)
    }
}

extension EntityRuntime {
    /// The key of the row that an ID stands for; nil if it is not an ID of this entity's objects.
    func key(of id: ObjectID) -> ObjectKey? {
        guard let rowTable else { return id.attributes == entity.primaryKey ? ObjectKey(id.values) : nil }
        if id.attributes == entity.primaryKey { return identity(ObjectKey(id.values)) }
        guard id.attributes == entity.identity, let oid = id.table.flatMap({ rowTable.tables.table($0) }) else {
            return nil
        }
        return ObjectKey(id.values.dropLast() + [.integer(Int64(oid))])
    }
}
