extension PlanMigration {
    mutating func addParts(except kept: [Int: Kept]) throws {
        let writer = PlanWriter(new)
        for (table, plan) in new.tables.enumerated() where tableBefore[table] == nil { send(try writer.create(plan)) }
        for (table, plan) in new.tables.enumerated() {
            guard let stays = kept[table] else { continue }
            for constraint in plan.constraints where stays.constraints[constraint.name] == nil {
                send("ALTER TABLE \(try qualified(plan.name)) ADD \(try writer.definition(constraint))")
            }
        }
        for (table, plan) in new.tables.enumerated() {
            for key in plan.foreignKeys where kept[table]?.foreignKeys[key.name] == nil {
                send(try writer.add(key, to: plan.name))
            }
        }
        for (table, plan) in new.tables.enumerated() {
            for index in plan.indexes where kept[table]?.indexes[index.name] == nil {
                send(try writer.create(index, on: plan.name))
            }
        }
        for (table, plan) in new.tables.enumerated() {
            guard let before = tableBefore[table] else {
                for comment in try writer.comments(of: plan) { send(comment) }
                continue
            }
            try changeComments(of: plan, from: old.tables[before], columnBefore[table] ?? [:], kept[table] ?? Kept())
        }
    }

    mutating func changeComments(
        of table: TablePlan, from before: TablePlan, _ names: [String: String], _ kept: Kept
    ) throws {
        let writer = PlanWriter(new)
        let name = try qualified(table.name)
        func literal(_ text: String?) -> String { text.map { PlanLiteral.text($0) } ?? "NULL" }
        if table.comment != before.comment { send("COMMENT ON TABLE \(name) IS \(literal(table.comment))") }
        for column in table.columns {
            let earlier = names[column.name].flatMap { name in before.columns.first { $0.name == name } }
            guard column.comment != earlier?.comment else { continue }
            send("COMMENT ON COLUMN \(name).\(try quote(column.name)) IS \(literal(column.comment))")
        }
        for key in table.foreignKeys {
            let earlier = kept.foreignKeys[key.name].flatMap { name in before.foreignKeys.first { $0.name == name } }
            guard key.comment != earlier?.comment else { continue }
            send(writer.comment(try quote(key.name), name, key.comment))
        }
    }
}
