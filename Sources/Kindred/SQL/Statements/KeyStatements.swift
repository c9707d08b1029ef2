import KindredPostgres
import KindredSchema
import Synchronization

/// The statements that find rows of an entity by their keys.
package struct KeyStatements {
    package let entity: EntityRuntime

    package init(entity: EntityRuntime) { self.entity = entity }

    /// `SELECT … WHERE key`.
    func select(byKey key: ObjectKey) throws -> Statement {
        var parameters = Parameters()
        let row = try parameters.key(key, of: entity)
        let text = try entity.statementTexts.selectionByKey.withLock { known in
            if let known { return known }
            let made = StatementText(
                "SELECT \(try entity.texts.selectList()) FROM \(try entity.all(as: .none, .all).from(where: try row.equality()))"
            )
            known = made
            return made
        }
        return parameters.statement(text)
    }

    /// `SELECT … WHERE key = ANY($1)`.
    package func select(byKeys keys: [ObjectKey]) throws -> Statement {
        // The server's generic plan assumes ten keys: with fewer, it would plan each statement again, which takes
        // longer than the look-up.
        var keys = keys
        while keys.count < 10 { keys.append(keys[0]) }
        var parameters = Parameters()
        let given = try parameters.keys(keys, of: entity.key, in: entity)
        return try parameters.statement("select by keys", in: entity) {
            "SELECT \(try entity.texts.selectList()) FROM \(try entity.all(as: .none, .all).from(where: try given.condition()))"
        }
    }

    /// `SELECT key … WHERE key IN (…)`: the keys of rows that the entity's filter shows.
    func selectShown(_ keys: [ObjectKey]) throws -> Statement {
        var parameters = Parameters()
        let keys = try parameters.shardKeys(keys, of: entity.key, in: entity)
        let rows = try parameters.shown(entity, as: .row, .all)
        return try parameters.statement("shown keys", in: entity) {
            let list = try entity.texts.selectList(of: entity.key, alias: "t")
            return "SELECT \(list) FROM \(try rows.from(where: try keys.condition("t")))"
        }
    }

    /// `SELECT … WHERE key FOR UPDATE`, or another lock.
    func select(byKey key: ObjectKey, lock: RowLock, waiting: RowLock.Waiting) throws -> Statement {
        let clause = lock.rawValue + waiting.rawValue
        var parameters = Parameters()
        let row = try parameters.key(key, of: entity)
        return try parameters.statement("lock \(clause)", in: entity) {
            "SELECT \(try entity.texts.selectList()) FROM \(try entity.all(as: .none, .all).from(where: try row.equality())) \(clause)"
        }
    }

    /// `SELECT … WHERE key`, of several tables: the row of the entity's own table, or else the row of the first other
    /// table.
    func selectFirst(_ values: ObjectKey) throws -> Statement {
        var parameters = Parameters()
        let row = try parameters.values(values.values, of: entity.referencedKey, in: entity)
        let table = try ownTable(&parameters)
        return try parameters.statement("find first", in: entity) {
            """
            SELECT \(try entity.texts.selectList()) FROM \(try entity.all(as: .none, .all).from(where: try row.equality())) \
            \(try ownFirst("", table)) LIMIT 1
            """
        }
    }

    /// `SELECT … WHERE key IN (…)`, of several tables: one row for each key, of the entity's own table if it has one.
    func selectFirst(_ keys: [ObjectKey]) throws -> Statement {
        var parameters = Parameters()
        let keys = try parameters.keys(keys, of: entity.referencedKey, in: entity)
        let table = try ownTable(&parameters)
        return try parameters.statement("find first of keys", in: entity) {
            let list = try entity.referencedKey.map { "t.\(try entity.texts.quoted($0))" }.joined(separator: ", ")
            return """
                SELECT DISTINCT ON (\(list)) \(try entity.texts.selectList(alias: "t")) \
                FROM \(try entity.all(as: .row, .all).from(where: try keys.condition("t"))) \(try ownFirst("t.", table, after: list + ", "))
                """
        }
    }

    private func ownFirst(_ prefix: String, _ own: ColumnParameters?, after keys: String = "") throws -> String {
        guard let own else { return "" }
        let table = prefix + (try entity.texts.quoted(own.columns[0]))
        return "ORDER BY \(keys)\(table) <> \(own.list[0]), \(table)"
    }

    private func ownTable(_ parameters: inout Parameters) throws -> ColumnParameters? {
        try entity.rowTable.map { try parameters.values([$0.own], of: [$0.column], in: entity) }
    }

    /// `SELECT … WHERE key IN (…)`: the rows of any number of keys.
    ///
    /// - Parameters:
    ///   - leftOut: the columns without values; nil for the lazy ones.
    ///   - lacking: columns without values, since the table may no longer have them.
    package func select(
        _ keys: [ObjectKey], leavingOut leftOut: ColumnSet? = nil, lacking: ColumnSet = []
    ) throws -> Statement {
        var parameters = Parameters()
        let keys = try parameters.shardKeys(keys, of: entity.key, in: entity)
        let shape = "find keys" + ColumnSet.shape(leftOut, lacking)
        return try parameters.statement(shape, in: entity) {
            let rows = try entity.all(as: .row, .all).from(where: try keys.condition("t"))
            return
                "SELECT \(try entity.texts.selectList(alias: "t", leavingOut: leftOut, lacking: lacking)) FROM \(rows)"
        }
    }
}

extension ColumnSet {
    /// The part of a statement's shape that says which columns it leaves out.
    static func shape(_ leftOut: ColumnSet?, _ lacking: ColumnSet) -> String {
        (leftOut.map { " without \(Array($0))" } ?? "") + (lacking.isEmpty ? "" : " lacking \(Array(lacking))")
    }
}
