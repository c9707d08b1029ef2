import KindredPostgres
import KindredSchema

// Helper tables without a key.
extension ForeignKeyRules {
    static func checkHelperKeys(_ run: inout RuleRun) {
        let examination = run.examination
        let referenced = Set(examination.facts.foreignKeys.map(\.target))
        for relation in examination.sortedRelations {
            let hasSurrogate = examination.indexes(of: relation.oid).contains(where: \.isPrimary)
            guard isHelperWithoutKey(relation, examination),
                !hasSurrogate || !referenced.contains(relation.oid) && mayBeHelper(relation, examination)
            else { continue }
            let keys = examination.foreignKeys(of: relation.oid)
            let names = keys.flatMap { examination.names($0.columns, of: relation.oid) }
                .reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
            run.report(
                relation, subjects: keys.map { .constraint($0.oid) }, level: hasSurrogate ? .note : nil,
                "Nothing keeps the pairs of \(relation.qualifiedName) unique, so that it makes no many-to-many relationship"
                    + (hasSurrogate ? ", if its rows are pairs" : ""),
                facts: [("foreign keys", keys.map(\.name).joined(separator: ", "))],
                repair: {
                    let list = try RepairText.list(names)
                    guard hasSurrogate else { return [try RepairText.alter(relation, "ADD PRIMARY KEY (\(list))")] }
                    let columns = names.compactMap { examination.column(named: $0, of: relation.oid) }
                    let required = try columns.filter { !$0.isNotNull }.map { column in
                        try RepairText.alter(relation, "ALTER COLUMN \(try RepairText.name(column.name)) SET NOT NULL")
                    }
                    return required + [try RepairText.alter(relation, "ADD UNIQUE (\(list))")]
                })
        }
    }

    /// Whether a table has two foreign keys and nothing to say of its own, and does not keep their pairs unique.
    static func isHelperWithoutKey(_ relation: DoctorCatalog.Relation, _ examination: Examination) -> Bool {
        guard relation.holdsRows, !relation.isPartition else { return false }
        let keys = examination.foreignKeys(of: relation.oid)
        guard keys.count == 2, !keys.contains(where: { $0.target == relation.oid || $0.hasPeriod }) else {
            return false
        }
        let together = Set(keys[0].columns + keys[1].columns)
        guard together.count > max(keys[0].columns.count, keys[1].columns.count) else { return false }
        let indexes = examination.indexes(of: relation.oid)
        let primary = indexes.first(where: \.isPrimary)
        let surrogate = primary?.keyColumns ?? []
        if let primary, !isNumber(primary, of: relation, examination) { return false }
        let rest = examination.columns(of: relation.oid).filter { !together.contains($0.number) }
        return rest.allSatisfy { surrogate.contains($0.number) || $0.isIdentity }
            && !surrogate.contains { together.contains($0) }
            && !indexes.contains {
                $0.isUnique && $0.isUsable && $0.predicate == nil && $0.expressions == nil
                    && Set($0.keyColumns).isSubset(of: together)
            }
    }

    /// Whether a primary key is one column of a type that says nothing about the row: a whole number or a uuid.
    private static func isNumber(
        _ primary: DoctorCatalog.Index, of relation: DoctorCatalog.Relation, _ examination: Examination
    ) -> Bool {
        guard primary.keyCount == 1, let number = primary.keyColumns.first,
            let column = examination.column(number, of: relation.oid)
        else { return false }
        return [20, 21, 23, 2950].contains(examination.baseType(column.type))
    }

    /// Whether a table with a numbered key may be one of pairs.
    ///
    /// A task is not: it has a reporter and an assignee, both of one table, and may have the same two as another task.
    private static func mayBeHelper(_ relation: DoctorCatalog.Relation, _ examination: Examination) -> Bool {
        let keys = examination.foreignKeys(of: relation.oid)
        let areRequired = keys.map { key in
            key.columns.allSatisfy { examination.column($0, of: relation.oid)?.isNotNull ?? false }
        }
        return Set(keys.map(\.target)).count == keys.count && Set(areRequired).count == 1
    }
}
