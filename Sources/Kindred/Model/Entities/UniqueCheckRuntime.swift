import KindredPostgres
import KindredSchema

/// A unique constraint or index with columns as positions: which rows it indexes, and what it compares.
struct UniqueCheckRuntime: Sendable {
    let columns: [Int]
    /// The columns that determine whether a row is indexed, and under which value.
    let concerned: ColumnSet
    let areNullsDistinct: Bool
    /// The predicate of a partial index, as far as it can be evaluated here.
    private let terms: [(column: Int, test: RowPredicate.Test)]
    /// Whether the index is partial, with a predicate that only the server can evaluate.
    let hasUnknownPredicate: Bool
    let isPartial: Bool

    init(_ columns: [Int]) {
        self.columns = columns
        concerned = ColumnSet(columns)
        areNullsDistinct = true
        terms = []
        (isPartial, hasUnknownPredicate) = (false, false)
    }

    init?(_ check: UniqueCheck, of entity: Entity) {
        guard let columns = entity.attributeIndexes(of: check.columns), !columns.isEmpty else { return nil }
        self.columns = columns
        areNullsDistinct = check.areNullsDistinct
        isPartial = check.predicate != nil
        let known = check.predicate?.terms?.compactMap { term in
            entity.attributeIndex(of: term.column).map { ($0, term.test) }
        }
        hasUnknownPredicate = isPartial && (known == nil || known?.count != check.predicate?.terms?.count)
        terms = hasUnknownPredicate ? [] : known ?? []
        concerned = ColumnSet(columns + terms.map(\.column))
    }

    /// Whether it keeps the columns unique in all rows.
    func covers(_ columns: [Int]) -> Bool { !isPartial && Set(self.columns) == Set(columns) }

    /// The value that no other indexed row may have; nil for a row that is not indexed, or that cannot collide.
    func value(in row: Row) throws -> [ObjectKey?]? {
        for (column, test) in terms {
            let value = try row[column]
            let isFulfilled =
                switch test {
                case .isNull: value == nil
                case .isNotNull: value != nil
                case .isTrue: value == true
                case .isFalse: value == false
                case .equals(let text): value.map { Self.text($0) == text } ?? false
                }
            if !isFulfilled { return nil }
        }
        let values = try columns.map { try ObjectKey(row, [$0]) }
        return areNullsDistinct && values.contains(nil) ? nil : values
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
