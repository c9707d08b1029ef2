import KindredPostgres
import TestSupport

/// A schema made at random, and changed at random.
///
/// What refers to something is left out of the script where that is gone, so that every script can run.
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

// MARK: Making one

extension RandomSchema {
    static func random(using random: inout some RandomNumberGenerator) -> RandomSchema {
        var schema = RandomSchema()
        for name in schemaNames.dropFirst() where random.chance(60) { schema.schemas.insert(name) }
        for index in 0..<Int.random(in: 0...2, using: &random) { schema.addEnum("mood \(index)", using: &random) }
        for index in 0..<Int.random(in: 0...2, using: &random) { schema.addDomain("dom\"\(index)", using: &random) }
        for index in 0..<Int.random(in: 0...1, using: &random) { schema.addComposite("pair'\(index)", using: &random) }
        for index in 0..<Int.random(in: 0...2, using: &random) { schema.addSequence("Seq \(index)", using: &random) }
        for _ in 0..<Int.random(in: 1...4, using: &random) { schema.addTable(using: &random) }
        for _ in 0..<Int.random(in: 0...6, using: &random) { schema.addPart(using: &random) }
        for _ in 0..<Int.random(in: 0...4, using: &random) { schema.addView(using: &random) }
        return schema
    }

    private mutating func place(_ name: String, using random: inout some RandomNumberGenerator) {
        places[name] = places[name] ?? random.pick(schemas.sorted())
    }

    private mutating func addEnum(_ name: String, using random: inout some RandomNumberGenerator) {
        enums[name] = Enumeration(labels: random.some(Self.labels, atMost: 4))
        place(name, using: &random)
    }

    private mutating func addDomain(_ name: String, using random: inout some RandomNumberGenerator) {
        let base = random.pick(["integer", "text", "numeric(8,2)"])
        domains[name] = Domain(
            base: base, check: random.chance(60) ? Int.random(in: 0...3, using: &random) : nil,
            isNotNull: random.chance(20), defaultText: random.chance(30) ? "7" : nil)
        if base == "text", domains[name]?.defaultText != nil { domains[name]?.defaultText = "'seven'" }
        place(name, using: &random)
    }

    private mutating func addComposite(_ name: String, using random: inout some RandomNumberGenerator) {
        var fields = [(name: "f1", type: "integer")]
        if random.chance(70) { fields.append((name: "F 2", type: random.pick(["text", "bigint"]))) }
        composites[name] = fields
        place(name, using: &random)
    }

    private mutating func addSequence(_ name: String, using random: inout some RandomNumberGenerator) {
        sequences[name] = (
            increment: Int.random(in: 1...3, using: &random), minimum: Int.random(in: 1...3, using: &random),
            comment: random.chance(30) ? "it's a \\ sequence" : nil
        )
        place(name, using: &random)
    }

    private mutating func addTable(using random: inout some RandomNumberGenerator) {
        let name = random.pick(Self.tableNames)
        guard tables[name] == nil, views[name] == nil else { return }
        place(name, using: &random)
        var table = Table(keyName: random.pick(["pk", "key"]) + " \(name)")
        var key = Column(type: random.pick(["integer", "integer", "bigint"]), isNotNull: true)
        key.kind = random.pick([.plain, .identity, .serial])
        table.columns = [("id", key)]
        table.isUnlogged = random.chance(10)
        table.fillFactor = random.chance(15) ? Int.random(in: 50...90, using: &random) : nil
        table.comment = random.chance(30) ? random.pick(["a table", "it's \\ \"quoted\""]) : nil
        if random.chance(15), !table.isUnlogged {
            table.partitions = ["\(name) p1", "\(name) p2"]
            table.fillFactor = nil
            table.columns[0].column.kind = .plain
        }
        tables[name] = table
        for _ in 0..<Int.random(in: 1...5, using: &random) { addColumn(to: name, using: &random) }
    }

