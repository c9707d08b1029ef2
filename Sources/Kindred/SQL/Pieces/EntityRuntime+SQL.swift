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

    /// Where an object's row stands among a result's columns.
    var attributeColumns: Range<Int> { 0..<entity.attributes.count }

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
}
