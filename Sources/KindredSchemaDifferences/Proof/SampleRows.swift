import KindredDDL
import KindredPostgres

/// Statements that write rows of made-up values, for the tables of a database.
struct SampleRows {
    private struct Column {
        let name: String
        let isNotNull: Bool
        let hasDefault: Bool
        let isWritable: Bool
        let isUnique: Bool
        let value: SampleValue?
    }

    private struct Key {
        let target: ItemName
        let columns: [String]
        let targetColumns: [String]
    }

    /// The values that lead a row into a partition.
    private struct Bound {
        let parent: ItemName
        let values: [ServerText: String]
    }

    private var columns: [ItemName: [Column]] = [:]
    private var bounds: [ItemName: Bound] = [:]
    /// The first partition of each table.
    private var partitions: [ItemName: ItemName] = [:]
    private var keys: [ItemName: [Key]] = [:]

    /// The statements for a table, or why there are none.
    enum Statements {
        case statements([String])
        case none(String)
    }

    /// Reads the tables of users by three statements.
    static func read(from client: PostgresClient) async throws -> SampleRows {
        var rows = SampleRows()
        func query(_ text: String) async throws -> QueryResult {
            try await client.execute(Statement(text: StatementText(text), resultFormat: .text))
        }
        for row in try await query(columnsQuery) {
            func text(_ column: Int) throws -> String { try row.decode(column, as: String.self) ?? "" }
            let table = ItemName(kind: .table, schema: try text(0), name: try text(1))
            rows.columns[table, default: []].append(
                Column(
                    name: try text(2), isNotNull: try text(3) == "true", hasDefault: try text(4) == "true",
                    isWritable: try text(5) == "true", isUnique: try text(6) == "true",
                    value: SampleValue(
                        type: try text(7), base: try text(8), kind: try text(9),
                        labels: try row.decode(10, as: [String].self) ?? [], fields: Int(try text(11)) ?? 0)))
        }
        for row in try await query(keysQuery) {
            func text(_ column: Int) throws -> String { try row.decode(column, as: String.self) ?? "" }
            let table = ItemName(kind: .table, schema: try text(0), name: try text(1))
            rows.keys[table, default: []].append(
                Key(
                    target: ItemName(kind: .table, schema: try text(2), name: try text(3)),
                    columns: try row.decode(4, as: [String].self) ?? [],
                    targetColumns: try row.decode(5, as: [String].self) ?? []))
        }
        for row in try await query(boundsQuery) {
            func text(_ column: Int) throws -> String { try row.decode(column, as: String.self) ?? "" }
            let table = ItemName(kind: .table, schema: try text(0), name: try text(1))
            let parent = ItemName(kind: .table, schema: try text(2), name: try text(3))
            let names = try row.decode(4, as: [String].self) ?? []
            let values = zip(names.map { ServerText($0) }, try row.decode(5, as: [String].self) ?? []).filter {
                !$0.text.isEmpty && $1 != "MINVALUE"
            }
            rows.bounds[table] = Bound(parent: parent, values: Dictionary(values) { first, _ in first })
            rows.partitions[parent] = rows.partitions[parent] ?? table
        }
        return rows
    }

    /// The values that lead a row into a table, or into its first partition.
    private func boundValues(of table: ItemName) -> [ServerText: String] {
        var (values, next): ([ServerText: String], ItemName?) = ([:], table)
        while let partition = next.flatMap({ partitions[$0] }) { next = partition }
        while let name = next, let bound = bounds[name] {
            values.merge(bound.values) { $1 }
            next = bound.parent
        }
        return values
    }

    func has(_ table: ItemName) -> Bool { columns[table] != nil }

    /// INSERT, UPDATE and DELETE of a row, behind the INSERT of each row that it refers to.
    ///
    /// - Parameters:
    ///   - table: The table.
    ///   - isFilled: Whether columns get a value that may be NULL, and other values by UPDATE.
    func statements(for table: ItemName, isFilled: Bool) -> Statements {
        do {
            var (statements, done): ([String], Set<ItemName>) = ([], [])
            try insert(into: table, isFilled: isFilled, isRow: true, &statements, &done)
            let path = try DDL.path(table)
            var changes: [String] = []
            let keyColumns = Set(texts: (keys[table] ?? []).flatMap(\.columns))
            for column in columns[table] ?? [] where column.isWritable {
                let name = try DDL.name(column.name)
                let isChanged = isFilled && !column.isUnique && !keyColumns.contains(column.name)
                changes.append("\(name) = \((isChanged ? column.value?.second : nil) ?? name)")
            }
            if !changes.isEmpty { statements.append("UPDATE \(path) SET \(changes.joined(separator: ", "))") }
            statements.append("DELETE FROM \(path)")
            // Deferred constraints are checked with each statement.
            return .statements(
                statements.enumerated().flatMap { number, text in
                    number < statements.count - (changes.isEmpty ? 2 : 3)
                        ? [text] : [text, "SET CONSTRAINTS ALL IMMEDIATE"]
                })
        } catch let error as NoValue {
            return .none(error.reason)
        } catch {
            return .none("\(error)")
        }
    }

    private struct NoValue: Error { let reason: String }

