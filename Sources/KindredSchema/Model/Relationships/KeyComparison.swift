import KindredPostgres

/// The comparison of a foreign key's column with the referenced column, where it is not the equality of both types.
package struct KeyComparison: Sendable, Hashable {
    /// The operator, with the referenced column on its left: `=`, or `OPERATOR("ext".=)`.
    let equality: String
    /// The type as which both columns are compared; nil for their own.
    package let type: String?
    /// The referenced column's collation, by which the constraint compares; nil where both columns have the same.
    let collation: String?

    /// Whether a value of the referenced column equals one of the key's.
    package func sql(referenced: String, holder: String) -> String {
        let type = type.map { "::\($0)" } ?? ""
        let collation = collation.map { " COLLATE \($0)" } ?? ""
        return "\(referenced)\(type)\(collation) \(equality) \(holder)\(type)"
    }
}

extension [KeyComparison?] {
    /// The comparison of a column by its place; nil where the equality of its type decides.
    package func at(_ place: Int) -> KeyComparison? { indices.contains(place) ? self[place] : nil }
}

extension Attribute {
    /// The operator by which values of the column are equal.
    package var equality: String { isOfElements ? "=" : operators?[.equal] ?? "=" }

    /// Whether the values are arrays, which `pg_catalog` compares by the operators of their elements.
    private var isOfElements: Bool { elementType != nil }

    /// The comparison of a foreign key's column with the referenced column; nil where it is the equality of both types.
    ///
    /// - Parameter operation: the constraint's operator; nil for an operator of `pg_catalog`.
    func comparison(with referenced: Attribute, by operation: String?) -> KeyComparison? {
        // As the server does: the equality of all deterministic collations is the same.
        let isLoose = hasLooseCollation || referenced.hasLooseCollation
        let areUnlike =
            collation != referenced.collation && (isLoose || collation != nil && referenced.collation != nil)
        let collation = areUnlike ? referenced.collation ?? "pg_catalog.\"default\"" : nil
        // A type with operators of its own that is compared by another type's operators, such as citext that refers to
        // text.
        let type =
            operation == nil && equality != "=" && referenced.equality == "=" ? referenced.typeWithoutLength : nil
        let isOfTypes =
            operation ?? "=" == equality && equality == referenced.equality || type == nil && operation == nil
        if isOfTypes && collation == nil { return nil }
        return KeyComparison(equality: operation ?? (type == nil ? equality : "="), type: type, collation: collation)
    }

    /// The base type's name, without a length.
    private var typeWithoutLength: String { baseType.isKnown ? baseType.description : sqlType }
}
