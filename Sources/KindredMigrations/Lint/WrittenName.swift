import KindredPostgres

/// The name of a table or index as a statement writes it: with a schema, or without one.
struct WrittenName: Sendable, Hashable, CustomStringConvertible {
    let schema: String?
    let name: String

    var description: String { schema.map { "\($0).\(name)" } ?? name }

    /// Whether both names can mean one relation: a name without a schema may be in any schema.
    func mayBe(_ other: WrittenName) -> Bool {
        name == other.name && (schema == nil || other.schema == nil || schema == other.schema)
    }

    /// The relation's name after RENAME: the new name in the same schema.
    func renamed(to name: String) -> WrittenName { WrittenName(schema: schema, name: name) }
}

/// A set of written names, in which a name without a schema may be in any schema.
struct WrittenNames: Sendable, Hashable {
    private var schemas: [ServerText: Set<ServerText?>] = [:]

    mutating func insert(_ name: WrittenName) {
        schemas[name.name, default: []].insert(name.schema.map { ServerText($0) })
    }

    func contains(_ name: WrittenName) -> Bool {
        guard let known = schemas[name.name] else { return false }
        return name.schema == nil || known.contains(nil) || known.contains(name.schema.map { ServerText($0) })
    }
}
