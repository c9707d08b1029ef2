import KindredDDL
import KindredPostgres

/// The older plan with the names that its tables and columns have in the newer one.
///
/// Tables and columns that the newer one lacks give up names that are needed.
struct PlanRenaming {
    private(set) var plan: SchemaPlan
    private(set) var statements: [SchemaStatement] = []

    init(_ old: SchemaPlan, to new: SchemaPlan, _ matching: PlanMatching) throws {
        plan = old
        try renameTables(to: new, matching)
        var columns: [Int: [String: String]] = [:]
        for table in old.tables.indices {
            guard let after = matching.tableAfter[table] else { continue }
            columns[table] = try renameColumns(of: table, to: new.tables[after], matching.columnBefore[after] ?? [:])
        }
        for table in plan.tables.indices {
            for place in plan.tables[table].foreignKeys.indices {
                let key = plan.tables[table].foreignKeys[place]
                plan.tables[table].foreignKeys[place].targetColumn =
                    columns[key.target]?[key.targetColumn] ?? key.targetColumn
            }
        }
    }

    private mutating func renameTables(to new: SchemaPlan, _ matching: PlanMatching) throws {
        var names = NameSupply()
        let wanted = Set(new.relations)
        for relation in new.relations + plan.relations { names.reserve(relation) }
        var renamings: [Renaming] = []
        func index(_ name: String) -> String {
            guard wanted.contains(name) else { return name }
            let other = names.take("\(name)_old")
            renamings.append(Renaming(ItemName(kind: .index, schema: plan.schema, name: name), to: other))
            return other
        }
        for place in plan.tables.indices {
            var table = plan.tables[place]
            if let after = matching.tableAfter[place] {
                table.name = new.tables[after].name
            } else {
                if wanted.contains(table.name) { table.name = names.take("\(table.name)_old") }
                for part in table.constraints.indices where table.constraints[part].hasIndex {
                    table.constraints[part].name = index(table.constraints[part].name)
                }
                for part in table.indexes.indices { table.indexes[part].name = index(table.indexes[part].name) }
            }
            renamings.append(Renaming(plan.name(of: plan.tables[place]), to: table.name))
            plan.tables[place] = table
        }
        statements += try Renaming.statements(renamings)
    }

    /// Renames the columns of a table that has its new name; returns the new names by the old names.
    private mutating func renameColumns(
        of place: Int, to new: TablePlan, _ before: [String: String]
    ) throws -> [String: String] {
        let table = plan.tables[place]
        var renamed = Dictionary(before.map { ($1, $0) }) { first, _ in first }
        var names = NameSupply()
        for column in new.columns + table.columns { names.reserve(column.name) }
        for column in table.columns where renamed[column.name] == nil && new.column(named: column.name) != nil {
            renamed[column.name] = names.take("\(column.name)_old")
        }
        statements += try Renaming.statements(
            table.columns.map { column in
                Renaming(plan.part(.column, column.name, of: table), to: renamed[column.name] ?? column.name)
            })
        plan.tables[place].rename(renamed)
        return renamed
    }
}
