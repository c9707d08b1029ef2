import KindredPostgres
import KindredSchema

// Keys that are missing: columns that are called as if they referred to a table.
extension ForeignKeyRules {
    static func checkMissing(_ run: inout RuleRun) {
        let examination = run.examination
        let oldVersions = OldVersions(examination)
        var tables: [QualifiedName: [DoctorCatalog.Relation]] = [:]
        for relation in examination.sortedRelations
        where !relation.isView && !relation.isPartition && relation.kind != UInt8(ascii: "f") {
            let name = QualifiedName(schema: relation.schema, name: relation.name.lowercased())
            tables[name, default: []].append(relation)
        }
        for relation in tables.values.flatMap({ $0 }).sorted(by: { $0.qualifiedName < $1.qualifiedName }) {
            let keys = examination.foreignKeys(of: relation.oid)
            for column in examination.columns(of: relation.oid)
            where !column.isGenerated && !column.isIdentity
                && !keys.contains(where: { $0.columns.contains(column.number) })
            {
                guard let base = base(of: column.name) else { continue }
                let found = plurals(of: base).flatMap { tables[QualifiedName(schema: relation.schema, name: $0)] ?? [] }
                // A column named after its own table is its key, or a number that another system gave; a foreign key to
                // a table with heirs does not find the heirs' rows, and this table may be an heir.
                guard found.count == 1, let target = found.first, target.oid != relation.oid,
                    !examination.hasChildren(target.oid), !target.isUnlogged || relation.isUnlogged,
                    let index = examination.indexes(of: target.oid).first(where: { $0.isPrimary && $0.keyCount == 1 }),
                    let number = index.keyColumns.first, let other = examination.column(number, of: target.oid),
                    examination.baseType(other.type) == examination.baseType(column.type),
                    other.collation == column.collation, !oldVersions.contains(relation)
                else { continue }
                report(column, of: relation, target, other, &run)
            }
        }
    }

    private static func report(
        _ column: DoctorCatalog.Column, of relation: DoctorCatalog.Relation, _ target: DoctorCatalog.Relation,
        _ other: DoctorCatalog.Column, _ run: inout RuleRun
    ) {
        let entity = run.examination.schema[relation.qualifiedName]
        let index =
            isIndexed(column, of: relation, run.examination)
            ? nil : run.newName(on: relation, [column.name, "idx"])
        let name = run.newName(on: relation, [column.name, "fkey"])
        run.report(
            relation, object: column.name, subjects: [.column(relation.oid, column.number)],
            "The column \(column.name) of \(relation.qualifiedName) has the name of \(target.qualifiedName)'s key and no "
                + "foreign key",
            facts: [("seems to refer to", "\(target.qualifiedName) (\(other.name))")],
            repair: {
                // A column that annotations leave out, or a version, cannot be part of a key.
                if let entity,
                    entity.attribute(named: column.name) == nil || entity.optimisticLocking == .column(column.name)
                {
                    return []
                }
                let key = try RepairText.name(name)
                let add =
                    "ADD CONSTRAINT \(key) FOREIGN KEY (\(try RepairText.name(column.name))) "
                    + "REFERENCES \(try RepairText.name(target)) (\(try RepairText.name(other.name)))"
                let indexes = try index.map { [try RepairText.createIndex($0, on: relation, [column.name])] } ?? []
                if relation.isPartitioned { return indexes + [try RepairText.alter(relation, add)] }
                return indexes + [
                    try RepairText.alter(relation, add + " NOT VALID"),
                    try RepairText.alter(relation, "VALIDATE CONSTRAINT \(key)"),
                ]
            })
    }

    /// Whether an index finds the rows with a value of a column.
    private static func isIndexed(
        _ column: DoctorCatalog.Column, of relation: DoctorCatalog.Relation, _ examination: Examination
    ) -> Bool {
        examination.indexes(of: relation.oid).contains { index in
            index.isUsable && ["btree", "hash"].contains(index.method) && index.keyColumns.first == column.number
                && index.collations.first ?? 0 == column.collation
                && index.predicate.map { ExpressionCondition($0).follows(from: [ServerText(column.name): false]) }
                    ?? true
        }
    }

    /// The table that a column's name speaks of: person for person_id, personId and personID.
    private static func base(of name: String) -> String? {
        for suffix in ["_id", "Id", "ID", "_ID"] where name.hasSuffix(suffix) && name.count > suffix.count {
            return String(name.dropLast(suffix.count)).lowercased()
        }
        return nil
    }

    private static func plurals(of base: String) -> [String] {
        [base, base + "s", base + "es"] + (base.hasSuffix("y") ? [base.dropLast() + "ies"] : [])
    }
}
