import KindredPostgres
import KindredSchema

/// K302: unique keys of several columns, some of which may be NULL.
enum NullableKeys {
    static func check(_ run: inout RuleRun) {
        let examination = run.examination
        let referenced = Set(examination.facts.foreignKeys.map(\.targetIndex))
        let dropped = RedundantIndexes.dropped(in: examination)
        let positions = positions(in: examination)
        for relation in examination.sortedRelations where relation.holdsRows || relation.isPartitioned {
            // Helper tables are K209's, and duplicate indexes are left to K102.
            if ForeignKeyRules.isHelperWithoutKey(relation, examination) { continue }
            for index in examination.indexes(of: relation.oid)
            where index.isUnique && index.hasDistinctNulls && index.isUsable && index.keyCount > 1 && index.parent == 0
                && index.expressions == nil && index.predicate == nil && !index.isExclusion
                && !dropped.contains(index.oid)
            {
                let columns = index.keyColumns.compactMap { examination.column($0, of: relation.oid) }
                let nullable = columns.filter { !isRequired($0, relation, examination) }
                if nullable.isEmpty || areKeptApart(nullable, columns, relation, examination)
                    || positions[relation.oid]?.contains(Set(texts: columns.map(\.name))) == true
                {
                    continue
                }
                run.report(
                    relation, object: index.name, subjects: [.relation(index.oid), .constraint(index.constraint)],
                    "The unique key \(index.name) of \(relation.qualifiedName) lets rows be there twice, as "
                        + "\(nullable.map(\.name).joined(separator: ", ")) may be NULL",
                    facts: [("columns", columns.map(\.name).joined(separator: ", "))],
                    repair: {
                        referenced.contains(index.oid)
                            ? [] : try repair(index, nullable, columns, relation, examination)
                    })
            }
        }
    }

    /// The foreign keys of ordered sets with their positions, by table: a row without one of them has no place in a set.
    private static func positions(in examination: Examination) -> [UInt32: [Set<ServerText>]] {
        var positions: [UInt32: [Set<ServerText>]] = [:]
        for relationship in examination.schema.entities.flatMap(\.relationships) where !relationship.isByView {
            let holder = relationship.helper?.entity ?? relationship.destination
            guard let position = relationship.orderedBy, let oid = examination.oid(of: holder) else { continue }
            let columns = relationship.helper?.sourceColumns ?? relationship.destinationColumns
            positions[oid, default: []].append(Set(texts: columns + [position]))
        }
        return positions
    }

    /// Whether a column is NOT NULL, by itself or by a check.
    private static func isRequired(
        _ column: DoctorCatalog.Column, _ relation: DoctorCatalog.Relation, _ examination: Examination
    ) -> Bool {
        column.isNotNull
            || (examination.constraints[relation.oid] ?? []).contains { constraint in
                constraint.check.map { ExpressionCondition($0).requiredColumns.contains(column.name) } ?? false
            }
    }

    /// With more columns that may be NULL there are too many cases to look at.
    private static let mostNullable = 6

    /// Whether other unique indexes keep rows apart for each set of the columns that can be NULL together.
    private static func areKeptApart(
        _ nullable: [DoctorCatalog.Column], _ columns: [DoctorCatalog.Column], _ relation: DoctorCatalog.Relation,
        _ examination: Examination
    ) -> Bool {
        guard nullable.count <= mostNullable else { return false }
        let others = examination.indexes(of: relation.oid).filter {
            $0.isUnique && $0.isUsable && !$0.isExclusion
                && ($0.predicate != nil || $0.expressions != nil || !$0.hasDistinctNulls || $0.keyCount < columns.count)
        }
        return (1..<(1 << nullable.count)).allSatisfy { mask in
            let absent = Set(texts: nullable.indices.filter { mask & (1 << $0) != 0 }.map { nullable[$0].name })
            let present = columns.map(\.name).filter { !absent.contains($0) }
            return others.contains { index in
                keepsApart(index, present: present, absent: absent, columns, examination)
            }
        }
    }

    /// Whether two rows that are equal in the columns, some of which are NULL, cannot both be in an index.
    private static func keepsApart(
        _ index: DoctorCatalog.Index, present: [String], absent: Set<ServerText>, _ columns: [DoctorCatalog.Column],
        _ examination: Examination
    ) -> Bool {
        if let predicate = index.predicate {
            let known = Dictionary(present.map { (ServerText($0), false) }, uniquingKeysWith: { first, _ in first })
            guard ExpressionCondition(predicate).follows(from: known, absent: absent) else { return false }
        }
        if let expressions = index.expressions {
            guard let names = CoalescedColumns.columns(of: expressions),
                names.allSatisfy({ name in columns.contains { $0.name == name } })
            else { return false }
        }
        return index.keyColumns.filter { $0 != 0 }.allSatisfy { number in
            guard let column = columns.first(where: { $0.number == number }) else { return false }
            return !index.hasDistinctNulls || !absent.contains(column.name)
        }
    }

    /// Makes NULLs equal where NULL says that a row belongs to no other row, beside a value that tells rows apart: each
    /// name is then unique among folders without a parent.
    ///
    /// Elsewhere NULL means "not known yet", as for a number of another system, and many rows may have it.
    private static func repair(
        _ index: DoctorCatalog.Index, _ nullable: [DoctorCatalog.Column], _ columns: [DoctorCatalog.Column],
        _ relation: DoctorCatalog.Relation, _ examination: Examination
    ) throws -> [String] {
        let referring = Set(examination.foreignKeys(of: relation.oid).flatMap(\.columns))
        guard examination.facts.settings.serverVersion >= 150_000, let name = index.constraintName,
            index.includedColumns.isEmpty, nullable.allSatisfy({ referring.contains($0.number) }),
            columns.contains(where: { !referring.contains($0.number) })
        else { return [] }
        let key = try RepairText.name(name)
        let list = try RepairText.list(columns.map(\.name))
        let deferrable = index.isDeferrable ? " DEFERRABLE" : ""
        return [
            try RepairText.alter(
                relation,
                "DROP CONSTRAINT \(key), ADD CONSTRAINT \(key) UNIQUE NULLS NOT DISTINCT (\(list))\(deferrable)")
        ] + (try RepairText.comment(on: name, index.constraint, of: relation, in: examination))
    }
}
