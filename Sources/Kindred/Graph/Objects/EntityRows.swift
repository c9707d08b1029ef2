import KindredPostgres
import KindredSchema
import Synchronization

/// Rows of an entity from a result: the source of every object's row.
///
/// Classes are checked against the catalog when they are registered, but the database may change later: a column may
/// lose its NOT NULL or get another type. So results and rows are checked as they arrive; for most columns that is the
/// value's length. A mismatch is an error here, so that properties need not throw.
package struct EntityRows {
    private let result: QueryResult
    private let entity: EntityRuntime
    /// Nil if the entity has no typed properties.
    private let checks: RowChecks?
    /// The columns whose type differs from the model's.
    private let retyped: [Int]

    /// Checks the columns of a result whose first columns are the entity's attributes.
    ///
    /// Throws `KindredError` `.classMismatch` for a column whose type is not its property's, `.schemaChanged` for a
    /// column whose values the model cannot hold.
    package init(_ result: QueryResult, of entity: EntityRuntime) throws {
        self.result = result
        self.entity = entity
        guard result.count > 0 else {
            (checks, retyped) = (nil, [])
            return
        }
        checks = try entity.layout?.checks(of: result.columns, entity)
        retyped =
            result.columns.dataTypes.starts(with: entity.resultTypes) ? [] : try entity.retyped(in: result.columns)
        if checks == nil, !entity.compositeColumns.isEmpty { try entity.requireNamedFields(in: result) }
    }

    var count: Int { result.count }

    /// The row at a position; nil if an outer join found none, so that its key is NULL.
    func joined(_ position: Int) throws -> Row? {
        try ObjectKey(result, row: position, entity.key) == nil ? nil : self[position]
    }

    /// The row at a position: its first columns, which are the entity's attributes.
    ///
    /// Throws `KindredError` `.classMismatch` for a value that its property cannot represent.
    package subscript(position: Int) -> Row {
        get throws {
            let row = result.row(at: position, prefix: entity.entity.attributes.count)
            try checks?.check(row, of: entity)
            return retyped.isEmpty ? row : try entity.converted(row, retyped)
        }
    }
}

extension TypedLayout {
    /// The checks of a result's rows.
    ///
    /// Throws for a column whose type is not its property's.
    fileprivate func checks(of result: RowColumns, _ entity: EntityRuntime) throws -> RowChecks {
        let known = checkedResults.withLock { checked in checked.last { $0.result === result }?.checks }
        if let known { return known }
        let checks = try RowChecks(columns, of: result, entity)
        checkedResults.withLock { checked in
            // A cache by columns: a prepared statement keeps its column objects.
            if checked.count == 16 { checked.removeFirst() }
            checked.append((result, checks))
        }
        return checks
    }
}
