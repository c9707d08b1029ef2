import KindredDDL

// Tables that stay as they were, and those of the new side that have to wait for them.
extension Withholding {
    /// Keeps a table that the new side lacks, or has as something that it cannot become.
    mutating func keepTable(_ name: ItemName) { keepTable(name, "DROP TABLE \(shown(name))") }

    private mutating func keepTable(_ name: ItemName, _ statement: String?) {
        guard keptTables.insert(name).inserted else { return }
        if let statement { statements.append(statement) }
        removeParts(of: name)
        keep(name)
        for part in oldParts[name] ?? [] {
            keep(part)
            // A sequence goes on with its column.
            for sequence in oldSequences[part] ?? [] { keep(sequence) }
        }
        // What is below it on the new side may be nothing that can be below what it stays.
        heldTables += (newDependents[name] ?? []).filter { $0.kind == .table }
        holdSameBounds(as: name)
    }

    /// Takes out what the new side has of a table.
    private mutating func removeParts(of table: ItemName) {
        for part in newParts[table] ?? [] {
            kept.items[part] = nil
            restoreSequences(of: part)
        }
        for part in newParts[table] ?? [] { holdDependents(of: part) }
    }

    /// Takes out the sequences that the new side gives a column that does not come, or stays as it was.
    mutating func restoreSequences(of column: ItemName) {
        for sequence in newSequences[column] ?? [] where from.sequence(sequence)?.owner != column {
            kept.items[sequence] = from[sequence]
        }
    }

    /// Lets tables wait, and what the new side builds on them.
    mutating func holdTables() {
        while let table = heldTables.popLast() {
            guard kept[table] != nil, !keptTables.contains(table) else { continue }
            if from[table] != nil {
                let isChanged = kept[table]?.content != from[table]?.content
                keepTable(table, isChanged ? "the new definition of the \(table.described)" : nil)
                continue
            }
            statements.append("the new \(table.described)")
            removeParts(of: table)
            kept.items[table] = nil
            heldTables += (newDependents[table] ?? []).filter { $0.kind == .table }
            holdDependents(of: table)
        }
    }

    /// A partition that stays has its bounds, so that another one cannot have the same.
    private mutating func holdSameBounds(as name: ItemName) {
        guard let table = from.table(name), let bound = table.bound, let parent = table.parents.first else { return }
        heldTables += (newDependents[parent] ?? []).filter {
            $0 != name && kept.table($0)?.bound == bound && kept[$0]?.content != from[$0]?.content
        }
    }

    /// A table has one primary key.
    mutating func holdOtherKeys(than key: ItemName) {
        for other in newParts[key.owner()] ?? [] where other != key {
            if kept.constraint(other)?.kind == .primaryKey { hold(other) }
        }
    }

    /// What has the name of a foreign table waits for it to be dropped.
    mutating func holdForeignNames() {
        for name in kept.items.keys.sorted() where name.isRelation && from[name] == nil {
            guard from[name.foreignTable] != nil else { continue }
            statements.append("DROP FOREIGN TABLE \(shown(name))")
            hold(name)
        }
    }
}

extension SchemaSnapshot {
    /// Columns, constraints, triggers, policies and indexes by their tables.
    var partsOfTables: [ItemName: [ItemName]] {
        var result: [ItemName: [ItemName]] = [:]
        for name in items.keys.sorted() {
            switch name.kind {
            case .column, .constraint, .trigger, .policy: result[name.owner(), default: []].append(name)
            case .index: if let relation = index(name)?.relation { result[relation, default: []].append(name) }
            default: break
            }
        }
        return result
    }

    /// Sequences by the columns that own them.
    var sequencesOfColumns: [ItemName: [ItemName]] {
        var result: [ItemName: [ItemName]] = [:]
        for name in items.keys.sorted() where name.kind == .sequence {
            if let owner = sequence(name)?.owner { result[owner, default: []].append(name) }
        }
        return result
    }
}
