import KindredPostgres
import KindredSchema

/// The checks of a result's rows, which ensure that each property can return its column's values.
struct RowChecks: Sendable {
    private var requirements: [RowRequirement] = []
    private var readings: [Reading] = []

    /// A column whose values must be read to know whether the property can represent them.
    private struct Reading {
        let position: Int
        let read: @Sendable (Row, Int) throws -> Void
    }

    private static let unreadable = "has a value that its property cannot represent"

    /// Checks the columns, which are first in the result.
    ///
    /// Throws if a column's type differs from its property's.
    init(_ columns: [TypedLayout.Column], of result: RowColumns, _ entity: EntityRuntime) throws {
        for column in columns {
            if result.leftOut.contains(column.position) { continue }
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
                // For a user-defined type, such as an enum that was created again, the values decide.
                readings.append(Reading(position: column.position, read: column.reading.check))
            } else if form == nil {
                // The property's type can represent every value that can be decoded.
                readings.append(Reading(position: column.position) { row, position in _ = try row[position] })
            }
        }
    }

    /// Throws `KindredError` `.classMismatch` for a value that its property cannot represent.
    func check(_ row: Row, of entity: EntityRuntime) throws {
        if let column = row.firstMisfit(among: requirements) {
            let what = row.isNull(at: column) ? "is NULL, where the class has no optional" : Self.unreadable
            // Decoding it gives the reason.
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
    /// The error for a column that does not match its property.
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
