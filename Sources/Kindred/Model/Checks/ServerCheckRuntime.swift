import KindredPostgres
import KindredSchema

/// A unique index or EXCLUDE constraint whose conflicts only the server can find, with columns as positions.
struct ServerCheckRuntime: Sendable {
    let model: ServerCheck
    /// All columns that its values and its condition depend on, in the entity's order.
    let columns: [Int]
    let concerned: ColumnSet
    /// Its plain columns: a row with NULL in one of them conflicts with no other.
    let plain: UniqueCheckRuntime

    init?(_ check: ServerCheck, of entity: Entity) {
        guard let columns = entity.attributeIndexes(of: check.columns) else { return nil }
        model = check
        self.columns = columns.sorted()
        concerned = ColumnSet(columns)
        plain = UniqueCheckRuntime(
            check.elements.compactMap { $0.column.flatMap(entity.attributeIndex) },
            areNullsDistinct: check.areNullsDistinct, isPartial: check.predicate != nil)
    }
}
