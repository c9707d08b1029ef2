import TestSupport

// Making a schema at random.
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

    mutating func addEnum(_ name: String, using random: inout some RandomNumberGenerator) {
        enums[name] = Enumeration(labels: random.some(Self.labels, atMost: 4))
        place(name, using: &random)
    }

    mutating func addDomain(_ name: String, using random: inout some RandomNumberGenerator) {
        let base = random.pick(["integer", "text", "numeric(8,2)"])
        domains[name] = Domain(
            base: base, check: random.chance(60) ? Int.random(in: 0...3, using: &random) : nil,
            isNotNull: random.chance(20), defaultText: random.chance(30) ? "7" : nil)
        if base == "text", domains[name]?.defaultText != nil { domains[name]?.defaultText = "'seven'" }
        place(name, using: &random)
    }

    mutating func addComposite(_ name: String, using random: inout some RandomNumberGenerator) {
        var fields = [(name: "f1", type: "integer")]
        if random.chance(70) { fields.append((name: "F 2", type: random.pick(["text", "bigint"]))) }
        composites[name] = fields
        place(name, using: &random)
    }

    mutating func addSequence(_ name: String, using random: inout some RandomNumberGenerator) {
        sequences[name] = (
            increment: Int.random(in: 1...3, using: &random), minimum: Int.random(in: 1...3, using: &random),
            comment: random.chance(30) ? "it's a \\ sequence" : nil
        )
        place(name, using: &random)
    }

    mutating func addTable(using random: inout some RandomNumberGenerator) {
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

    mutating func addPart(using random: inout some RandomNumberGenerator) {
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

    mutating func addView(using random: inout some RandomNumberGenerator) {
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
