import KindredPostgres
import KindredSchema
import Synchronization

// Statements that find rows by their keys.
extension EntityRuntime {
    /// `SELECT … WHERE key`.
    func selectByKey() throws -> StatementText {
        try selectionByKey.withLock { known in
            if let known { return known }
            let made = StatementText(
                """
                SELECT \(try selectList()) FROM \(try quotedName) WHERE \(try equality(key, firstParameter: 1))
                """)
            known = made
            return made
        }
    }

    /// The text of `select(byKeys:)`.
    func selectByKeys() throws -> StatementText {
        try text("select by keys") {
            let condition = KeySet.condition(
                [try quoted(key[0])], [entity.attributes[key[0]]], firstParameter: 1)
            return "SELECT \(try selectList()) FROM \(try quotedName) WHERE \(condition)"
        }
    }

    /// `SELECT … WHERE key = ANY($1)`.
    func select(byKeys keys: [ObjectKey]) throws -> Statement {
        // The server's generic plan assumes ten keys: with fewer, it would plan each statement again, which takes
        // longer than the look-up.
        var keys = keys
        while keys.count < 10 { keys.append(keys[0]) }
        var bindings = Bindings()
        try KeySet.append(keys, [entity.attributes[key[0]]], to: &bindings)
        return Statement(text: try selectByKeys(), bindings: bindings, resultFormat: .binary)
    }

    /// `SELECT … WHERE key FOR UPDATE`, or another lock.
    func select(_ key: ObjectKey, _ lock: RowLock, _ waiting: RowLock.Waiting) throws -> Statement {
        let clause = lock.rawValue + waiting.rawValue
        let text = try text("lock \(clause)") {
            """
            SELECT \(try selectList()) FROM \(try quotedName) WHERE \(try equality(self.key, firstParameter: 1)) \(clause)
            """
        }
        var bindings = Bindings()
        try append(key, to: &bindings)
        return Statement(text: text, bindings: bindings, resultFormat: .binary)
    }

    /// `SELECT … WHERE key`, of several tables: the row of the entity's own, or that of the first other one.
    func selectFirst(_ values: ObjectKey) throws -> Statement {
        let text = try text("find first") {
            let isKey = try equality(referencedKey, firstParameter: 1)
            return "SELECT \(try selectList()) FROM \(try quotedName) WHERE \(isKey) \(try ownFirst("")) LIMIT 1"
        }
        var bindings = Bindings()
        try append(values.values, for: referencedKey, to: &bindings)
        try appendOwnTable(to: &bindings)
        return Statement(text: text, bindings: bindings, resultFormat: .binary)
    }

    /// The same for any number of keys: one row for each.
    func selectFirst(_ keys: [ObjectKey]) throws -> Statement {
        let text = try text("find first of keys") {
            let names = try referencedKey.map { "t.\(try quoted($0))" }
            let list = names.joined(separator: ", ")
            let condition = KeySet.condition(names, attributes(referencedKey), firstParameter: 1)
            return """
                SELECT DISTINCT ON (\(list)) \(try selectList(alias: "t")) FROM \(try quotedName) AS t WHERE \(condition) \
                \(try ownFirst("t.", after: list + ", "))
                """
        }
        var bindings = Bindings()
        try KeySet.append(keys, attributes(referencedKey), to: &bindings)
        try appendOwnTable(to: &bindings)
        return Statement(text: text, bindings: bindings, resultFormat: .binary)
    }

    private func ownFirst(_ prefix: String, after keys: String = "") throws -> String {
        guard let rowTable else { return "" }
        let table = prefix + (try quoted(rowTable.column))
        return "ORDER BY \(keys)\(table) <> $\(key.count), \(table)"
    }

    private func appendOwnTable(to bindings: inout Bindings) throws {
        if let rowTable { try append([rowTable.own], for: [rowTable.column], to: &bindings) }
    }

    /// `SELECT … WHERE key IN (…)`: the rows of any number of keys.
    func select(_ keys: [ObjectKey]) throws -> Statement {
        let text = try text("find keys") {
            let names = try key.map { "t.\(try quoted($0))" }
            let condition = KeySet.condition(names, attributes(key), firstParameter: 1)
            return "SELECT \(try selectList(alias: "t")) FROM \(try quotedName) AS t WHERE \(condition)"
        }
        var bindings = Bindings()
        try KeySet.append(keys, attributes(key), to: &bindings)
        return Statement(text: text, bindings: bindings, resultFormat: .binary)
    }
}
