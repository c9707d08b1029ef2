import KindredPostgres
import KindredSchema

// Helper tables without a key.
extension ForeignKeyRules {
    static func checkHelperKeys(_ run: inout RuleRun) {
        let examination = run.examination
        let referenced = Set(examination.facts.foreignKeys.map(\.target))
        for relation in examination.sortedRelations {
            let hasSurrogate = examination.indexes(of: relation.oid).contains(where: \.isPrimary)
            guard isHelperWithoutKey(relation, examination) else { continue }
            let keys = examination.foreignKeys(of: relation.oid)
            let names = keys.flatMap { examination.names($0.columns, of: relation.oid) }
                .reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
            let columns = names.compactMap { examination.column(named: $0, of: relation.oid) }
            let index = uniqueIndex(over: columns, of: relation, examination)
            guard
                index != nil || !hasSurrogate
                    || !referenced.contains(relation.oid) && mayBeHelper(relation, examination)
            else { continue }
            let table = relation.qualifiedName
            let nullable = columns.filter { !$0.isNotNull }.map(\.name).joined(separator: ", ")
            let problem =
                index.map {
                    "The index \($0.name) of \(table) keeps pairs unique, but \(nullable) may be NULL, so that it makes no "
                        + "many-to-many relationship"
                } ?? "Nothing keeps the pairs of \(table) unique, so that it makes no many-to-many relationship"
                + (hasSurrogate ? ", if its rows are pairs" : "")
            let newName = run.newName(on: relation, names + ["key"])
            run.report(
                relation, subjects: keys.map { .constraint($0.oid) }, level: hasSurrogate && index == nil ? .note : nil,
                problem,
                facts: [
                    ("foreign keys", keys.map(\.name).joined(separator: ", ")),
                    ("rows in the way", try? obstacles(to: names, of: relation)),
                ].compactMap { fact in fact.1.map { (fact.0, $0) } },
                repair: {
                    let required = try columns.filter { !$0.isNotNull }.map { column in
                        try RepairText.alter(relation, "ALTER COLUMN \(try RepairText.name(column.name)) SET NOT NULL")
                    }
                    if index != nil { return required }
                    return required + [try RepairText.createIndex(newName, on: relation, names, isUnique: true)]
                })
        }
    }

    /// A query for the pairs that keep the repair from being made: pairs with NULL, and pairs that are there more than once.
    private static func obstacles(to names: [String], of relation: DoctorCatalog.Relation) throws -> String {
        let isNull = try names.map { "\(try RepairText.name($0)) IS NULL" }.joined(separator: " OR ")
        let list = try RepairText.list(names)
        return
            "SELECT \(list), count(*) FROM \(try RepairText.name(relation)) GROUP BY \(list) HAVING count(*) > 1 OR \(isNull)"
    }

    /// The unique index over exactly the columns of a pair, some of which may be NULL.
    private static func uniqueIndex(
        over columns: [DoctorCatalog.Column], of relation: DoctorCatalog.Relation, _ examination: Examination
    ) -> DoctorCatalog.Index? {
        examination.indexes(of: relation.oid).first {
            isWhole($0) && Set($0.keyColumns) == Set(columns.map(\.number))
        }
    }

    /// Whether an index keeps all rows apart by columns alone.
    private static func isWhole(_ index: DoctorCatalog.Index) -> Bool {
        index.isUnique && index.isUsable && index.predicate == nil && index.expressions == nil
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
            && !indexes.contains { index in
                let columns = Set(index.keyColumns)
                // Over the pair itself it is the key as soon as no column of it may be NULL.
                return isWhole(index) && columns.isSubset(of: together)
                    && (columns != together
                        || columns.allSatisfy { examination.column($0, of: relation.oid)?.isNotNull ?? false })
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
