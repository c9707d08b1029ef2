import KindredPostgres
import TestSupport

/// Random tables of several schemas, in SQL, with names that mean something to the languages of diagrams.
struct RandomTables {
    /// The names of the tables, unless there are more.
    private static let names = [
        "person", "<script>alert(1)</script>", "a\"b", "a'b", "a\\", "\\N\\G", "new\nline", "t e", "\u{E9}", "e\u{301}",
        "[x]", "{x}", "-->", "</svg>", "]]>", "&amp;", "%% x", "#35;", ";", "\u{202E}x", "a.b", "/* x */", "end",
        "class",
        "n", "`x`", "   ", "'''", "\u{1B}[31m", "\u{FFFE}", "Person", "person ", "\"", "public.person", "note", "-- x",
        "\u{301}x",
    ]
    private static let schemas = ["public", "<b>", "a.b", "A", "a\"; DROP"]

    /// The statements that make them.
    private(set) var sql = ""
    /// The tables, as SQL names them.
    private(set) var tables: [String] = []
    /// How many helper tables there are that nothing else refers to.
    private(set) var foldedHelpers = 0
    /// How many helper tables there are.
    private(set) var helpers = 0
    private var columns: [[String]] = []
    private var keys: [[String]] = []
    private var random: SeededGenerator

    /// - Parameters:
    ///   - count: The number of tables that are no helpers.
    ///   - isHostile: Whether the names are texts that mean something elsewhere.
    init(seed: UInt64, count: Int, schemas: Int = 3, isHostile: Bool = true) throws {
        random = SeededGenerator(seed: seed)
        let names = try Self.schemas.prefix(schemas).map { try SQLIdentifier.quote($0) }
        for schema in names.dropFirst() { sql += "CREATE SCHEMA \(schema);\n" }
        for number in 0..<count {
            let name = isHostile && number < Self.names.count ? Self.names[number] : "table_\(number)"
            try addTable("\(random.pick(names)).\(SQLIdentifier.quote(name))", isHostile: isHostile)
        }
        for number in 0..<count / 6 {
            try addHelper(
                "\(random.pick(names)).\(SQLIdentifier.quote(isHostile ? "<->\(number)" : "helper_\(number)"))")
        }
    }

    private mutating func addTable(_ table: String, isHostile: Bool) throws {
        let place = tables.count
        tables.append(table)
        // One table in five has a key of two columns.
        keys.append(random.once(in: 5) ? ["a", "b"] : ["id"])
        var parts = keys[place].map { "\($0) integer" }
        parts.append("PRIMARY KEY (\(keys[place].joined(separator: ", ")))")
        for number in 0..<Int.random(in: 0..<4, using: &random) {
            let name = try SQLIdentifier.quote("\(isHostile ? random.pick(Self.names) : "c")_\(number)")
            parts.append("\(name) \(random.pick(["text", "numeric(8,2) NOT NULL", "text[]", "varchar(40)"]))")
        }
        for number in 0..<Int.random(in: 0..<3, using: &random) {
            try parts.append(contentsOf: reference(number, isHostile: isHostile))
        }
        sql += "CREATE TABLE \(table) (\(parts.joined(separator: ", ")));\n"
        if random.once(in: 4) {
            let group = isHostile ? random.pick(["<i>", "sales", "a } b"]) : random.pick(["sales", "people"])
            sql += "COMMENT ON TABLE \(table) IS '@kindred {\"group\": \"\(group)\"} a -- comment </b> of \"\"\"';\n"
        }
    }

    /// The columns and the constraint of a key to one of the tables so far, or to the table itself.
    private mutating func reference(_ number: Int, isHostile: Bool) throws -> [String] {
        // A few tables are referred to by many.
        let target =
            random.once(in: 3)
            ? Int.random(in: 0..<min(3, tables.count), using: &random)
            : Int.random(in: 0..<tables.count, using: &random)
        let names = keys[target].map { "r\(number)_\($0)" }
        let list = names.joined(separator: ", ")
        let constraint =
            isHostile ? "CONSTRAINT \(try SQLIdentifier.quote("\(random.pick(Self.names))\(number)")) " : ""
        var parts = names.map { "\($0) integer\(random.once(in: 3) ? " NOT NULL" : "")" }
        parts.append(
            "\(constraint)FOREIGN KEY (\(list)) REFERENCES \(tables[target])\(random.once(in: 3) ? " ON DELETE CASCADE" : "")"
        )
        if random.once(in: 4) { parts.append("UNIQUE (\(list))") }
        return parts
    }

    private mutating func addHelper(_ helper: String) throws {
        helpers += 1
        let ends = ["x", "y"].map { prefix in
            let target = Int.random(in: 0..<keys.count, using: &random)
            return (table: tables[target], columns: keys[target].map { "\(prefix)_\($0)" })
        }
        let columns = ends.flatMap(\.columns)
        var parts = columns.map { "\($0) integer" } + ["PRIMARY KEY (\(columns.joined(separator: ", ")))"]
        for end in ends {
            parts.append("FOREIGN KEY (\(end.columns.joined(separator: ", "))) REFERENCES \(end.table)")
        }
        if random.once(in: 2) { parts.append("since date") }
        sql += "CREATE TABLE \(helper) (\(parts.joined(separator: ", ")));\n"
        guard random.once(in: 3) else {
            foldedHelpers += 1
            return
        }
        // Something that refers to the helper: without it as an entity this relationship would be lost.
        let own = columns.map { "\($0) integer" }.joined(separator: ", ")
        let list = columns.joined(separator: ", ")
        let remark = helper.dropLast() + " remark\""
        sql += "CREATE TABLE \(remark) (id integer PRIMARY KEY, \(own), FOREIGN KEY (\(list)) REFERENCES \(helper));\n"
    }
}
