import KindredPostgres

/// A unique index or EXCLUDE constraint, checked row by row, whose conflicts only the server can find.
///
/// It has expressions, an operator other than equality, a condition that cannot be evaluated in memory, or a type whose
/// equal values may differ in their bytes: text that ignores case, `char(n)`, intervals.
package struct ServerCheck: Sendable {
    /// One of the values that are compared.
    package struct Element: Sendable {
        /// The value as SQL of the table's columns, with its collation.
        package let expression: String
        /// The operator that is true for values that conflict.
        package let conflict: String
        /// The column, if the value is a plain one.
        package let column: String?
    }

    package let elements: [Element]
    /// The condition of a partial index as SQL; nil for all rows.
    package let predicate: String?
    /// Whether rows with NULL in one of the values never conflict; false for `NULLS NOT DISTINCT`.
    package let areNullsDistinct: Bool
    /// All columns that values and condition depend on.
    package let columns: [String]
}

extension ServerCheck: Equatable {
    /// Compares everything but the texts of expressions, which depend on the search path of the reading session.
    package static func == (left: ServerCheck, right: ServerCheck) -> Bool {
        left.elements.map(\.column) == right.elements.map(\.column) && left.columns == right.columns
            && left.areNullsDistinct == right.areNullsDistinct
            && (left.predicate == nil) == (right.predicate == nil)
    }
}
