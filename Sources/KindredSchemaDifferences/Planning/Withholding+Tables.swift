import KindredDDL
import KindredPostgres

// Tables that stay as they were, and tables of the new side that have to wait for them.
extension Withholding {
    /// Keeps a table that the new side lacks, or has as something that it cannot become.
    mutating func retainTable(_ name: ItemName) { retainTable(name, "DROP TABLE \(shown(name))") }

    private mutating func retainTable(_ name: ItemName, _ statement: String?) {
        guard retainedTables.insert(name).inserted else { return }
        if let statement { statements.append(statement) }
        removeParts(of: name)
        retain(name)
        for part in oldParts[name] ?? [] {
            retain(part)
            // A sequence goes on with its column.
            for sequence in oldSequences[part] ?? [] { retain(sequence) }
        }
        // Tables below it on the new side may be none that can be below it as it stays.
        postponedTables += (newDependents[name] ?? []).filter { $0.kind == .table }
        postponeSameBounds(as: name)
    }

    /// Takes out everything that the new side has of a table.
    private mutating func removeParts(of table: ItemName) {
        for part in newParts[table] ?? [] {
            retained.items[part] = nil
            restoreSequences(of: part)
        }
        for part in newParts[table] ?? [] { postponeDependents(of: part) }
    }

    /// Takes out the sequences that the new side gives a column that does not come, or stays as it was.
    mutating func restoreSequences(of column: ItemName) {
        for sequence in newSequences[column] ?? [] where from.sequence(sequence)?.owner != column {
            retained.items[sequence] = from[sequence]
        }
    }

    /// Postpones tables, and everything that the new side builds on them.
    mutating func postponeTables() {
        while let table = postponedTables.popLast() {
            guard retained[table] != nil, !retainedTables.contains(table) else { continue }
            if from[table] != nil {
                let isChanged = retained[table]?.content != from[table]?.content
                retainTable(table, isChanged ? "the new definition of the \(table.described)" : nil)
                continue
            }
            statements.append("the new \(table.described)")
            removeParts(of: table)
            retained.items[table] = nil
            postponedTables += (newDependents[table] ?? []).filter { $0.kind == .table }
            postponeDependents(of: table)
        }
    }

    /// A partition that stays has its bounds, so that another partition cannot have the same bounds.
    private mutating func postponeSameBounds(as name: ItemName) {
        guard let table = from.table(name), let bound = table.bound, let parent = table.parents.first else { return }
        postponedTables += (newDependents[parent] ?? []).filter {
            $0 != name && retained.table($0)?.bound == bound && retained[$0]?.content != from[$0]?.content
        }
    }

    /// A table has one primary key.
    mutating func postponeOtherKeys(than key: ItemName) {
        for other in newParts[key.owner()] ?? [] where other != key {
            if retained.constraint(other)?.kind == .primaryKey { postpone(other) }
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
