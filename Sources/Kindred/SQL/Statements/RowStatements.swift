import KindredPostgres

/// The statements that store and change some columns of an entity's rows: one row, or any number.
struct RowStatements {
    let entity: EntityRuntime
    /// The written columns, in the entity's order.
    let columns: [Int]

    /// `INSERT … VALUES … RETURNING`: one row.
    func insert(_ values: ColumnValues) throws -> Statement {
        var parameters = Parameters()
        let given = try parameters.values(values)
        return try parameters.statement("create \(columns)", in: entity) {
            let names = try columns.map { try entity.texts.quoted($0) }.joined(separator: ", ")
            let row =
                columns.isEmpty
                ? "DEFAULT VALUES" : "(\(names)) VALUES (\(given.list.joined(separator: ", ")))"
            guard entity.isChecked(.insertTriggers) else {
                return "\(try entity.texts.insertion(as: .none)) \(row) RETURNING \(try entity.texts.selectList())"
            }
            let insert = "\(try entity.texts.insertion(as: .row)) \(row)"
            return try entity.texts.checkedRows(
                try entity.texts.written(insert, alias: "t", isRight: try entity.texts.hasKey(alias: "t")),
                expecting: "1")
        }
    }

    /// `INSERT … SELECT … FROM unnest(…) ORDER BY place`: stores and returns the rows in their order.
    ///
    /// The server stores an INSERT's rows one by one in the SELECT's order, and returns each as it is stored; so the
    /// result's rows match the given rows if their number does.
    func insert(_ rows: [Row]) throws -> Statement {
        var parameters = Parameters()
        let values = try parameters.rows(rows, of: columns, in: entity, prefix: "c")
        let count = columns.isEmpty ? try parameters.count(rows.count) : nil
        return try parameters.statement("save insert \(columns)", in: entity) {
            let names = try columns.map { try entity.texts.quoted($0) }
            let rows =
                count.map { "SELECT FROM generate_series(1, \($0))" }
                    ?? """
                    (\(names.joined(separator: ", "))) SELECT \(values.expressions.joined(separator: ", ")) \
                    FROM \(values.placedTable) ORDER BY new.place
                    """
            return "\(try entity.texts.insertion(as: .none)) \(rows) RETURNING \(try entity.texts.selectList())"
        }
    }

    /// `INSERT … VALUES (…), (…) RETURNING`: some of the rows leave out columns with a default.
    func insert(_ rows: [Row], given: [ColumnSet]) throws -> Statement {
        var parameters = Parameters()
        let values = try zip(rows, given).map { row, given in
            let cells = try columns.map { column in
                guard given.contains(column) || !entity.columnsWithDefault.contains(column) else { return "DEFAULT" }
                return try parameters.value(try row[column], as: column, of: entity).description
            }
            return "(\(cells.joined(separator: ", ")))"
        }
        let names = try columns.map { try entity.texts.quoted($0) }.joined(separator: ", ")
        let text = """
            \(try entity.texts.insertion(as: .none)) (\(names)) VALUES \(values.joined(separator: ", ")) \
            RETURNING \(try entity.texts.selectList())
            """
        return parameters.statement(StatementText(text))
    }

    /// `UPDATE … WHERE key RETURNING …`: one row.
    func update(_ values: ColumnValues, _ row: VersionedKey) throws -> Statement {
        var parameters = Parameters()
        let values = try parameters.values(values)
        let row = try parameters.key(row, of: entity)
        return try parameters.statement("update \(columns)", in: entity) {
            guard entity.isChecked(.updateTriggers) else {
                return try entity.all(as: .none, .all).update(
                    set: try values.assignments(), where: try row.equality(), returning: try entity.texts.selectList())
            }
            return try entity.texts.checkedRows(
                try entity.all(as: .row, .all).checkedUpdate(
                    set: try values.assignments(), where: try row.equality("t"),
                    isRight: try entity.texts.hasKey(alias: "t"), keepsKeys: false))
        }
    }

    /// `UPDATE … FROM unnest(…)`: each row gets its own values; the result's last column is the row's index.
    ///
    /// Several rows are locked first, in the order of their keys: in which order the UPDATE finds them is the choice of its plan,
    /// which differs from connection to connection.
    ///
    /// - Parameters:
    ///   - stored: the rows as stored in the database, for their keys.
    ///   - base: the rows with the expected versions.
    ///   - given: the columns that each row writes, if they are not the same.
    func update(_ rows: [Row], stored: [Row], base: [Row], given: [ColumnSet]? = nil) throws -> Statement {
        var parameters = Parameters()
        let keys = try parameters.rows(stored, of: entity.key, in: entity, prefix: "k")
        let version = try entity.version.map {
            try parameters.rows(base, of: [$0.position], in: entity, prefix: "v")
        }
        let values = try parameters.rows(rows, of: columns, in: entity, prefix: "c")
        let flags = try given.map { given in
            try columns.map { column in try parameters.flags(given.map { $0.contains(column) }) }
        }
        let shard = try parameters.shardValue(of: stored, in: entity, columns: entity.key) { try $0[entity.key[$1]] }
        let isLocking = rows.count > 1 && entity.locksInOrder
        let shape = "save update \(columns)\(flags == nil ? "" : " of some")\(isLocking ? " locking" : "")"
        return try parameters.statement(shape, in: entity) {
            let set = try zip(columns, values.expressions).enumerated().map { place, assigned in
                let name = try entity.texts.quoted(assigned.0)
                if flags == nil { return "\(name) = \(assigned.1)" }
                return "\(name) = CASE WHEN new.w\(place) THEN \(assigned.1) ELSE t.\(name) END"
            }
            let identified = [keys] + (version.map { [$0] } ?? [])
            let arrays = (identified + [values]).flatMap(\.arrays) + (flags ?? []).map(\.description)
            let names = (identified + [values]).flatMap(\.names) + (flags ?? []).indices.map { "w\($0)" }
            return try entity.all(as: .row, .all).update(
                set: set, from: ColumnArrays.placedTable(arrays, names: names),
                where: try identified.map { try $0.equality("t") }.joined(separator: " AND ") + shard.clause("t")
                    + (isLocking ? try lockFirst(keys, shard) : ""),
                returning: "\(try entity.texts.selectList(alias: "t")), new.place")
        }
    }

    /// A condition, evaluated before all other conditions, that locks the rows of some keys in their order.
    private func lockFirst(_ keys: ColumnArrays, _ shard: ShardValue?) throws -> String {
        let found = try entity.all(as: .referenced, .all).from(where: try keys.equality("r") + shard.clause("r"))
        return """
             AND (SELECT count(*) FROM (SELECT FROM \(keys.table), \(found)\(try entity.texts.orderToLock("r")) \
            FOR NO KEY UPDATE OF r) AS locked) IS NOT NULL
            """
    }
}