    mutating func addColumn(to table: String, using random: inout some RandomNumberGenerator) {
        let name = random.pick(Self.columnNames)
        guard let old = tables[table], !old.columns.contains(where: { $0.name == name }) else { return }
        var column = Column(type: randomType(using: &random))
        let integers = old.columns.filter {
            guard ["integer", "bigint", "smallint"].contains($0.column.type) else { return false }
            if case .generated = $0.column.kind { return false }
            return true
        }
        if random.chance(15), let source = integers.last, old.partitions == nil {
            column.type = "bigint"
            column.kind = .generated(from: source.name)
        } else if random.chance(40) {
            column.defaultText = defaultText(for: column.type, using: &random)
        }
        column.isNotNull = column.defaultText != nil && random.chance(50)
        if column.type == "text", random.chance(20) { column.collation = "\"C\"" }
        column.comment = random.chance(15) ? random.pick(["column", "it's;--"]) : nil
        tables[table]?.columns.append((name, column))
    }

    func randomType(using random: inout some RandomNumberGenerator) -> String {
        !ownTypes.isEmpty && random.chance(35) ? random.pick(ownTypes) : random.pick(Self.plainTypes)
    }

    func defaultText(for type: String, using random: inout some RandomNumberGenerator) -> String? {
        if let labels = enums[type]?.labels { return "\(literal(random.pick(labels)))::\(path(type))" }
        switch type {
        case "integer", "bigint", "smallint", "numeric(8,2)", "numeric(12,2)":
            return random.chance(80) ? "\(Int.random(in: 0...9, using: &random))" : "abs(-3)"
        case "text", "character varying(20)", "character varying(40)":
            return random.pick(["'x'", "'it''s'", "upper('q')"])
        case "boolean": return "true"
        case "date": return random.pick(["'2024-02-03'", "current_date"])
        case "timestamp with time zone": return "now()"
        case "jsonb": return "'{}'"
        case "integer[]": return "'{1}'"
        default: return nil
        }
    }

    private mutating func addPart(using random: inout some RandomNumberGenerator) {
        guard let table = tables.keys.sorted().randomElement(using: &random), let old = tables[table],
            let column = old.columns.randomElement(using: &random)
        else { return }
        let number = Int.random(in: 0...3, using: &random)
        let name = "\(random.pick(["part", "Part'"])) \(table) \(number)"
        switch Int.random(in: 0...5, using: &random) {
        case 0:
            tables[table]?.constraints[name] = .unique([column.name], isDeferrable: random.chance(20))
        case 1: tables[table]?.constraints[name] = .check(column: column.name, number)
        case 2, 3:
            let target = random.pick(tables.keys.sorted())
            tables[table]?.constraints[name] = .foreignKey(
                column: column.name, table: target,
                action: random.pick(["", " ON DELETE CASCADE", " ON DELETE SET NULL DEFERRABLE"]))
        case 4 where random.chance(30): tables[table]?.constraints[name] = .exclusion(column.name)
        default:
            var index = Index(columns: [column.name], isUnique: random.chance(20))
            if random.chance(30) { index.condition = "\(quoted(column.name)) IS NOT NULL" }
            if random.chance(20), column.column.type == "text" { index.expression = "lower(\(quoted(column.name)))" }
            index.comment = random.chance(20) ? "index" : nil
            tables[table]?.indexes["ix \(name)"] = index
        }
    }

    private mutating func addView(using random: inout some RandomNumberGenerator) {
        let name = "view \(Int.random(in: 0...5, using: &random))"
        let sources = tables.keys.sorted() + views.keys.sorted().filter { $0 < name }
        guard views[name] == nil, let source = sources.randomElement(using: &random) else { return }
        let columns = tables[source]?.columns.map(\.name) ?? views[source]?.columns ?? []
        guard !columns.isEmpty else { return }
        place(name, using: &random)
        var view = View(
            source: source, columns: Array(columns.prefix(Int.random(in: 1...columns.count, using: &random))))
        view.isMaterialized = random.chance(25)
        view.condition = random.chance(40) ? "\(quoted(view.columns[0])) IS NOT NULL" : nil
        view.isGrouped = tables[source] != nil && random.chance(20)
        view.comment = random.chance(20) ? "view" : nil
        views[name] = view
    }
}

