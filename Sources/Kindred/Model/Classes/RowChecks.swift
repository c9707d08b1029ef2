import KindredPostgres
import KindredSchema

/// What there is to check of the rows of a result, so that each property can show its column's values.
struct RowChecks: Sendable {
    private var requirements: [RowRequirement] = []
    private var readings: [Reading] = []

    /// A column whose values have to be read to know that they can be.
    private struct Reading {
        let position: Int
        let read: @Sendable (Row, Int) throws -> Void
    }

    private static let unreadable = "has a value that its property cannot show"

    /// Checks the columns themselves, which come first in the result.
    ///
    /// Throws for a column of another type than its property has.
    init(_ columns: [TypedLayout.Column], of result: RowColumns, _ entity: EntityRuntime) throws {
        for column in columns {
            guard column.position < result.count else { throw entity.changedColumn(at: column.position, "is missing") }
            let type = result[column.position].dataType
            let isExpected = type == column.type || Attribute.valueKind(of: type) == column.valueKind
            guard isExpected || !type.isKnown else {
                throw entity.changedColumn(
                    at: column.position, "is of the type \(type), where the class has \(column.valueKind)")
            }
            let form = result.form(at: column.position)
            requirements.append(
                RowRequirement(column: column.position, form: form ?? .any, mayBeNull: column.mayBeNull))
            if !isExpected || !column.reading.isExact {
                // Of a type of the database's own, such as an enum that was made again, the values decide too.
                readings.append(Reading(position: column.position, read: column.reading.check))
            } else if form == nil {
                // What can be read at all is a value that the property's type has.
                readings.append(Reading(position: column.position) { row, position in _ = try row[position] })
            }
        }
    }

    /// Throws `KindredError` `.classMismatch` for a value that its property cannot show.
    func check(_ row: Row, of entity: EntityRuntime) throws {
        if let column = row.firstMisfit(among: requirements) {
            let what = row.isNull(at: column) ? "is NULL, where the class has no optional" : Self.unreadable
            // Reading it says what is wrong with it.
            throw entity.changedColumn(at: column, what, because: error { _ = try row[column] })
        }
        for reading in readings {
            if let reason = error({ try reading.read(row, reading.position) }) {
                throw entity.changedColumn(at: reading.position, Self.unreadable, because: reason)
            }
        }
    }

    private func error(_ body: () throws -> Void) -> (any Error)? {
        do {
            try body()
            return nil
        } catch { return error }
    }
}

extension EntityRuntime {
    /// The error for a column that does not fit its property.
    func changedColumn(at position: Int, _ what: String, because reason: (any Error)? = nil) -> KindredError {
        let column = entity.attributes[position].name
        return KindredError(
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
