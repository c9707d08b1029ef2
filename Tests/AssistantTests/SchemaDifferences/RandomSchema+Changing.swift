import TestSupport

// Changing a schema at random.
extension RandomSchema {
    func changed(using random: inout some RandomNumberGenerator) -> RandomSchema {
        var schema = self
        for _ in 0..<Int.random(in: 1...12, using: &random) { schema.change(using: &random) }
        return schema
    }

    private mutating func change(using random: inout some RandomNumberGenerator) {
        switch Int.random(in: 0...18, using: &random) {
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
        case 17: changePartitions(using: &random)
        default:
            withColumn(using: &random) { table, index, random in
                table.columns[index].column.comment = random.chance(50) ? nil : "changed"
            }
        }
    }

    /// Makes a table partitioned or an ordinary one, or takes its last partition away.
    private mutating func changePartitions(using random: inout some RandomNumberGenerator) {
        guard let name = tables.keys.sorted().randomElement(using: &random), var table = tables[name] else { return }
        if let partitions = table.partitions {
            table.partitions = random.chance(50) ? nil : Array(partitions.prefix(1))
        } else if !table.isUnlogged {
            table.partitions = ["\(name) p1", "\(name) p2"]
            table.fillFactor = nil
            table.columns[0].column.kind = .plain
        }
        tables[name] = table
    }

    private mutating func withColumn<R: RandomNumberGenerator>(
        using random: inout R, _ change: (inout Table, Int, inout R) -> Void
    ) {
        guard let name = tables.keys.sorted().randomElement(using: &random), var table = tables[name] else { return }
        change(&table, Int.random(in: 0..<table.columns.count, using: &random), &random)
        tables[name] = table
    }
}
