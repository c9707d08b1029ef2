import TestSupport

/// Random tables with much to repair, in SQL, whose names come from so small a pool that they clash.
struct RandomRepairs {
    /// The statements that make them.
    private(set) var sql = "CREATE SCHEMA s;\n"
    private var random: SeededGenerator
    private var tables: [String] = []
    /// The tables with a primary key.
    private var targets: [String] = []
    private var keys: [(table: String, name: String)] = []

    private static let words = ["a", "b", "owner"]

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        for _ in 0..<Int.random(in: 3...8, using: &random) { addTable() }
        for table in tables {
            for _ in 0..<Int.random(in: 0...3, using: &random) where !targets.isEmpty { addKey(of: table) }
        }
        for key in keys where random.once(in: 3) {
            let member = random.pick(["name", "inverse", "nmae"])
            sql += """
                COMMENT ON CONSTRAINT \(key.name) ON \(key.table) IS '@kindred {"\(member)": "\(random.pick(Self.words))"} it''s';

                """
        }
        for table in tables where random.once(in: 4) {
            let text = random.pick([
                #"@kindred {"ignore": ["K304"]}"#, #"@kindred {"optimisticLocking": "xmin"}"#, "@kindred {", "people",
                #"@kindred {"key": ["none"], "group": "g"} text"#,
            ])
            sql += "COMMENT ON TABLE \(table) IS '\(text)';\n"
        }
    }

    private mutating func addTable() {
        var name = "\(random.pick(["public", "s"])).\(random.pick(Self.words))"
        if random.chance(50) { name += "_\(random.pick(Self.words))" }
        if tables.contains(name) { return }
        tables.append(name)
        var columns: [String] = []
        if random.chance(75) {
            columns.append("id integer PRIMARY KEY")
            targets.append(name)
        } else {
            columns.append("code text NOT NULL")
        }
        for column in ["version integer NOT NULL", "name text NOT NULL", "b_id integer", "a_id integer NOT NULL"]
        where random.chance(50) { columns.append(column) }
        sql += "CREATE TABLE \(name) (\(columns.joined(separator: ", ")));\n"
        let names = columns.map { String($0.prefix { $0 != " " }) }
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            let list = random.some(names, atMost: 2).joined(separator: ", ")
            sql += "CREATE \(random.pick(["", "UNIQUE "]))INDEX ON \(name) (\(list));\n"
        }
        if names.contains("version"), random.once(in: 4) {
            let member = random.pick([#""version": true"#, #""ignore": true"#, #""version": 1, "lazy": true"#])
            sql += "COMMENT ON COLUMN \(name).version IS '@kindred {\(member)} counted';\n"
        }
    }

    private mutating func addKey(of table: String) {
        let column = random.pick(["owner", "a_id", "owner_id", "b_id"])
        let name = "k\(keys.count)"
        let action = random.pick(["", " ON DELETE CASCADE", " ON DELETE SET NULL", " NOT VALID"])
        sql += """
            ALTER TABLE \(table) ADD COLUMN IF NOT EXISTS \(column) \(random.pick(["integer", "integer", "bigint"]));
            ALTER TABLE \(table) ADD CONSTRAINT \(name) FOREIGN KEY (\(column)) REFERENCES \(random.pick(targets))\(action);

            """
        keys.append((table, name))
    }
}
