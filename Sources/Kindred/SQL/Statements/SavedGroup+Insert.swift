import KindredPostgres

extension SavedGroup {
    /// `INSERT … SELECT … FROM unnest(…) ORDER BY place`: rows are stored, and answered, in the order of the objects.
    ///
    /// The server stores the rows of an INSERT one by one in the order in which the SELECT gives them, and answers each
    /// as it is stored; so the answer's rows are the objects' if there are as many of them.
    func insert() throws -> Statement {
        let values = ColumnArrays(entity: entity, columns: columns)
        let text = try entity.text("save insert \(columns)") {
            let names = try columns.map { try entity.quoted($0) }
            let rows =
                columns.isEmpty
                ? "SELECT FROM generate_series(1, $1)"
                : """
                (\(names.joined(separator: ", "))) SELECT \(values.expressions("c").joined(separator: ", ")) \
                FROM unnest(\(values.parameters(first: 1))) \
                WITH ORDINALITY AS new(\((values.names("c") + ["place"]).joined(separator: ", "))) ORDER BY new.place
                """
            return "INSERT INTO \(try entity.quotedName) \(rows) RETURNING \(try entity.selectList())"
        }
        var bindings = Bindings()
        if columns.isEmpty {
            try bindings.append(Int64(objects.count))
        } else {
            try values.append(objects.map(\.row), to: &bindings)
        }
        return Statement(text: text, bindings: bindings, resultFormat: .binary)
    }

    /// Gives the stored rows to the objects, which are new no longer.
    func applyInsert(_ result: QueryResult, in context: DatabaseContext) throws {
        guard result.count == objects.count else {
            throw KindredError(
                .constraintViolation,
                """
                A trigger, rule or policy of \(entity.name) kept \(objects.count - result.count) of \(objects.count) new \
                rows from being stored; nothing was written
                """,
                entity: entity.name.description
            )
        }
        try context.applyInserted(result, to: objects, entity)
    }
}
