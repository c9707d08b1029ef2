import KindredPostgres
import KindredSchema

/// K221 to K223: the actions of foreign keys, and their limits.
enum ActionRules {
    // MARK: Cycles

    static func checkCycles(_ run: inout RuleRun) {
        let examination = run.examination
        var edges: [UInt32: [DoctorCatalog.ForeignKey]] = [:]
        for key in examination.foreignKeys where isStrict(key, examination) {
            edges[key.relation, default: []].append(key)
        }
        for cycle in StrongComponents.find(edges.mapValues { $0.map(\.target) }) where cycle.count > 1 {
            let members = cycle.compactMap { examination.relations[$0] }.sorted { $0.qualifiedName < $1.qualifiedName }
            guard let first = members.first else { continue }
            let inside = Set(cycle)
            let keys = members.flatMap { edges[$0.oid] ?? [] }.filter { inside.contains($0.target) }
            let closing = closingKeys(keys, from: members.map(\.oid))
            run.report(
                first, subjects: keys.map { .constraint($0.oid) },
                "Each of \(members.map(\.qualifiedName.description).joined(separator: ", ")) needs a row of another, so that "
                    + "no first row can be stored",
                facts: [("foreign keys", keys.map(\.name).joined(separator: ", "))],
                repair: {
                    try closing.compactMap { key in
                        guard let relation = examination.relations[key.relation] else { return nil }
                        return try RepairText.alter(
                            relation, "ALTER CONSTRAINT \(try RepairText.name(key.name)) DEFERRABLE INITIALLY DEFERRED")
                    }
                })
        }
    }

    /// Whether a row can only be stored when the row that it refers to is there.
    private static func isStrict(_ key: DoctorCatalog.ForeignKey, _ examination: Examination) -> Bool {
        guard key.isEnforced, !key.isDeferrable, key.target != key.relation else { return false }
        let columns = key.columns.compactMap { examination.column($0, of: key.relation) }
        return key.isMatchFull ? columns.contains(where: \.isNotNull) : columns.allSatisfy(\.isNotNull)
    }

    /// The keys that close a cycle: the keys that lead back in a depth-first search.
    private static func closingKeys(
        _ keys: [DoctorCatalog.ForeignKey], from tables: [UInt32]
    ) -> [DoctorCatalog.ForeignKey] {
        let edges = Dictionary(grouping: keys, by: \.relation)
        var closing: [DoctorCatalog.ForeignKey] = []
        var done: Set<UInt32> = []
        for start in tables where !done.contains(start) {
            var path: [(table: UInt32, next: Int)] = [(start, 0)]
            var open: Set<UInt32> = [start]
            while let (table, next) = path.last {
                let own = edges[table] ?? []
                guard next < own.count else {
                    path.removeLast()
                    open.remove(table)
                    done.insert(table)
                    continue
                }
                path[path.count - 1].next += 1
                let target = own[next].target
                if open.contains(target) {
                    closing.append(own[next])
                } else if !done.contains(target) {
                    path.append((target, 0))
                    open.insert(target)
                }
            }
        }
        return closing
    }

    // MARK: SET NULL

    static func checkSetNull(_ run: inout RuleRun) {
        let examination = run.examination
        for key in examination.foreignKeys {
            guard let relation = examination.relations[key.relation] else { continue }
            let deleted = key.deleteSetColumns.isEmpty ? key.columns : key.deleteSetColumns
            let onDelete = failing(key.deleteAction, deleted, key, examination)
            let onUpdate = failing(key.updateAction, key.columns, key, examination)
            let failing = onDelete + onUpdate.filter { column in !onDelete.contains { $0.number == column.number } }
            guard !failing.isEmpty else { continue }
            let names = failing.map(\.name).joined(separator: ", ")
            let action = onDelete.isEmpty ? key.updateAction : key.deleteAction
            run.report(
                relation, object: key.name, subjects: [.constraint(key.oid)],
                "The foreign key \(key.name) of \(relation.qualifiedName) says ON \(onDelete.isEmpty ? "UPDATE" : "DELETE") "
                    + "\(ForeignKeyText.action(action)), and \(names) cannot be NULL, so that it always fails",
                facts: [("required columns", names)],
                repair: { try repair(key, relation, failing, onDelete, onUpdate, examination) })
        }
    }

    /// The columns that an action would set to NULL and that refuse it.
    private static func failing(
        _ action: UInt8, _ columns: [Int16], _ key: DoctorCatalog.ForeignKey, _ examination: Examination
    ) -> [DoctorCatalog.Column] {
        let isSetNull = action == UInt8(ascii: "n")
        guard isSetNull || action == UInt8(ascii: "d") else { return [] }
        return columns.compactMap { examination.column($0, of: key.relation) }
            .filter { $0.isNotNull && (isSetNull || !$0.hasDefault) }
    }

