import KindredPostgres
import TestSupport

/// A schema made at random, and changed at random.
///
/// Things that refer to a thing that is gone are left out of the script, so that every script can run.
struct RandomSchema {
    struct Enumeration { var labels: [String] }

    struct Domain {
        var base: String
        var check: Int?
        var isNotNull: Bool
        var defaultText: String?
    }

    struct Column {
        enum Kind { case plain, identity, serial, generated(from: String) }

        var type: String
        var kind = Kind.plain
        var isNotNull = false
        var defaultText: String?
        var collation: String?
        var comment: String?
    }

    struct Index {
        var columns: [String]
        var isUnique = false
        var condition: String?
        var expression: String?
        var comment: String?
    }

    enum Constraint {
        case unique([String], isDeferrable: Bool)
        case check(column: String, Int)
        case foreignKey(column: String, table: String, action: String)
        case exclusion(String)
    }

    struct Table {
        var columns: [(name: String, column: Column)] = []
        var constraints: [String: Constraint] = [:]
        var indexes: [String: Index] = [:]
        var keyName: String
        var hasKey = true
        var comment: String?
        var isUnlogged = false
        var fillFactor: Int?
        /// Partitioned by range of its first column.
        var partitions: [String]?
    }

    struct View {
        var source: String
        var columns: [String]
        var isMaterialized = false
        var condition: String?
        var isGrouped = false
        var comment: String?
    }

    var schemas: Set<String> = ["public"]
    var enums: [String: Enumeration] = [:]
    var domains: [String: Domain] = [:]
    var composites: [String: [(name: String, type: String)]] = [:]
    var sequences: [String: (increment: Int, minimum: Int, comment: String?)] = [:]
    var tables: [String: Table] = [:]
    var views: [String: View] = [:]
    var code = Code()
    /// Where each table, view and type stands.
    var places: [String: String] = [:]

    static let tableNames = ["person", #"a"b"#, "Größe", "select", "x'y", "t;u", #"back\slash"#, "person_id_seq2"]
    static let columnNames = ["name", "Size", #"q"r"#, "order", "it's", "--", "c$$d", "é", "x y", #"b\n"#]
    static let schemaNames = ["public", "Other ; Schema", "s2"]
    static let plainTypes = [
        "integer", "bigint", "smallint", "text", "character varying(20)", "character varying(40)", "numeric(8,2)",
        "numeric(12,2)", "boolean", "date", "timestamp with time zone", "uuid", "jsonb", "integer[]", "text[]",
    ]
    static let labels = ["low", "mid", "high", "it's", #"q"l"#, "ü", #"b\s"#]

    func quoted(_ name: String) -> String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }
    func literal(_ text: String) -> String { "'" + text.replacing("'", with: "''") + "'" }
    func path(_ name: String) -> String { quoted(places[name] ?? "public") + "." + quoted(name) }

    /// The types of this schema's own, as they are named in a column.
    var ownTypes: [String] { (Array(enums.keys) + Array(domains.keys) + Array(composites.keys)).sorted() }

    func typeText(_ type: String) -> String { ownTypes.contains(type) ? path(type) : type }

    func exists(_ type: String) -> Bool { Self.plainTypes.contains(type) || ownTypes.contains(type) }
}
