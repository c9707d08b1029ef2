import KindredSchema

// Helper tables without a key.
extension ForeignKeyRules {
    static func checkHelperKeys(_ visit: inout RuleVisit) {
        let examination = visit.examination
        for relation in examination.sortedRelations where isHelperWithoutKey(relation, examination) {
            let keys = examination.foreignKeys(of: relation.oid)
            let names = keys.flatMap { examination.names($0.columns, of: relation.oid) }
                .reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
            let hasSurrogate = examination.indexes(of: relation.oid).contains(where: \.isPrimary)
            visit.report(
                relation, subjects: keys.map { .constraint($0.oid) },
                "Nothing keeps the pairs of \(relation.qualifiedName) unique, so that it makes no many-to-many relationship",
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
        let surrogate = indexes.first(where: \.isPrimary)?.keyColumns ?? []
        let rest = examination.columns(of: relation.oid).filter { !together.contains($0.number) }
        return rest.allSatisfy { surrogate.contains($0.number) || $0.isIdentity }
            && !surrogate.contains { together.contains($0) }
            && !indexes.contains {
                $0.isUnique && $0.isUsable && $0.predicate == nil && $0.expressions == nil
                    && Set($0.keyColumns).isSubset(of: together)
            }
    }
}
