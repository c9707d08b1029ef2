import KindredDDL
import KindredPostgres

extension ModelPlanner {
    mutating func makeUniquenessAndIndexes() throws {
        for node in nodes.indices {
            for constraint in nodes[node].entity.uniquenessConstraints { makeUniqueness(constraint, node) }
            for index in nodes[node].entity.indexes { makeIndex(index, node) }
        }
    }

    // MARK: Uniqueness

    private mutating func makeUniqueness(_ names: [String], _ node: Int) {
        let subject = "\(nodes[node].entity.name).(\(names.joined(separator: ", ")))"
        guard !names.isEmpty else { return report(.omitted, subject, "the uniqueness constraint names no attribute") }
        var found: [String] = []
        for name in names {
            guard let column = column(of: name, node), isAttribute(name, node) else {
                return report(
                    .omitted, subject, "the uniqueness constraint names \(name), which is no stored attribute")
            }
            guard column.table == nodes[node].table else {
                return report(
                    .omitted, subject, "its attributes stand in several tables, so nothing can keep them unique")
            }
            if !found.contains(column.name) { found.append(column.name) }
        }
        let table = nodes[node].table
        if isWhole(node) {
            addUnique(table, found)
        } else if let discriminator = discriminators[table], !nodes[node].concrete.isEmpty {
            let kinds = nodes[node].concrete.map { DDL.literal($0) }.joined(separator: ", ")
            let definition = "(" + .list(found) + ") WHERE " + .column(discriminator) + " IN (\(kinds))"
            addIndex(
                table, definition, "\(plan.tables[table].name)_\(found.joined(separator: "_"))_key", isUnique: true)
        } else {
            report(.omitted, subject, "no objects of \(nodes[node].entity.name) can be")
        }
    }

    private func isAttribute(_ name: String, _ node: Int) -> Bool {
        line(of: node).contains { nodes[$0].entity.attributes.contains { $0.name == name } }
    }

    /// Adds a UNIQUE constraint, unless the same is there.
    mutating func addUnique(_ table: Int, _ columns: [String], isDeferrable: Bool = false) {
        let definition = "UNIQUE (" + .list(columns) + (isDeferrable ? ") DEFERRABLE" : ")")
        if plan.tables[table].constraints.contains(where: { $0.definition == definition }) { return }
        let name = "\(plan.tables[table].name)_\(columns.joined(separator: "_"))_key"
        let constraint = takeConstraintName(table, name)
        plan.tables[table].constraints.append(
            ConstraintPlan(name: constraint, definition: definition, hasIndex: true))
    }

    /// A name that neither a relation of the schema nor a constraint of the table has.
    private mutating func takeConstraintName(_ table: Int, _ wanted: String) -> String {
        var name = relationNames.take(wanted)
        while constraintNames[table].isTaken(name) { name = relationNames.take(wanted) }
        constraintNames[table].reserve(name)
        return name
    }

    // MARK: Indexes

    /// Adds an index over columns, unless one begins like it.
    mutating func addIndex(_ table: Int, _ columns: [String]) {
        addIndex(
            table, "(" + .list(columns) + ")", "\(plan.tables[table].name)_\(columns.joined(separator: "_"))_idx",
            isUnique: false)
    }

    private mutating func addIndex(_ table: Int, _ definition: PlanText, _ name: String, isUnique: Bool) {
        guard coveringName(table, definition, isUnique: isUnique) == nil else { return }
        plan.tables[table].indexes.append(
            IndexPlan(name: relationNames.take(name), isUnique: isUnique, definition: definition))
    }

    /// The name of an index or constraint over just the same, so that an index would be a second one; nil if there is none.
    private func coveringName(_ table: Int, _ definition: PlanText, isUnique: Bool) -> String? {
        let constraint = plan.tables[table].constraints.first { constraint in
            ["UNIQUE ", "PRIMARY KEY "].contains { constraint.definition == $0 + definition }
        }
        if let constraint { return "the constraint \(constraint.name)" }
        let index = plan.tables[table].indexes.first { $0.definition == definition && ($0.isUnique || !isUnique) }
        return index.map { "the index \($0.name)" }
    }

    private mutating func makeIndex(_ index: CoreDataModel.Index, _ node: Int) {
        let names = index.elements.map { $0.property ?? $0.expression ?? "" }
        let subject = "\(nodes[node].entity.name).\(index.name ?? "(\(names.joined(separator: ", ")))")"
        guard !index.elements.isEmpty else { return report(.omitted, subject, "the index has no parts") }
        var parts: PlanText?
        var columns: [String] = []
        var table: Int?
        for element in index.elements {
            guard let name = element.property else {
                let expression = element.expression ?? ""
                return report(
                    .omitted, subject, "the index is over an expression, which is not translated: \(expression)")
            }
            guard !element.isRTree else {
                return report(.omitted, subject, "an R-tree is made by hand: PostgreSQL has GiST for points and ranges")
            }
            guard let column = column(of: name, node) else {
                return report(.omitted, subject, "the index names \(name), which has no column")
            }
            guard table == nil || table == column.table else {
                return report(.omitted, subject, "its columns stand in several tables")
            }
            table = column.table
            guard !columns.contains(column.name) else { continue }
            columns.append(column.name)
            let part = PlanText.column(column.name) + (element.isDescending ? " DESC" : "")
            parts = parts.map { $0 + ", " + part } ?? part
        }
        guard let table, let parts else { return }
        let name = index.name ?? "\(columns.joined(separator: "_"))_idx"
        if let covering = coveringName(table, "(" + parts + ")", isUnique: false) {
            return report(.omitted, subject, "\(covering) is over the same columns already")
        }
        addIndex(table, "(" + parts + ")", "\(plan.tables[table].name)_\(name)", isUnique: false)
    }

    // MARK: Circles

    /// Lets keys that no order of insertions satisfies be checked when the transaction ends.
    mutating func deferCircles() {
        var needs: [Set<Int>] = plan.tables.map { _ in [] }
        for (place, table) in plan.tables.enumerated() {
            let required = Set(table.columns.filter(\.isRequired).map(\.name))
            for key in table.foreignKeys where required.contains(key.column) { needs[place].insert(key.target) }
        }
        // A table that needs no remaining table can be inserted into; a table that no remaining table needs is in no
        // circle.
        var left = Set(plan.tables.indices)
        var isProgress = true
        while isProgress {
            let before = left.count
            left = left.filter { !needs[$0].isDisjoint(with: left) }
            left = left.filter { place in left.contains { needs[$0].contains(place) } }
            isProgress = left.count < before
        }
        for place in left.sorted() {
            let required = Set(plan.tables[place].columns.filter(\.isRequired).map(\.name))
            for key in plan.tables[place].foreignKeys.indices {
                let plannedKey = plan.tables[place].foreignKeys[key]
                guard left.contains(plannedKey.target), required.contains(plannedKey.column) else { continue }
                plan.tables[place].foreignKeys[key].isDeferred = true
                report(
                    .changed, plan.tables[place].name,
                    "the required key \(plannedKey.column) is part of a circle, so it is checked when the transaction ends, "
                        + "and rows that refer to each other are written with keys of their own")
            }
        }
    }
}
