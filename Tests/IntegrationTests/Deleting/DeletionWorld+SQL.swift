import Kindred

extension DeletionWorld {
    func entity(_ table: Int) -> String { "\(schema).t\(table)" }

    /// The script that makes the schema and its rows; every row has the tenant 1 where keys are composite.
    var script: String {
        var sql = "CREATE SCHEMA \(schema); SET search_path = \(schema);\n"
        for table in 0..<tableCount {
            var columns = isComposite ? ["tenant integer NOT NULL"] : []
            if !helpers.contains(table) { columns.append("id integer NOT NULL") }
            columns += keys(of: table).map { "\($0.key.column) integer\($0.key.isRequired ? " NOT NULL" : "")" }
            let key = helpers.contains(table) ? keys(of: table).map(\.key.column) : ["id"]
            if payloads.contains(table) { columns.append("price numeric") }
            columns.append("PRIMARY KEY (\(((isComposite ? ["tenant"] : []) + key).joined(separator: ", ")))")
            sql += "CREATE TABLE t\(table) (\(columns.joined(separator: ", ")));\n"
        }
        return sql + rowsAndKeys
    }

    /// The script that puts other rows into the schema that is there.
    var refillScript: String {
        var sql = "SET search_path = \(schema);\n"
        for key in keys { sql += "ALTER TABLE t\(key.table) DROP CONSTRAINT \(key.name);\n" }
        for table in 0..<tableCount { sql += "DELETE FROM t\(table);\n" }
        return sql + rowsAndKeys
    }

    /// The rows come first, since they may refer to each other in circles.
    private var rowsAndKeys: String {
        var sql = ""
        for (id, values) in rows.sorted(by: { $0.key < $1.key }) {
            var cells = isComposite ? ["1"] : []
            if !helpers.contains(id.table) { cells.append("\(id.id)") }
            cells += keys(of: id.table).map { number, _ in values[number].map { "\($0)" } ?? "NULL" }
            if payloads.contains(id.table) { cells.append("9.90") }
            sql += "INSERT INTO t\(id.table) VALUES (\(cells.joined(separator: ", ")));\n"
        }
        for key in keys {
            let (own, other) = isComposite ? ("tenant, \(key.column)", "tenant, id") : (key.column, "id")
            sql += "ALTER TABLE t\(key.table) ADD CONSTRAINT \(key.name) FOREIGN KEY (\(own)) "
            sql += "REFERENCES t\(key.target) (\(other)) ON DELETE \(key.action.rawValue);\n"
            let rules = [
                key.rule.map { "\"deleteRule\": \"\($0)\"" }, key.toOneRule.map { "\"toOneDeleteRule\": \"\($0)\"" },
                key.manyToManyRule.map { "\"manyToManyDeleteRule\": \"\($0)\"" },
            ].compactMap(\.self)
            guard !rules.isEmpty else { continue }
            sql +=
                "COMMENT ON CONSTRAINT \(key.name) ON t\(key.table) IS '@kindred {\(rules.joined(separator: ", "))}';\n"
        }
        return sql
    }

    /// The rows that objects stand for.
    func id(of object: DatabaseObject) -> ID? {
        guard let table = Int(object.entity.name.name.dropFirst()) else { return nil }
        func integer(_ key: String) -> Int? {
            guard case .integer(let value) = object[key] else { return nil }
            return Int(value)
        }
        if helpers.contains(table) {
            let pair = keys(of: table).compactMap { integer($0.key.column) }
            return pair.count == 2 ? ID(table: table, id: Self.pairID(pair)) : nil
        }
        return integer("id").map { ID(table: table, id: $0) }
    }

    /// The objects' rows, in the model's terms.
    func rows(_ objects: [DatabaseObject]) -> [ID: [Int: Int]] {
        var result: [ID: [Int: Int]] = [:]
        for object in objects {
            guard let id = id(of: object) else { continue }
            var values: [Int: Int] = [:]
            for (number, key) in keys(of: id.table) {
                if case .integer(let value) = object[key.column] { values[number] = Int(value) }
            }
            result[id] = values
        }
        return result
    }

    func fetchAll(_ context: DatabaseContext) async throws -> [DatabaseObject] {
        var objects: [DatabaseObject] = []
        for table in 0..<tableCount { objects += try await context.fetch(entity(table)).all() }
        return objects
    }

    var summary: String {
        keys.map { key in
            "\(key.name): t\(key.table)\(helpers.contains(key.table) ? payloads.contains(key.table) ? "(helper with payload)" : "(helper)" : "") -> t\(key.target)"
                + " \(key.action.rawValue)\(key.isRequired ? " required" : "")"
                + [
                    key.rule.map { " rule \($0)" }, key.toOneRule.map { " toOne \($0)" },
                    key.manyToManyRule.map { " m2m \($0)" },
                ]
                .compactMap(\.self).joined()
        }.joined(separator: "; ") + (isComposite ? " composite" : "")
    }
}
