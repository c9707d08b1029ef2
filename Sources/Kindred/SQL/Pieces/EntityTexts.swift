import KindredPostgres
import KindredSchema

/// The texts of an entity's columns and rows in SQL; identifiers pass through `SQLIdentifier.quote`.
///
/// The entity keeps the texts of whole statements (`StatementTexts`); these are the pieces that they are made of.
struct EntityTexts {
    let entity: EntityRuntime

    /// The statement text of one shape, made on first use.
    func statement(_ shape: String, _ make: () throws -> String) rethrows -> StatementText {
        try entity.statementTexts.text(shape, make)
    }
}

extension EntityRuntime {
    /// The texts of its columns and rows in SQL.
    var texts: EntityTexts { EntityTexts(entity: self) }
}

// Columns.
extension EntityTexts {
    func quoted(_ attribute: Int) throws -> String {
        try SQLIdentifier.quote(entity.entity.attributes[attribute].name)
    }

    /// A column in a comparison.
    func compared(_ attribute: Int, alias: String? = nil) throws -> String {
        try compared(attribute, with: "\(alias.map { "\($0)." } ?? "")\(quoted(attribute))")
    }

    /// A value in a comparison with a column.
    func compared(_ attribute: Int, with value: String) -> String {
        entity.entity.attributes[attribute].compared(value)
    }

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
        return try entity.entity.attributes.indices.map { column in
            if lacking.contains(column) { return entity.entity.attributes[column].lacking }
            let name = "\(prefix)\(try quoted(column))"
            if entity.isLeftOut(column, among: leftOut) { return entity.entity.attributes[column].leftOut(name) }
            return entity.entity.attributes[column].isReadAsText ? "\(name)::text" : name
        }.joined(separator: ", ")
    }

    /// Whether a row has the key that was selected as `k0`, `k1` and so on, by the columns' positions.
    func same(_ alias: String, as selection: String) throws -> String {
        try entity.key.map { try equality($0, alias: alias, to: "\(selection).k\($0)") }.joined(separator: " AND ")
    }

    /// `, "version" = t."version" + 1` after the assignments of a statement; empty without a version column.
    func versionAssignment(alias: String? = nil) throws -> String {
        guard let version = entity.version,
            let assignment = version.assignment(try quoted(version.position), alias: alias)
        else { return "" }
        return ", \(assignment)"
    }

    /// The type of the column that marks a row as deleted.
    var markType: String {
        entity.deletionMark.map { entity.entity.attributes[$0].baseType == .timestamp } == true
            ? "timestamp" : "timestamptz"
    }

    /// The given attributes, a type without a binary codec as text.
    ///
    /// All attributes are a row as objects have it, without lazy columns.
    func selectList(of columns: [Int], alias: String) throws -> String {
        if !entity.lazyColumns.isEmpty, columns == Array(entity.attributeColumns) {
            return try selectList(alias: alias)
        }
        return try columns.map { column in
            let name = "\(alias).\(try quoted(column))"
            return entity.entity.attributes[column].isReadAsText ? "\(name)::text" : name
        }.joined(separator: ", ")
    }

    /// Assignments `"a" = NULL` for the given attributes.
    func nulls(_ attributes: [Int]) throws -> [String] { try attributes.map { "\(try quoted($0)) = NULL" } }

    /// `SELECT enum_range(…)`: the labels of a column's enum, or of the enum of its elements.
    func labels(of column: Int) -> Statement {
        let attribute = entity.entity.attributes[column]
        var type = attribute.comparedType ?? attribute.sqlType
        while type.hasSuffix("[]") { type.removeLast(2) }
        let text = "SELECT pg_catalog.enum_range(NULL::\(type))::pg_catalog.text[]"
        return Statement(text: StatementText(text), resultFormat: .binary)
    }
}

// The comparisons of keys. An operator is never written elsewhere: by its name alone the server would look it up in the session's
// search path.
extension EntityTexts {
    /// `left = right`: whether two values of a column are equal, by the operator of its type.
    func equality(of column: Int, _ left: String, _ right: String) -> String {
        "\(left) \(entity.entity.attributes[column].equality) \(right)"
    }

    /// `t."a" = value`: whether a row has a value in a column.
    func equality(_ column: Int, alias: String?, to value: String) throws -> String {
        equality(of: column, try compared(column, alias: alias), compared(column, with: value))
    }

    /// `ORDER BY t."id"` before a FOR UPDATE, so that rows are locked in the order in which statements write them; nothing for
    /// a view, whose key may have no order.
    func orderToLock(_ alias: String) throws -> String {
        if entity.entity.isView || entity.key.isEmpty { return "" }
        let columns = try entity.key.map { column in
            "\(alias).\(try quoted(column))\(entity.entity.attributes[column].baseType.isText ? " COLLATE \"C\"" : "")"
        }
        return " ORDER BY \(columns.joined(separator: ", "))"
    }

    /// ` ORDER BY t."id" FOR UPDATE OF t`.
    func locking(_ alias: String) throws -> String { "\(try orderToLock(alias)) FOR UPDATE OF \(alias)" }
}

extension Attribute {
    /// The place of a column that a statement leaves out: NULL of the same type, which the server does not calculate, under a
    /// name that tells so.
    ///
    /// - Parameter name: the column.
    func leftOut(_ name: String, as alias: String = "\"\(RowColumns.leftOutName)\"") -> String {
        "CASE WHEN false THEN \(name) END\(isReadAsText ? "::text" : "") AS \(alias)"
    }

    /// The place of a column that the table may no longer have; a type that is not built in may be gone, too.
    fileprivate var lacking: String { leftOut("NULL::\(type.isUserDefined ? "text" : sqlType)") }
}
