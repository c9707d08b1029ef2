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
            var text = try runtime.texts.deletion(ofRequest: condition)
            text += " RETURNING \(try runtime.texts.selectList(of: columns, alias: "t0"))"
            return resolver.parameters.statement(StatementText(text))
        }
        let keys = try runtime.key.map { (name: try runtime.texts.quoted($0), alias: "k\($0)") }
        let selected = keys.map { "t0.\($0.name) AS \($0.alias)" }.joined(separator: ", ")
        let same = try runtime.texts.same("t", as: "s")
        let list = try runtime.texts.selectList(of: columns, alias: "t")
        let deleted = try runtime.all(as: .row, .all).from(where: same, joining: " USING s")
        let lock = try lockForDeletion(runtime)
        return try statement(in: schema, selecting: selected, isSorted: true) { selection in
            """
            WITH s AS MATERIALIZED (\(selection)\(lock)) \
            DELETE FROM \(deleted) RETURNING \(list)
            """
        }
    }

    /// The given columns, of the alias `t0`, of the rows, which are locked.
    func deletionStatement(
        of runtime: EntityRuntime, in schema: DatabaseSchema, selecting columns: String
    ) throws -> Statement {
        let lock = try lockForDeletion(runtime)
        return try statement(in: schema, selecting: columns, isSorted: true) { "\($0)\(lock)" }
    }

    /// The query's lock, or else the lock of a DELETE.
    ///
    /// No lock for rows of known keys, which are locked already, and none without the right to update, which SELECT …
    /// FOR UPDATE needs.
    private func lockForDeletion(_ runtime: EntityRuntime) throws -> String {
        if keys != nil || lock == nil && !entity.privileges.contains(.update) { return "" }
        let (strength, waiting) = lock ?? (.forUpdate, .wait)
        return "\(try orderToLock(runtime)) \(strength.rawValue) OF t0\(waiting.rawValue)"
    }
}
