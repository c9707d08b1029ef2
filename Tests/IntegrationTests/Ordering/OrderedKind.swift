import Kindred
import Testing

/// The kinds of ordered relationships, each with tables of its own in a schema of its own: two lists of items.
enum OrderedKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case oneToMany
    case oneToManyUnique
    case oneToManyDeferrable
    case oneToManyDeferred
    case manyToMany
    case manyToManyUnique
    case manyToManyDeferrable

    var testDescription: String { rawValue }

    var isHelper: Bool { rawValue.hasPrefix("manyToMany") }

    /// Whether positions are exchanged by an UPDATE more.
    var isUnique: Bool { rawValue.hasSuffix("Unique") }

    /// Lists 1 and 2: the first has items 1 to 5 at positions 1 to 5, the second 6 to 8 at 10, 20 and 30; 9 and 10 are in
    /// none.
    var sql: String {
        let unique =
            switch self {
            case .oneToMany, .manyToMany: ""
            case .oneToManyUnique, .manyToManyUnique: ", UNIQUE (list_id, position)"
            case .oneToManyDeferrable, .manyToManyDeferrable: ", UNIQUE (list_id, position) DEFERRABLE"
            case .oneToManyDeferred: ", UNIQUE (list_id, position) DEFERRABLE INITIALLY DEFERRED"
            }
        var sql = """
            CREATE SCHEMA "\(rawValue)";
            SET LOCAL search_path = "\(rawValue)";
            CREATE TABLE list (id integer PRIMARY KEY);
            INSERT INTO list VALUES (1), (2);

            """
        let place = "CASE WHEN n <= 5 THEN n ELSE (n - 5) * 10 END"
        if isHelper {
            sql += """
                CREATE TABLE item (id integer PRIMARY KEY);
                INSERT INTO item SELECT generate_series(1, 10);
                CREATE TABLE entry (
                    list_id integer CONSTRAINT items REFERENCES list,
                    item_id integer CONSTRAINT lists REFERENCES item ON DELETE CASCADE,
                    position \(isUnique ? "smallint NOT NULL CHECK (position > 0)" : "integer"), note text,
                    PRIMARY KEY (list_id, item_id)\(unique));
                COMMENT ON CONSTRAINT items ON entry IS '@kindred {"manyToMany": "items", "orderedBy": "position"}';
                INSERT INTO entry SELECT CASE WHEN n <= 5 THEN 1 ELSE 2 END, n, \(place) FROM generate_series(1, 8) AS n;

                """
        } else {
            sql += """
                CREATE TABLE item (
                    id integer PRIMARY KEY, list_id integer CONSTRAINT item_list REFERENCES list,
                    position \(isUnique ? "bigint CHECK (position > 0)" : "integer")\(unique));
                COMMENT ON CONSTRAINT item_list ON item IS '@kindred {"inverse": "items", "orderedBy": "position"}';
                INSERT INTO item SELECT n, CASE WHEN n <= 5 THEN 1 WHEN n <= 8 THEN 2 END,
                    CASE WHEN n <= 8 THEN \(place) END FROM generate_series(1, 10) AS n;

                """
        }
        return sql
    }

    static let schema = "BEGIN;\n" + allCases.map(\.sql).joined() + "COMMIT;"

    /// The items of a list in order, as another session sees them.
    func stored(_ list: Int, _ other: PostgresClient) async throws -> [Int] {
        let table = isHelper ? "entry" : "item"
        let column = isHelper ? "item_id" : "id"
        let rows = try await other.query(
            """
            SELECT \(identifier: column) FROM \(identifier: rawValue).\(identifier: table) WHERE list_id = \(list)
            ORDER BY position NULLS LAST, 1
            """)
        return try rows.compactMap { try $0.decode(0, as: Int.self) }
    }

    /// The positions of a list in order.
    func positions(_ list: Int, _ other: PostgresClient) async throws -> [Int?] {
        let table = isHelper ? "entry" : "item"
        let rows = try await other.query(
            """
            SELECT position FROM \(identifier: rawValue).\(identifier: table) WHERE list_id = \(list)
            ORDER BY position NULLS LAST
            """)
        return try rows.map { try $0.decode(0, as: Int.self) }
    }

    func items(_ context: DatabaseContext) async throws -> [DatabaseObject] {
        try await context.fetch("\(rawValue).item").sorted("id").all()
    }

    func list(_ id: Int, _ context: DatabaseContext) async throws -> DatabaseObject {
        try await context.fetch("\(rawValue).list").where("id = %@", id).one()
    }
}

extension ToMany {
    /// The numbers of the members in order.
    var numbers: [Int] {
        get async throws {
            try await objects.compactMap { if case .integer(let id) = $0["id"] { Int(id) } else { nil } }
        }
    }
}
