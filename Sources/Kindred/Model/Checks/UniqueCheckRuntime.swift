import KindredPostgres
import KindredSchema

/// A unique constraint or index with columns as positions: the rows that it indexes, and the columns that it compares.
struct UniqueCheckRuntime: Sendable {
    private(set) var columns: [Int]
    /// The columns that determine whether a row is indexed, and under which value.
    private(set) var concerned: ColumnSet
    let areNullsDistinct: Bool
    /// The predicate of a partial index, as far as it can be evaluated here.
    private let terms: [(column: Int, test: RowPredicate.Test)]
    let isPartial: Bool

    init(_ columns: [Int], areNullsDistinct: Bool = true, isPartial: Bool = false) {
        self.columns = columns
        concerned = ColumnSet(columns)
        self.areNullsDistinct = areNullsDistinct
        terms = []
        self.isPartial = isPartial
    }

    init?(_ check: UniqueCheck, of entity: Entity) {
        guard let columns = entity.attributeIndexes(of: check.columns), !columns.isEmpty else { return nil }
        self.columns = columns
        areNullsDistinct = check.areNullsDistinct
        isPartial = check.predicate != nil
        let given = check.predicate.map(\.terms) ?? []
        let known = given?.compactMap { term in entity.attributeIndex(of: term.column).map { ($0, term.test) } }
        guard let known, known.count == given?.count else { return nil }
        terms = known
        concerned = ColumnSet(columns + terms.map(\.column))
    }

    /// The same check for rows of several tables, each of which has an index of its own.
    func within(_ tableColumn: Int) -> UniqueCheckRuntime {
        var check = self
        check.columns.append(tableColumn)
        check.concerned.insert(tableColumn)
        return check
    }

    /// Whether it keeps the columns unique in all rows.
    func covers(_ columns: [Int]) -> Bool { !isPartial && Set(self.columns) == Set(columns) }

    /// The value that no other indexed row may have; nil for a row that is not indexed, or that cannot collide.
    ///
    /// - Parameter omitted: columns that the database fills: they may satisfy the predicate.
    func value(in row: Row, omitted: ColumnSet = []) throws -> [ObjectKey?]? {
        for (column, test) in terms where !omitted.contains(column) {
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
