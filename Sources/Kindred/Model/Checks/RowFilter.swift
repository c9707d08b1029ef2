import KindredPostgres
import KindredSchema

/// The filter of an entity's rows, with its columns as positions.
package final class RowFilter: Sendable {
    /// The parsed condition.
    let model: EntityFilter
    /// The columns that it reads.
    let columns: ColumnSet
    private let terms: RowTerms?

    init(_ filter: EntityFilter, of entity: Entity) {
        model = filter
        columns = ColumnSet(filter.columns.compactMap(entity.attributeIndex(of:)))
        terms = RowTerms(filter.terms, of: entity)
    }

    /// Whether memory can tell which rows are shown; else only the server can.
    var isExact: Bool { terms != nil }

    /// Whether a stored row is shown; nil where only the server can tell.
    func shows(_ row: Row) -> Bool? { terms.flatMap { try? $0.areFulfilled(by: row) } }
}
