import KindredPostgres
import KindredSchema

/// The terms of a condition on a row's own columns, as positions, which memory can evaluate as the server does.
struct RowTerms: Sendable {
    private let terms: [(column: Int, test: RowPredicate.Test)]

    /// The columns that decide.
    var columns: ColumnSet { ColumnSet(terms.map(\.column)) }

    /// No terms: every row fulfils them.
    init() { terms = [] }

    /// nil if there are no terms, or a column is unknown.
    init?(_ given: [RowPredicate.Term]?, of entity: Entity) {
        guard let given else { return nil }
        let known = given.compactMap { term in entity.attributeIndex(of: term.column).map { ($0, term.test) } }
        guard known.count == given.count else { return nil }
        terms = known
    }

    /// Whether a row fulfils all terms.
    ///
    /// - Parameter omitted: columns that the database fills: they may fulfil theirs.
    func areFulfilled(by row: Row, omitted: ColumnSet = []) throws -> Bool {
        try terms.allSatisfy { column, test in
            if omitted.contains(column) { return true }
            switch test {
            case .isNull: return row.isNull(at: column)
            case .isNotNull: return !row.isNull(at: column)
            case .isTrue: return try row[column] == true
            case .isFalse: return try row[column] == false
            case .equals(let text): return try row[column].map { Self.text($0) == text } ?? false
            }
        }
    }

    private static func text(_ value: PostgresValue) -> String? {
        switch value {
        case .string(let text): text
        case .integer(let number): String(number)
        case .bool(let isTrue): isTrue ? "t" : "f"
        default: nil
        }
    }
}
