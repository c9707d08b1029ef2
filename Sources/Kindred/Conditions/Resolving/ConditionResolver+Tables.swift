import KindredPostgres
import KindredSchema

// Tables from which other tables inherit: their rows are told apart by their table too, and foreign keys refer to rows
// of one table alone.
extension ConditionResolver {
    /// Adds the rows of another table; throws if the table's annotations do not fit.
    mutating func append(_ place: Place) throws {
        if !schema.annotationErrors.isEmpty, let error = schema.annotationErrors[place.entity.name] { throw error }
        places.append(place)
    }

    /// The row is of the table that foreign keys refer to; nothing where that is certain.
    mutating func ofOwnTable(_ place: Int) throws -> [ConditionTerm] {
        guard let tables = places[place].entity.rowTables, !isReferenced(place) else { return [] }
        return [try isRow(place, of: tables.own)]
    }

    /// Whether a foreign key leads to a place, so that its row is of the referenced table.
    func isReferenced(_ place: Int) -> Bool {
        guard let relationship = places[place].link?.relationship else { return false }
        return relationship.holdsForeignKey || relationship.helper != nil
    }

    /// Whether a row is of a table.
    mutating func isRow(_ place: Int, of table: UInt32) throws -> ConditionTerm {
        let column = try tableColumn(of: place)
        return .comparison(column.value, column.type.comparison(.equal), try bind(.integer(Int64(table)), as: column))
    }

    mutating func tableColumn(of place: Int) throws -> Scalar { try keyColumn(Attribute.table.name, of: place) }

    /// The table of an object's row; nil if the entity knows no table of its name.
    func rowTable(of object: any ObjectReference, _ tables: RowTables) throws -> UInt32? {
        switch try object.attributeValue(named: Attribute.table.name) {
        case .integer(let number): UInt32(exactly: number)
        case .string(let text): tables.table(text)
        // The ID of a row of the entity's own table does not name it.
        default: tables.own
        }
    }
}
