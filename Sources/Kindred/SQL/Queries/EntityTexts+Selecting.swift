import KindredPostgres
import KindredSchema

extension Attribute {
    /// The type of a NULL in SQL of the program's, whose text has no marks: a tenant's own type is not among them.
    fileprivate var typeInRawSQL: String {
        guard sqlType.utf8.contains(0) else { return sqlType }
        return baseType.isUserDefined ? "text" : baseType.description
    }
}

extension EntityTexts {
    /// The entity's columns, selected by name from the result of raw SQL, of the tenant's rows alone; a type without a codec is
    /// read as text.
    ///
    /// Lazy columns are left out, and need not be in it. The line break ends a comment at the end of the text.
    func selecting(from sql: SQL) throws -> SQL {
        SQL(unsafeRaw: "WITH t0 AS (") + sql
            + SQL(unsafeRaw: "\n) SELECT \(try columnsOfText) FROM \(try ofRequestInFront)")
    }

    private var columnsOfText: String {
        get throws {
            if entity.lazyColumns.isEmpty { return try SelectQuery.columns(of: entity.entity) }
            return try entity.entity.attributes.indices.map { column in
                let attribute = entity.entity.attributes[column]
                if attribute.isLazy { return attribute.leftOut("NULL::\(attribute.typeInRawSQL)") }
                return try selectList(of: [column], alias: "t0")
            }.joined(separator: ", ")
        }
    }
}
