import KindredPostgres
import KindredSchema

/// A unique constraint or index with columns as positions: the rows that it indexes, and the columns that it compares.
struct UniqueCheckRuntime: Sendable {
    private(set) var columns: [Int]
    /// The columns that determine whether a row is indexed, and under which value.
    private(set) var concerned: ColumnSet
    let areNullsDistinct: Bool
    /// The predicate of a partial index, as far as it can be evaluated here.
    private let terms: RowTerms
    let isPartial: Bool

    init(_ columns: [Int], areNullsDistinct: Bool = true, isPartial: Bool = false) {
        self.columns = columns
        concerned = ColumnSet(columns)
        self.areNullsDistinct = areNullsDistinct
        terms = RowTerms()
        self.isPartial = isPartial
    }

    init?(_ check: UniqueCheck, of entity: Entity) {
        guard let columns = entity.attributeIndexes(of: check.columns), !columns.isEmpty else { return nil }
        self.columns = columns
        areNullsDistinct = check.areNullsDistinct
        isPartial = check.predicate != nil
        guard let terms = RowTerms(check.predicate.map(\.terms) ?? [], of: entity) else { return nil }
        self.terms = terms
        concerned = ColumnSet(columns).union(terms.columns)
    }

    /// The check for rows of several tables, each of which has an index of its own.
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
        guard try terms.areFulfilled(by: row, omitted: omitted) else { return nil }
        let values = try columns.map { try ObjectKey(row, [$0]) }
        return areNullsDistinct && values.contains(nil) ? nil : values
    }
}