    private func insert(
        into table: ItemName, isFilled: Bool, isRow: Bool, _ statements: inout [String], _ done: inout Set<ItemName>
    ) throws {
        done.insert(table)
        var values = boundValues(of: table)
        for key in keys[table] ?? [] {
            let own = (columns[table] ?? []).filter { key.columns.contains($0.name) }
            guard isFilled || own.contains(where: { $0.isNotNull && !$0.hasDefault }) else { continue }
            if key.target != table, !done.contains(key.target), has(key.target) {
                try insert(into: key.target, isFilled: false, isRow: false, &statements, &done)
            } else if key.target == table {
                // A row may refer to itself, by the value that both columns get; else it refers to none.
                for column in own where !column.isNotNull { values[column.name] = "NULL" }
                continue
            }
            let path = try DDL.path(key.target)
            for (column, target) in zip(key.columns, key.targetColumns) where values[column] == nil {
                values[column] = "(SELECT \(try DDL.name(target)) FROM \(path) LIMIT 1)"
            }
        }
        var (names, list): ([String], [String]) = ([], [])
        for column in columns[table] ?? [] where column.isWritable {
            let isNeeded = column.isNotNull && !column.hasDefault
            guard
                let value = values[column.name]
                    ?? (isNeeded || isFilled && !column.hasDefault ? column.value?.first : nil)
            else {
                if isNeeded { throw NoValue(reason: "no value is known for its column \(column.name)") }
                continue
            }
            names.append(try DDL.name(column.name))
            list.append(value)
        }
        let path = try DDL.path(table)
        let start = "INSERT INTO \(path)"
        if names.isEmpty {
            statements.append(start + " DEFAULT VALUES")
        } else {
            let end = isRow ? "" : " WHERE NOT EXISTS (SELECT FROM \(path))"
            statements.append(
                "\(start) (\(names.joined(separator: ", "))) SELECT \(list.joined(separator: ", "))\(end)")
        }
    }

    // MARK: The catalog

    /// A domain gets values of its base type.
    private static let columnsQuery = """
        WITH RECURSIVE base AS (
            SELECT t.oid AS own, t.oid, t.typtype, t.typbasetype, t.typtypmod, t.typnotnull, t.typdefault IS NOT NULL AS has
            FROM pg_type AS t
            UNION ALL
            SELECT b.own, t.oid, t.typtype, t.typbasetype, t.typtypmod, b.typnotnull OR t.typnotnull,
                b.has OR t.typdefault IS NOT NULL
            FROM base AS b JOIN pg_type AS t ON t.oid = b.typbasetype WHERE b.typtype = 'd')
        SELECT n.nspname::text, c.relname::text, a.attname::text, (a.attnotnull OR b.typnotnull)::text,
            (a.atthasdef OR b.has OR a.attidentity <> '')::text, (a.attidentity <> 'a' AND a.attgenerated = '')::text,
            EXISTS (SELECT FROM pg_index AS i
                WHERE i.indrelid = c.oid AND i.indisunique AND a.attnum = ANY (i.indkey))::text,
            format_type(a.atttypid, a.atttypmod), t.typname::text,
            CASE WHEN t.typcategory = 'A' THEN 'A' ELSE t.typtype::text END,
            ARRAY(SELECT e.enumlabel::text FROM pg_enum AS e WHERE e.enumtypid = t.oid ORDER BY e.enumsortorder),
            (SELECT count(*) FROM pg_attribute AS f
                WHERE f.attrelid = t.typrelid AND f.attnum > 0 AND NOT f.attisdropped)::text
        FROM pg_class AS c
        JOIN pg_namespace AS n ON n.oid = c.relnamespace
        LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        LEFT JOIN base AS b ON b.own = a.atttypid AND b.typtype <> 'd'
        LEFT JOIN pg_type AS t ON t.oid = b.oid
        WHERE c.relkind IN ('r', 'p') AND c.oid >= 16384 AND n.nspname <> 'kindred' AND n.nspname <> 'kindred_ddl'
        ORDER BY c.oid, a.attnum
        """

    /// The literals of a partition's lower bound, or of its list.
    private static let boundsQuery = """
        SELECT n.nspname::text, c.relname::text, pn.nspname::text, p.relname::text,
            ARRAY(SELECT COALESCE(a.attname::text, '') FROM unnest(k.partattrs::int2[]) WITH ORDINALITY AS u (number, place)
                LEFT JOIN pg_attribute AS a ON a.attrelid = p.oid AND a.attnum = u.number AND u.number > 0 ORDER BY u.place),
            ARRAY(SELECT m[1] FROM regexp_matches(
                substring(pg_get_expr(c.relpartbound, c.oid) FROM '^FOR VALUES (?:FROM|IN) [(](.*?)[)](?: TO [(].*[)])?$'),
                '(''(?:[^'']|'''')*''|[^,'' ]+)', 'g') AS m)
        FROM pg_class AS c
        JOIN pg_namespace AS n ON n.oid = c.relnamespace
        JOIN pg_inherits AS i ON i.inhrelid = c.oid
        JOIN pg_partitioned_table AS k ON k.partrelid = i.inhparent
        JOIN pg_class AS p ON p.oid = k.partrelid
        JOIN pg_namespace AS pn ON pn.oid = p.relnamespace
        WHERE c.relispartition AND k.partstrat <> 'h'
        ORDER BY c.oid
        """

    private static let keysQuery = """
        SELECT n.nspname::text, c.relname::text, rn.nspname::text, r.relname::text,
            ARRAY(SELECT a.attname::text FROM unnest(k.conkey) WITH ORDINALITY AS u (number, place)
                JOIN pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = u.number ORDER BY u.place),
            ARRAY(SELECT a.attname::text FROM unnest(k.confkey) WITH ORDINALITY AS u (number, place)
                JOIN pg_attribute AS a ON a.attrelid = k.confrelid AND a.attnum = u.number ORDER BY u.place)
        FROM pg_constraint AS k
        JOIN pg_class AS c ON c.oid = k.conrelid
        JOIN pg_namespace AS n ON n.oid = c.relnamespace
        JOIN pg_class AS r ON r.oid = k.confrelid
        JOIN pg_namespace AS rn ON rn.oid = r.relnamespace
        WHERE k.contype = 'f' AND k.oid >= 16384
        ORDER BY k.oid
        """
}
