import KindredPostgres
import KindredSchema
import Synchronization

/// Whole rows of an entity, as a statement gave them; every row that becomes an object's comes from here.
///
/// A class is checked against the catalog when it is registered, and the database may change after that: a column may lose
/// its NOT NULL or get another type. So results and rows are checked again as they come, which for a row is to look at
/// the lengths of columns that may not be NULL; what does not fit is an error here, and properties need not be able to fail.
struct EntityRows {
    private let result: QueryResult
    private let entity: EntityRuntime
    private let doubtful: [TypedLayout.Column]

    /// Checks the columns of a result whose first columns are the entity's attributes.
    ///
    /// Throws `KindredError` `.classMismatch` for a column of another type than its property has, `.wrongType` for a key
    /// that is a whole number no longer.
    init(_ result: QueryResult, of entity: EntityRuntime) throws {
        self.result = result
        self.entity = entity
        guard result.count > 0 else {
            doubtful = []
            return
        }
        doubtful = try entity.layout?.doubtfulColumns(of: result.columns, entity) ?? []
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
            guard let layout = entity.layout else { return row }
            if let column = row.firstNull(among: layout.requiredPositions) {
                let name = entity.entity.attributes[column].name
                throw entity.changedColumn(name, "is NULL, where the class has no optional")
            }
            for column in doubtful {
                do {
                    try column.reading.check(row, column.position)
                } catch {
                    throw entity.changedColumn(
                        column.name, "has a value that its property cannot show", because: error)
                }
            }
            return row
        }
    }
}

extension TypedLayout {
    /// The columns of a result whose values have to be read to know that properties can show them.
    ///
    /// Throws for a column of another type than its property has.
    fileprivate func doubtfulColumns(of result: RowColumns, _ entity: EntityRuntime) throws -> [Column] {
        let known = checkedResults.withLock { checked in checked.last { $0.result === result }?.doubtful }
        if let known { return known }
        var doubtful: [Column] = []
        for column in columns {
            guard column.position < result.count else { throw entity.changedColumn(column.name, "is missing") }
            let type = result[column.position].dataType
            if type == column.type || Attribute.valueKind(of: type) == column.valueKind {
                if !column.reading.isExact { doubtful.append(column) }
            } else if type.isKnown {
                throw entity.changedColumn(
                    column.name, "is of the type \(type), where the class has \(column.valueKind)")
            } else {
                // A type of the database's own, such as an enum that was made again: its values decide.
                doubtful.append(column)
            }
        }
        let found = doubtful
        checkedResults.withLock { checked in
            // Statements have their own columns; those that are prepared keep them.
            if checked.count == 16 { checked.removeFirst() }
            checked.append((result, found))
        }
        return found
    }
}

extension EntityRuntime {
    fileprivate func changedColumn(_ column: String, _ what: String, because reason: (any Error)? = nil) -> KindredError
    {
        KindredError(
            .classMismatch,
            """
            \(name).\(column) \(what): the database has changed since the class was checked; run `kindred generate` \
            again, or change the database
            """,
            entity: name.description,
            key: column,
            underlying: reason as? PostgresError
        )
    }
}
