import KindredPostgres
import KindredSchema
import Synchronization

/// Whole rows of an entity, as a statement gave them; every row that becomes an object's comes from here.
///
/// A class is checked against the catalog when it is registered, and the database may change after that: a column may lose
/// its NOT NULL or get another type. A server may also be broken, or not be PostgreSQL at all. So results and rows are
/// checked as they come, which for most columns is to look at a value's length; what does not fit is an error here, and
/// properties need not be able to fail.
struct EntityRows {
    private let result: QueryResult
    private let entity: EntityRuntime
    /// None where there are no properties.
    private let checks: RowChecks?

    /// Checks the columns of a result whose first columns are the entity's attributes.
    ///
    /// Throws `KindredError` `.classMismatch` for a column of another type than its property has, `.wrongType` for a key
    /// that is a whole number no longer.
    init(_ result: QueryResult, of entity: EntityRuntime) throws {
        self.result = result
        self.entity = entity
        guard result.count > 0 else {
            checks = nil
            return
        }
        checks = try entity.layout?.checks(of: result.columns, entity)
        // Asked in place: to copy the column for each look-up costs more.
        guard entity.hasIntegerKey, !result.columns.isInteger(at: entity.key[0]) else { return }
        if let key = result.columns.dropFirst(entity.key[0]).first, !key.dataType.isInteger {
            throw KindredError(
                .wrongType,
                "The key of \(entity.name) is of the type \(key.dataType) now: read the model again, by refreshSchema()",
                entity: entity.name.description,
                key: key.name
            )
        }
    }

    /// The number of rows.
    var count: Int { result.count }

    /// The row at a position; nil where an outer join gave none, so that its key is NULL.
    func joined(_ position: Int) throws -> Row? {
        try ObjectKey(result, position, entity.key) == nil ? nil : self[position]
    }

    /// The row at a position: its first columns, which are the entity's attributes.
    ///
    /// Throws `KindredError` `.classMismatch` for a value that its property cannot show.
    subscript(position: Int) -> Row {
        get throws {
            let row = result.row(at: position, prefix: entity.entity.attributes.count)
            try checks?.check(row, of: entity)
            return row
        }
    }
}

extension TypedLayout {
    /// What there is to check of a result's rows.
    ///
    /// Throws for a column of another type than its property has.
    fileprivate func checks(of result: RowColumns, _ entity: EntityRuntime) throws -> RowChecks {
        let known = checkedResults.withLock { checked in checked.last { $0.result === result }?.checks }
        if let known { return known }
        let checks = try RowChecks(columns, of: result, entity)
        checkedResults.withLock { checked in
            // Statements have their own columns; those that are prepared keep them.
            if checked.count == 16 { checked.removeFirst() }
            checked.append((result, checks))
        }
        return checks
    }
}
