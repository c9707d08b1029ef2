import KindredPostgres
import KindredSchema

// Pieces of SQL text shared by an entity's statements. Identifiers pass through `SQLIdentifier.quote`.
extension EntityRuntime {
    func quoted(_ attribute: Int) throws -> String {
        try SQLIdentifier.quote(entity.attributes[attribute].name)
    }

    /// A column in a comparison.
    func compared(_ attribute: Int, alias: String? = nil) throws -> String {
        try compared(attribute, with: "\(alias.map { "\($0)." } ?? "")\(quoted(attribute))")
    }

    /// A value in a comparison with a column.
    func compared(_ attribute: Int, with value: String) -> String { entity.attributes[attribute].compared(value) }

    /// Every attribute in the entity's order, as in the rows of objects.
    ///
    /// A type without a binary codec is read as text.
    ///
    /// - Parameters:
    ///   - leftOut: the columns without a value; nil for the lazy ones.
    ///   - lacking: columns without a value, since the table may no longer have them.
    func selectList(
        alias: String? = nil, leavingOut leftOut: ColumnSet? = nil, lacking: ColumnSet = []
    ) throws -> String {
        let prefix = alias.map { "\($0)." } ?? ""
        return try entity.attributes.indices.map { column in
            if lacking.contains(column) { return entity.attributes[column].lacking }
            let name = "\(prefix)\(try quoted(column))"
            if isLeftOut(column, among: leftOut) { return entity.attributes[column].leftOut(name) }
            return entity.attributes[column].isReadAsText ? "\(name)::text" : name
        }.joined(separator: ", ")
    }

    /// Whether a row has the key that was selected as `k0`, `k1` and so on, by the columns' positions.
    func same(_ alias: String, as selection: String) throws -> String {
        try key.map { try equality($0, alias: alias, to: "\(selection).k\($0)") }.joined(separator: " AND ")
    }

    /// `, "version" = t."version" + 1` after the assignments of a statement; empty without a version column.
    func versionAssignment(alias: String? = nil) throws -> String {
        guard let version, let assignment = version.assignment(try quoted(version.position), alias: alias)
        else { return "" }
        return ", \(assignment)"
    }

    /// The type of the column that marks a row as deleted.
    var markType: String {
        deletionMark.map { entity.attributes[$0].baseType == .timestamp } == true ? "timestamp" : "timestamptz"
    }

    /// The given attributes, a type without a binary codec as text.
    ///
    /// All attributes are a row as objects have it, without lazy columns.
    func selectList(of columns: [Int], alias: String) throws -> String {
        if !lazyColumns.isEmpty, columns == Array(attributeColumns) { return try selectList(alias: alias) }
        return try columns.map { column in
            let name = "\(alias).\(try quoted(column))"
            return entity.attributes[column].isReadAsText ? "\(name)::text" : name
        }.joined(separator: ", ")
    }

    /// Binds a value as a column's type; throws before anything is sent if it does not fit.
    func bind(_ value: PostgresValue?, as column: Int, to bindings: inout Bindings) throws {
        let attribute = entity.attributes[column]
        do {
            try bindings.append(value, for: attribute)
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

    /// Assignments `"a" = NULL` for the given attributes.
    func nulls(_ attributes: [Int]) throws -> [String] { try attributes.map { "\(try quoted($0)) = NULL" } }
}

extension Attribute {
    /// The place of a column that a statement leaves out: NULL of the same type, which the server does not calculate, under a
    /// name that tells so.
    ///
    /// - Parameter name: the column.
    func leftOut(_ name: String, as alias: String = "\"\(RowColumns.leftOutName)\"") -> String {
        "CASE WHEN false THEN \(name) END\(isReadAsText ? "::text" : "") AS \(alias)"
    }

    /// The place of a column that the table may no longer have.
    fileprivate var lacking: String { leftOut("NULL::\(sqlType)") }
}

extension EntityRuntime {
    /// `SELECT enum_range(…)`: the labels of a column's enum, or of the enum of its elements.
    func labels(of column: Int) -> Statement {
        let attribute = entity.attributes[column]
        var type = attribute.comparedType ?? attribute.sqlType
        while type.hasSuffix("[]") { type.removeLast(2) }
        let text = "SELECT pg_catalog.enum_range(NULL::\(type))::pg_catalog.text[]"
        return Statement(text: StatementText(text), resultFormat: .binary)
    }
}

extension Bindings {
    /// Appends a value as a column's type.
    ///
    /// The server infers a type that was made in the database, since it may have been made anew after the model was
    /// read. It infers a row's type in assignments only.
    mutating func append(_ value: PostgresValue?, for attribute: Attribute) throws {
        var isRow = false
        if case .composite = attribute.structure { isRow = !attribute.isArray }
        let isInferred = attribute.baseType.isUserDefined && !isRow
        try append(value, as: attribute.baseType, isInferred: isInferred)
    }
}
