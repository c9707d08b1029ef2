import KindredPostgres
import KindredSchema

extension SelectQuery {
    /// `DELETE … WHERE`, or `WITH … FOR UPDATE) DELETE … USING` if order, limit, joins or a lock matter; returns the
    /// given columns of the rows.
    ///
    /// Either way a row changed concurrently is checked again, and stays if it no longer matches.
    func deleteStatement(
        of runtime: EntityRuntime, in schema: DatabaseSchema, returning columns: [Int]
    ) throws -> Statement {
        let (resolver, condition) = try begin(in: schema)
        if resolver.joins[0].isEmpty, limit == nil, offset == nil, lock == nil {
            var text = "DELETE FROM \(try runtime.quotedName) AS t0"
            if let condition {
                text += " WHERE "
                try condition.write(to: &text)
            }
            text += " RETURNING \(try runtime.selectList(of: columns, alias: "t0"))"
            return resolver.parameters.statement(StatementText(text))
        }
        let keys = try runtime.key.map { (name: try runtime.quoted($0), alias: "k\($0)") }
        let selected = keys.map { "t0.\($0.name) AS \($0.alias)" }.joined(separator: ", ")
        let same = try runtime.same("t", as: "s")
        let (name, list) = (try runtime.quotedName, try runtime.selectList(of: columns, alias: "t"))
        return try statement(in: schema, selecting: selected, isSorted: true) { selection in
            """
            WITH s AS MATERIALIZED (\(lockedForDeletion(selection))) \
            DELETE FROM \(name) AS t USING s WHERE \(same) RETURNING \(list)
            """
        }
    }

    /// The given columns, of the alias `t0`, of the rows, which are locked.
    func deletionStatement(in schema: DatabaseSchema, selecting columns: String) throws -> Statement {
        try statement(in: schema, selecting: columns, isSorted: true, lockedForDeletion)
    }

    /// Locks the rows as the query says, or else as a DELETE does; without the right to update, which SELECT … FOR
    /// UPDATE needs, it does not lock, and rows of known keys are locked already.
    private func lockedForDeletion(_ selection: String) -> String {
        if keys != nil || lock == nil && !entity.privileges.contains(.update) { return selection }
        let (strength, waiting) = lock ?? (.forUpdate, .wait)
        return "\(selection) \(strength.rawValue) OF t0\(waiting.rawValue)"
    }
}
