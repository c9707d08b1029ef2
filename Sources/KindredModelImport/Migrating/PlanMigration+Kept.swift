extension PlanMigration {
    /// The parts of a new table that an old one has already, under the old names.
    struct Kept {
        var constraints: [String: String] = [:]
        var foreignKeys: [String: String] = [:]
        var indexes: [String: String] = [:]
    }

    func keptParts() -> [Int: Kept] {
        var all: [Int: Kept] = [:]
        for (table, before) in tableBefore {
            var kept = Kept()
            let names = columnAfter[before] ?? [:]
            let (after, earlier) = (new.tables[table], old.tables[before])
            let recreated = recreatedColumns(of: table)
            func isWhole(_ text: PlanText) -> Bool {
                text.columns.allSatisfy { name in names[name].map { !recreated.contains($0) } ?? false }
            }
            for constraint in after.constraints {
                let same = earlier.constraints.first {
                    isWhole($0.definition) && $0.definition.renaming(names) == constraint.definition
                        && !kept.constraints.values.contains($0.name)
                }
                kept.constraints[constraint.name] = same?.name
            }
            for key in after.foreignKeys {
                let same = earlier.foreignKeys.first { other in
                    names[other.column] == key.column && tableAfter[other.target] == key.target
                        && columnAfter[other.target]?[other.targetColumn] == key.targetColumn
                        && other.onDelete == key.onDelete && other.isDeferred == key.isDeferred
                        && !kept.foreignKeys.values.contains(other.name)
                }
                kept.foreignKeys[key.name] = same?.name
            }
            for index in after.indexes {
                let same = earlier.indexes.first {
                    isWhole($0.definition) && $0.isUnique == index.isUnique
                        && $0.definition.renaming(names) == index.definition && !kept.indexes.values.contains($0.name)
                }
                kept.indexes[index.name] = same?.name
            }
            all[table] = kept
        }
        return all
    }

    mutating func dropParts(except kept: [Int: Kept]) throws {
        // Foreign keys first, of all tables, since unique constraints stand below them.
        for (before, table) in old.tables.enumerated() {
            let stays = tableAfter[before].flatMap { kept[$0] }
            guard let stays else { continue }
            for key in table.foreignKeys where !stays.foreignKeys.values.contains(key.name) {
                send("ALTER TABLE \(try qualified(table.name)) DROP CONSTRAINT \(try quote(key.name))")
            }
        }
        for (before, table) in old.tables.enumerated() {
            guard let stays = tableAfter[before].flatMap({ kept[$0] }) else { continue }
            for index in table.indexes where !stays.indexes.values.contains(index.name) {
                send("DROP INDEX \(try qualified(index.name))")
            }
            for constraint in table.constraints where !stays.constraints.values.contains(constraint.name) {
                send("ALTER TABLE \(try qualified(table.name)) DROP CONSTRAINT \(try quote(constraint.name))")
            }
        }
    }
}