// MARK: Changing one

extension RandomSchema {
    func changed(using random: inout some RandomNumberGenerator) -> RandomSchema {
        var schema = self
        for _ in 0..<Int.random(in: 1...12, using: &random) { schema.change(using: &random) }
        return schema
    }

    private mutating func change(using random: inout some RandomNumberGenerator) {
        switch Int.random(in: 0...17, using: &random) {
        case 0: addTable(using: &random)
        case 1:
            if random.chance(40), let name = tables.keys.sorted().randomElement(using: &random) { tables[name] = nil }
        case 2, 3:
            if let name = tables.keys.sorted().randomElement(using: &random) { addColumn(to: name, using: &random) }
        case 4:
            withColumn(using: &random) { table, index, _ in if index > 0 { table.columns.remove(at: index) } }
        case 5, 6:
            let type = randomType(using: &random)
            withColumn(using: &random) { table, index, _ in
                guard index > 0, case .plain = table.columns[index].column.kind else { return }
                table.columns[index].column.type = type
                table.columns[index].column.defaultText = nil
                table.columns[index].column.collation = nil
            }
        case 7:
            withColumn(using: &random) { table, index, random in
                guard index > 0 else { return }
                table.columns[index].column.isNotNull.toggle()
            }
        case 8:
            guard let name = tables.keys.sorted().randomElement(using: &random), let table = tables[name] else {
                return
            }
            let index = Int.random(in: 0..<table.columns.count, using: &random)
            guard case .plain = table.columns[index].column.kind else { return }
            let value = random.chance(40) ? nil : defaultText(for: table.columns[index].column.type, using: &random)
            tables[name]?.columns[index].column.defaultText = value
        case 9: addPart(using: &random)
        case 10:
            guard let name = tables.keys.sorted().randomElement(using: &random) else { return }
            if let part = tables[name]?.constraints.keys.sorted().randomElement(using: &random) {
                tables[name]?.constraints[part] = nil
            }
            if let part = tables[name]?.indexes.keys.sorted().randomElement(using: &random) {
                tables[name]?.indexes[part] = nil
            }
        case 11: addView(using: &random)
        case 12: if let name = views.keys.sorted().randomElement(using: &random) { views[name] = nil }
        case 13:
            guard let name = enums.keys.sorted().randomElement(using: &random) else {
                return addEnum("mood 1", using: &random)
            }
            if random.chance(60) {
                let label = random.pick(Self.labels)
                guard let labels = enums[name]?.labels, !labels.contains(label) else { return }
                enums[name]?.labels.insert(label, at: Int.random(in: 0...labels.count, using: &random))
            } else {
                addEnum(name, using: &random)
            }
        case 14:
            if random.chance(50) { addDomain("dom\"0", using: &random) } else { addComposite("pair'0", using: &random) }
        case 15: addSequence("Seq \(Int.random(in: 0...2, using: &random))", using: &random)
        case 16:
            guard let name = tables.keys.sorted().randomElement(using: &random), tables[name]?.partitions == nil else {
                return
            }
            tables[name]?.comment = random.chance(50) ? nil : "another's comment"
            if random.chance(30) { tables[name]?.isUnlogged.toggle() }
            if random.chance(30) { tables[name]?.fillFactor = 70 }
            if random.chance(30) { tables[name]?.hasKey.toggle() }
            if random.chance(40) { tables[name]?.columns[0].column.kind = random.pick([.plain, .identity, .serial]) }
            if random.chance(20) { tables[name]?.columns[0].column.type = "bigint" }
        default:
            withColumn(using: &random) { table, index, random in
                table.columns[index].column.comment = random.chance(50) ? nil : "changed"
            }
        }
    }

    private mutating func withColumn<R: RandomNumberGenerator>(
        using random: inout R, _ change: (inout Table, Int, inout R) -> Void
    ) {
        guard let name = tables.keys.sorted().randomElement(using: &random), var table = tables[name] else { return }
        change(&table, Int.random(in: 0..<table.columns.count, using: &random), &random)
        tables[name] = table
    }
}
