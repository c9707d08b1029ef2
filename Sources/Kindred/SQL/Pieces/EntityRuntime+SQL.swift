import KindredPostgres
import KindredSchema

// The pieces of SQL text that statements about an entity share. Identifiers pass through `SQLIdentifier.quote`.
extension EntityRuntime {
    var quotedName: String {
        get throws {
            "\(try SQLIdentifier.quote(name.schema)).\(try SQLIdentifier.quote(name.name))"
        }
    }

    func quoted(_ attribute: Int) throws -> String {
        try SQLIdentifier.quote(entity.attributes[attribute].name)
    }

    /// Every attribute in the entity's order, as the rows of objects have them.
    ///
    /// A type without a binary codec is read as text.
    func selectList(alias: String? = nil) throws -> String {
        let prefix = alias.map { "\($0)." } ?? ""
        return try entity.attributes.map { attribute in
            let column = "\(prefix)\(try SQLIdentifier.quote(attribute.name))"
            return attribute.isReadAsText ? "\(column)::text" : column
        }.joined(separator: ", ")
    }

    /// `"a" = $1 AND "b" = $2` over the given attributes.
    func equality(_ attributes: [Int], alias: String? = nil, firstParameter: Int) throws -> String {
        let prefix = alias.map { "\($0)." } ?? ""
        return try attributes.enumerated().map { "\(prefix)\(try quoted($1)) = $\(firstParameter + $0)" }
            .joined(separator: " AND ")
    }

    /// Appends the values of a key.
    func append(_ key: ObjectKey, to bindings: inout Bindings) throws {
        if case .integer(let integer) = key, let attribute = self.key.first {
            return try bindings.append(.integer(integer), as: entity.attributes[attribute].baseType)
        }
        try append(key.values, for: self.key, to: &bindings)
    }

    /// Appends the values of the given attributes, each as its column's type.
    func append(_ values: [PostgresValue?], for attributes: [Int], to bindings: inout Bindings) throws {
        for (attribute, value) in zip(attributes, values) {
            try bindings.append(value, as: entity.attributes[attribute].baseType)
        }
    }

    /// `, "version" = t."version" + 1` behind the columns that a statement sets; empty where nothing is counted.
    func versionAssignment(alias: String? = nil) throws -> String {
        guard let version, let assignment = version.assignment(try quoted(version.position), alias: alias)
        else { return "" }
        return ", \(assignment)"
    }

    /// Appends one array parameter with the versions that rows are expected to have; nothing where there are none.
    func append(versions: [PostgresValue?], to bindings: inout Bindings) throws {
        guard let version else { return }
        try KeySet.append(versions, entity.attributes[version.position], to: &bindings)
    }

    /// The given attributes, a type without a binary codec as text.
    func selectList(of columns: [Int], alias: String) throws -> String {
        try columns.map { column in
            let name = "\(alias).\(try quoted(column))"
            return entity.attributes[column].isReadAsText ? "\(name)::text" : name
        }.joined(separator: ", ")
    }

    /// Binds a value as a column's type; a value that does not fit is an error before anything is sent.
    func bind(_ value: PostgresValue?, as column: Int, to bindings: inout Bindings) throws {
        let attribute = entity.attributes[column]
        do {
            try bindings.append(value, as: attribute.baseType)
        } catch let error as PostgresError {
            throw KindredError(
                .wrongType,
                "\(name).\(attribute.name) is of type \(attribute.typeName): \(error.message)",
                entity: name.description,
                key: attribute.name,
                underlying: error
            )
        }
    }

    /// Appends the values by which a write finds a row: its key, and the version that it is expected to have.
    func append(_ row: VersionedKey, to bindings: inout Bindings) throws {
        try append(row.key, to: &bindings)
        if let version { try append([row.version], for: [version.position], to: &bindings) }
    }

    /// `UPDATE … SET … FROM … WHERE … RETURNING …`: every update that the layer sends is made here, and counts the rows'
    /// versions.
    ///
    /// - Parameters:
    ///   - set: what each column gets: `"a" = $1`.
    ///   - source: what stands behind FROM, if anything.
    ///   - condition: what the rows must fulfil; nil for all rows.
    ///   - returned: what is answered of each row; nil for nothing.
    func update(
        alias: String? = nil, set: [String], from source: String? = nil, where condition: String?,
        returning returned: String?
    ) throws -> String {
        var text = "UPDATE \(try quotedName)\(alias.map { " AS \($0)" } ?? "") SET \(set.joined(separator: ", "))"
        text += try versionAssignment(alias: alias)
        if let source { text += " FROM \(source)" }
        if let condition { text += " WHERE \(condition)" }
        if let returned { text += " RETURNING \(returned)" }
        return text
    }

    /// `"a" = $1`, `"b" = $2` for the given attributes, to be set.
    func assignments(_ attributes: [Int], firstParameter: Int) throws -> [String] {
        try attributes.enumerated().map { "\(try quoted($1)) = $\(firstParameter + $0)" }
    }

    /// `"a" = NULL` for the given attributes, to be set.
    func nulls(_ attributes: [Int]) throws -> [String] { try attributes.map { "\(try quoted($0)) = NULL" } }
}
