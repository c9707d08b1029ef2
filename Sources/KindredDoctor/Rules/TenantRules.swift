import KindredPostgres
import KindredSchema

extension DoctorRule {
    /// K41x: tenants that share tables, whose rows a column keeps apart.
    static let tenantRules: [DoctorRule] = [
        DoctorRule(
            "K411", "unique-across-tenants", .warning,
            "A unique key without the tenant's column, over values that a program gives.",
            explanation: """
                Two tenants cannot have the same value, and an INSERT that is refused tells one of them of the other's. It is looked \
                for where --tenant-column names the column. Columns of uuid, with an identity or a sequence, and foreign keys to \
                tables of tenants do not meet by chance: keys with one of those are not meant. The repair puts the column in \
                front, so that ON CONFLICT has to name it too.
                """,
            check: TenantChecks.checkUniques),
        DoctorRule(
            "K412", "generated-key-without-tenant", .note,
            "Primary keys of generated values without the tenant's column.",
            explanation: """
                The values of such keys do not meet, but a foreign key to one of them lets a row refer to a row of another tenant, \
                and ON DELETE CASCADE goes there as well. With the column in both keys the database forbids it. It is said once for \
                all tables, where --tenant-column names the column.
                """,
            check: TenantChecks.checkGeneratedKeys),
    ]
}

/// The checks of K41x.
enum TenantChecks {
    static func checkUniques(_ run: inout RuleRun) {
        let examination = run.examination
        guard let name = examination.tenantColumn else { return }
        let tables = tables(in: examination)
        if tables.isEmpty { return run.skip("No table has the column \(name), by which rows would be a tenant's") }
        let referenced = Set(examination.facts.foreignKeys.map(\.targetIndex))
        let dropped = RedundantIndexes.dropped(in: examination)
        for (relation, column) in tables {
            for index in uniques(of: relation, without: column, examination)
            where !isGenerated(index, of: relation, examination) {
                let columns = examination.names(index.keyColumns, of: relation.oid)
                run.report(
                    relation, object: index.name, subjects: [.relation(index.oid), .constraint(index.constraint)],
                    "The unique key \(index.name) of \(relation.qualifiedName) lacks \(name), so that one tenant's values "
                        + "are in another's way",
                    facts: [("columns", (columns + [index.expressions].compactMap(\.self)).joined(separator: ", "))],
                    repair: {
                        guard let constraint = index.constraintName, !index.isPrimary, !index.isReplicaIdentity,
                            !referenced.contains(index.oid), !dropped.contains(index.oid), index.includedColumns.isEmpty
                        else { return [] }
                        let key = try RepairText.name(constraint)
                        let list = try RepairText.list([column.name] + columns)
                        let nulls = index.hasDistinctNulls ? "" : " NULLS NOT DISTINCT"
                        let deferrable = index.isDeferrable ? " DEFERRABLE" : ""
                        return [
                            try RepairText.alter(
                                relation,
                                "DROP CONSTRAINT \(key), ADD CONSTRAINT \(key) UNIQUE\(nulls) (\(list))\(deferrable)")
                        ] + (try RepairText.comment(on: constraint, index.constraint, of: relation, in: examination))
                    })
            }
        }
    }

    static func checkGeneratedKeys(_ run: inout RuleRun) {
        let examination = run.examination
        guard let name = examination.tenantColumn else { return }
        let names = tables(in: examination).filter { relation, column in
            uniques(of: relation, without: column, examination)
                .contains { $0.isPrimary && isGenerated($0, of: relation, examination) }
        }.map(\.relation.qualifiedName.description)
        guard !names.isEmpty else { return }
        run.report(
            nil, object: name,
            "\(names.count == 1 ? "A primary key lacks" : "\(names.count) primary keys lack") \(name), so that foreign keys "
                + "to them may refer to rows of another tenant",
            facts: [("tables", names.joined(separator: ", "))])
    }

    /// The tables of tenants with the column; partitions are their table's.
    private static func tables(
        in examination: Examination
    ) -> [(relation: DoctorCatalog.Relation, column: DoctorCatalog.Column)] {
        guard let name = examination.tenantColumn else { return [] }
        return examination.sortedRelations.compactMap { relation in
            guard relation.holdsRows || relation.isPartitioned, !relation.isPartition,
                let column = examination.column(named: name, of: relation.oid)
            else { return nil }
            return (relation, column)
        }
    }

    /// The unique keys that do not keep tenants apart.
    ///
    /// An expression or a condition that names the column may do so, each in its own way: it is the owner's to judge.
    private static func uniques(
        of relation: DoctorCatalog.Relation, without column: DoctorCatalog.Column, _ examination: Examination
    ) -> [DoctorCatalog.Index] {
        examination.indexes(of: relation.oid).filter { index in
            index.isUnique && !index.isExclusion && index.isUsable && !index.keyColumns.contains(column.number)
                && !index.namedColumns.contains(column.number)
        }
    }

    /// Whether a column of the key has values that two tenants never have in common, unless a program forces it.
    private static func isGenerated(
        _ index: DoctorCatalog.Index, of relation: DoctorCatalog.Relation, _ examination: Examination
    ) -> Bool {
        index.keyColumns.contains { number in
            guard let column = examination.column(number, of: relation.oid) else { return false }
            return column.isIdentity || examination.baseType(column.type) == uuid
                || examination.facts.sequences.contains { $0.relation == relation.oid && $0.column == number }
                || examination.foreignKeys(of: relation.oid).contains { key in
                    key.columns.contains(number) && isOfTenants(key.target, examination)
                }
        }
    }

    private static let uuid: UInt32 = 2950

    private static func isOfTenants(_ relation: UInt32, _ examination: Examination) -> Bool {
        examination.tenantColumn.map { examination.column(named: $0, of: relation) != nil } ?? false
    }
}
