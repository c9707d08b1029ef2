import KindredPostgres

/// Asks the server which stored rows conflict with new values of other rows, by a check that only the server can
/// evaluate.
struct ConflictStatements {
    let entity: EntityRuntime
    let check: ServerCheckRuntime

    /// The name of the column with a row's place, which no expression of the check refers to.
    private static let place = "\"place of the row\""

    /// `SELECT … FROM (stored rows) AS held JOIN (new rows) AS taken ON …`: the places of rows that conflict, counted from
    /// one.
    ///
    /// The expressions name the table's columns alone, and so each side is a table of that shape.
    ///
    /// - Parameters:
    ///   - held: the rows as stored in the database, for their keys.
    ///   - taken: the rows with the new values.
    func conflicts(_ held: [Row], _ taken: [Row]) throws -> Statement {
        var parameters = Parameters()
        let keys = try parameters.rows(held, of: entity.key, in: entity, prefix: "k")
        let values = try parameters.rows(taken, of: check.columns, in: entity, prefix: "c")
        let names = try check.columns.map { try entity.texts.quoted($0) }
        let stored = """
            SELECT \(names.map { "t.\($0)" }.joined(separator: ", ")), new.place AS \(Self.place) \
            FROM \(try entity.all(as: .row, .all).from(where: try keys.equality("t"), joining: ", \(keys.placedTable)"))
            """
        let given = """
            SELECT \(zip(values.expressions, names).map { "\($0) AS \($1)" }.joined(separator: ", ")), \
            new.place AS \(Self.place) FROM \(values.placedTable)
            """
        let conflict = check.model.elements.enumerated().map { number, element in
            let conflict = "held.e\(number) \(element.conflict) taken.e\(number)"
            if check.model.areNullsDistinct { return conflict }
            return "(\(conflict) OR held.e\(number) IS NULL AND taken.e\(number) IS NULL)"
        }
        let text = """
            SELECT held.\(Self.place), taken.\(Self.place) FROM (\(compared(stored))) AS held \
            JOIN (\(compared(given))) AS taken ON \(conflict.joined(separator: " AND "))
            """
        return parameters.statement(StatementText(text))
    }

    /// The rows of the index among some rows, each with its values.
    private func compared(_ rows: String) -> String {
        let predicate = check.model.predicate
        let values = check.model.elements.enumerated().map { number, element in
            // The index evaluates expressions only for its own rows, and so may this.
            let value = predicate.map { "CASE WHEN \($0) THEN \(element.expression) END" } ?? element.expression
            return "\(value) AS e\(number)"
        }
        let condition = predicate.map { " WHERE \($0)" } ?? ""
        return "SELECT \(Self.place), \(values.joined(separator: ", ")) FROM (\(rows)) AS t\(condition)"
    }
}