    private static func repair(
        _ key: DoctorCatalog.ForeignKey, _ relation: DoctorCatalog.Relation, _ failing: [DoctorCatalog.Column],
        _ onDelete: [DoctorCatalog.Column], _ onUpdate: [DoctorCatalog.Column], _ examination: Examination
    ) throws -> [String] {
        let primary = examination.indexes(of: relation.oid).first(where: \.isPrimary)
        let isFree = failing.allSatisfy { !(primary?.keyColumns.contains($0.number) ?? false) && !$0.isIdentity }
        if isFree {
            // The table that a column comes from requires it.
            if relation.isPartition || failing.contains(where: \.isInherited) { return [] }
            return try failing.map {
                try RepairText.alter(relation, "ALTER COLUMN \(try RepairText.name($0.name)) DROP NOT NULL")
            }
        }
        var action = "NO ACTION"
        let nullable = key.columns.compactMap { examination.column($0, of: relation.oid) }.filter { !$0.isNotNull }
        if onDelete.isEmpty {
            action = ForeignKeyText.action(key.deleteAction)
        } else if !nullable.isEmpty, !key.isMatchFull, key.deleteAction == UInt8(ascii: "n"),
            examination.facts.settings.serverVersion >= 150_000
        {
            action = "SET NULL (\(try RepairText.list(nullable.map(\.name))))"
        }
        let name = try RepairText.name(key.name)
        let definition = try ForeignKeyText.definition(
            key, onDelete: action, onUpdate: onUpdate.isEmpty ? nil : "NO ACTION", in: examination)
        return [try RepairText.alter(relation, "DROP CONSTRAINT \(name), ADD CONSTRAINT \(name) \(definition)")]
            + (try RepairText.comment(on: key.name, key.oid, of: relation, in: examination))
    }

    // MARK: Cascades

    private static let mostTables = 10
    private static let mostRows = 1_000_000

    static func checkCascades(_ run: inout RuleRun) {
        let examination = run.examination
        var followers: [UInt32: Set<UInt32>] = [:]
        for key in examination.foreignKeys where key.deleteAction == UInt8(ascii: "c") && key.isEnforced {
            followers[key.target, default: []].insert(key.relation)
        }
        for relation in examination.sortedRelations where followers[relation.oid] != nil {
            var reached: Set<UInt32> = []
            var pending = [relation.oid]
            while let next = pending.popLast() {
                for follower in followers[next] ?? [] where reached.insert(follower).inserted {
                    pending.append(follower)
                }
            }
            reached.remove(relation.oid)
            let rows = reached.reduce(0) { $0.addingReportingOverflow(examination.rows(of: $1)).partialValue }
            guard reached.count > mostTables || rows > mostRows else { continue }
            let names = reached.compactMap { examination.relations[$0]?.qualifiedName.description }.sorted()
            run.report(
                relation,
                "Deleting a row of \(relation.qualifiedName) reaches \(reached.count) tables with about \(rows) rows by "
                    + "ON DELETE CASCADE",
                facts: [("tables", names.prefix(20).joined(separator: ", ") + (names.count > 20 ? ", …" : ""))],
                weight: Double(rows))
        }
    }
}

/// The strongly connected parts of a graph: in each part every node reaches every other node.
enum StrongComponents {
    /// Tarjan's algorithm, with a stack of its own so that a long chain of tables does not use up the thread's.
    static func find(_ edges: [UInt32: [UInt32]]) -> [[UInt32]] {
        var (indexes, lows): ([UInt32: Int], [UInt32: Int]) = ([:], [:])
        var (stack, isOnStack): ([UInt32], Set<UInt32>) = ([], [])
        var components: [[UInt32]] = []
        for start in edges.keys.sorted() where indexes[start] == nil {
            var path: [(node: UInt32, next: Int)] = [(start, 0)]
            while let (node, next) = path.last {
                if next == 0, indexes[node] == nil {
                    (indexes[node], lows[node]) = (indexes.count, indexes.count)
                    stack.append(node)
                    isOnStack.insert(node)
                }
                let targets = edges[node] ?? []
                if next < targets.count {
                    path[path.count - 1].next += 1
                    let target = targets[next]
                    if indexes[target] == nil {
                        path.append((target, 0))
                    } else if isOnStack.contains(target) {
                        lows[node] = min(lows[node] ?? 0, indexes[target] ?? 0)
                    }
                    continue
                }
                path.removeLast()
                if let parent = path.last?.node { lows[parent] = min(lows[parent] ?? 0, lows[node] ?? 0) }
                guard lows[node] == indexes[node] else { continue }
                var component: [UInt32] = []
                while let last = stack.popLast() {
                    isOnStack.remove(last)
                    component.append(last)
                    if last == node { break }
                }
                components.append(component)
            }
        }
        return components
    }
}
