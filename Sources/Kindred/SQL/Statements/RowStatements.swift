import KindredPostgres

/// The statements that store and change some columns of an entity's rows: one row, or any number.
struct RowStatements {
    let entity: EntityRuntime
    /// The written columns, in the entity's order.
    let columns: [Int]

    /// `INSERT … VALUES … RETURNING`: one row.
    func insert(_ values: ColumnValues) throws -> Statement {
        let text = try entity.text("create \(columns)") {
            let names = try columns.map { try entity.quoted($0) }.joined(separator: ", ")
            let parameters = columns.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
            let row = columns.isEmpty ? "DEFAULT VALUES" : "(\(names)) VALUES (\(parameters))"
            guard entity.isChecked(.insertTriggers) else {
                return "INSERT INTO \(try entity.quotedName) \(row) RETURNING \(try entity.selectList())"
            }
            let insert = "INSERT INTO \(try entity.quotedName) AS t \(row)"
            return try entity.checkedRows(
                try entity.written(insert, alias: "t", isRight: try entity.hasKey(alias: "t")), expecting: "1")
        }
        var bindings = Bindings()
        try values.append(to: &bindings)
        return Statement(text: text, bindings: bindings, resultFormat: .binary)
    }

    /// `INSERT … SELECT … FROM unnest(…) ORDER BY place`: stores and returns the rows in their order.
    ///
    /// The server stores an INSERT's rows one by one in the SELECT's order, and returns each as it is stored; so the
    /// result's rows match the given ones if their number does.
    func insert(_ rows: [Row]) throws -> Statement {
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
            try bindings.append(Int64(rows.count))
        } else {
            try values.append(rows, to: &bindings)
        }
        return Statement(text: text, bindings: bindings, resultFormat: .binary)
    }

    /// `INSERT … VALUES (…), (…) RETURNING`: rows of which some leave columns out that have a default.
    func insert(_ rows: [Row], given: [ColumnSet]) throws -> Statement {
        var bindings = Bindings()
        var parameter = 0
        let values = try zip(rows, given).map { row, given in
            let cells = try columns.map { column in
                guard given.contains(column) || !entity.columnsWithDefault.contains(column) else { return "DEFAULT" }
                parameter += 1
                try entity.bind(try row[column], as: column, to: &bindings)
                return "$\(parameter)"
            }
            return "(\(cells.joined(separator: ", ")))"
        }
        let names = try columns.map { try entity.quoted($0) }.joined(separator: ", ")
        let text = """
            INSERT INTO \(try entity.quotedName) (\(names)) VALUES \(values.joined(separator: ", ")) \
            RETURNING \(try entity.selectList())
            """
        return Statement(text: StatementText(text), bindings: bindings, resultFormat: .binary)
    }

    /// `UPDATE … WHERE key RETURNING …`: one row.
    func update(_ values: ColumnValues, _ row: VersionedKey) throws -> Statement {
        let text = try entity.text("update \(columns)") {
            let set = try entity.assignments(columns, firstParameter: 1)
            guard entity.isChecked(.updateTriggers) else {
                return try entity.update(
                    set: set, where: try entity.equality(entity.versionedKey, firstParameter: columns.count + 1),
                    returning: try entity.selectList())
            }
            return try entity.checkedRows(
                try entity.checkedUpdate(
                    set: set,
                    where: try entity.equality(entity.versionedKey, alias: "t", firstParameter: columns.count + 1),
                    isRight: try entity.hasKey(alias: "t"), keepsKeys: false))
        }
        var bindings = Bindings()
        try values.append(to: &bindings)
        try entity.append(row, to: &bindings)
        return Statement(text: text, bindings: bindings, resultFormat: .binary)
    }

    /// `UPDATE … FROM unnest(…)`: each row gets its own values; the result's last column is the row's index.
    ///
    /// - Parameters:
    ///   - stored: the rows as stored in the database, for their keys.
    ///   - base: the rows with the expected versions.
    ///   - given: the columns that each row writes, if they are not the same.
    func update(_ rows: [Row], stored: [Row], base: [Row], given: [ColumnSet]? = nil) throws -> Statement {
        let keys = ColumnArrays(entity: entity, columns: entity.key)
        let versions = ColumnArrays(entity: entity, columns: entity.version.map { [$0.position] } ?? [])
        let values = ColumnArrays(entity: entity, columns: columns)
        let flags = given == nil ? [] : columns.indices.map { "w\($0)" }
        let text = try entity.text("save update \(columns)\(flags.isEmpty ? "" : " of some")") {
            let set = try zip(columns, values.expressions("c")).enumerated().map { place, assigned in
                let name = try entity.quoted(assigned.0)
                if flags.isEmpty { return "\(name) = \(assigned.1)" }
                return "\(name) = CASE WHEN new.\(flags[place]) THEN \(assigned.1) ELSE t.\(name) END"
            }
            let found = try zip(entity.versionedKey, keys.expressions("k") + versions.expressions("v"))
                .map { "\(try entity.compared($0, alias: "t")) = \(entity.compared($0, with: $1))" }
            let names = keys.names("k") + versions.names("v") + values.names("c") + flags + ["place"]
            let firstFlag = 1 + entity.versionedKey.count + columns.count
            let source = [
                keys.parameters(first: 1), versions.parameters(first: 1 + entity.key.count),
                values.parameters(first: 1 + entity.versionedKey.count),
                flags.indices.map { "$\(firstFlag + $0)" }.joined(separator: ", "),
            ].filter { !$0.isEmpty }
            let given = """
                unnest(\(source.joined(separator: ", "))) WITH ORDINALITY AS new(\(names.joined(separator: ", ")))
                """
            return try entity.update(
                alias: "t", set: set, from: given, where: found.joined(separator: " AND "),
                returning: "\(try entity.selectList(alias: "t")), new.place")
        }
        var bindings = Bindings()
        try keys.append(stored, to: &bindings)
        try versions.append(base, to: &bindings)
        try values.append(rows, to: &bindings)
        for column in flags.isEmpty ? [] : columns {
            try bindings.appendArray((given ?? []).map { PostgresValue.bool($0.contains(column)) }, of: .bool)
        }
        return Statement(text: text, bindings: bindings, resultFormat: .binary)
    }
}
