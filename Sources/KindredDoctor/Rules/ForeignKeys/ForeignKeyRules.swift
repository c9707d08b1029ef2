import KindredPostgres
import KindredSchema

/// K202 to K205 and K209 to K211: foreign keys that are there twice, half, or not at all.
enum ForeignKeyRules {
    static func facts(
        _ key: DoctorCatalog.ForeignKey, _ examination: Examination
    ) -> [(String, String)] {
        let target = examination.relations[key.target]
        let columns = examination.names(key.columns, of: key.relation).joined(separator: ", ")
        let others = examination.names(key.targetColumns, of: key.target).joined(separator: ", ")
        return [("columns", columns), ("refers to", "\(target?.qualifiedName.description ?? "?") (\(others))")]
    }

    static func checkTypes(_ run: inout RuleRun) {
        let examination = run.examination
        for key in examination.foreignKeys {
            guard let relation = examination.relations[key.relation] else { continue }
            var differing: [(own: DoctorCatalog.Column, other: DoctorCatalog.Column)] = []
            for (number, target) in zip(key.columns, key.targetColumns) {
                guard let own = examination.column(number, of: key.relation),
                    let other = examination.column(target, of: key.target)
                else { continue }
                if kind(own, examination) != kind(other, examination) || own.collation != other.collation {
                    differing.append((own, other))
                }
            }
            if differing.isEmpty { continue }
            let obstacles = Set(differing.flatMap { examination.typeObstacles(of: $0.own, in: relation) })
                .sorted()
            let obstacleFacts = [("what keeps the type", obstacles.joined(separator: ", "))]
            let texts = differing.map { "\($0.own.name) is \(words($0.own)), \($0.other.name) is \(words($0.other))" }
            run.report(
                relation, object: key.name,
                subjects: [.constraint(key.oid)] + differing.map { .column(key.relation, $0.own.number) },
                "The foreign key \(key.name) of \(relation.qualifiedName) compares different types: "
                    + texts.joined(separator: "; "),
                facts: facts(key, examination) + (obstacles.isEmpty ? [] : obstacleFacts),
                repair: {
                    guard obstacles.isEmpty, differing.allSatisfy({ !$0.own.isIdentity || isWhole($0.other) }) else {
                        return []
                    }
                    return try differing.map { own, other in
                        let collation = try self.collation(of: other)
                        return try RepairText.alter(
                            relation, "ALTER COLUMN \(try RepairText.name(own.name)) TYPE \(other.typeName)\(collation)"
                        )
                    }
                })
        }
    }

    /// Whether a column has a type that identity columns can have.
    private static func isWhole(_ column: DoctorCatalog.Column) -> Bool { [20, 21, 23].contains(column.type) }

    /// varchar counts as text.
    private static func kind(_ column: DoctorCatalog.Column, _ examination: Examination) -> UInt32 {
        let type = examination.baseType(column.type)
        return type == 1_043 ? 25 : type
    }

    private static func words(_ column: DoctorCatalog.Column) -> String {
        column.typeName + (column.collationName.map { " in \($0.name)" } ?? "")
    }

    private static func collation(of column: DoctorCatalog.Column) throws -> String {
        guard let name = column.collationName else { return "" }
        return " COLLATE \(try RepairText.name(schema: name.schema, name.name))"
    }

    static func checkValidity(_ run: inout RuleRun) {
        let examination = run.examination
        let duplicates = DuplicateForeignKeys(examination)
        for key in examination.foreignKeys where !key.isValidated && key.isEnforced {
            guard let relation = examination.relations[key.relation] else { continue }
            run.report(
                relation, object: key.name, subjects: [.constraint(key.oid)],
                "The foreign key \(key.name) of \(relation.qualifiedName) is NOT VALID: rows from before it may lead nowhere",
                facts: facts(key, examination) + orphans(key, relation, examination),
                repair: {
                    // K201 drops it.
                    duplicates.isDropped(key)
                        ? [] : [try RepairText.alter(relation, "VALIDATE CONSTRAINT \(try RepairText.name(key.name))")]
                })
        }
    }

    /// The query that shows the rows which lead nowhere.
    private static func orphans(
        _ key: DoctorCatalog.ForeignKey, _ relation: DoctorCatalog.Relation, _ examination: Examination
    ) -> [(String, String)] {
        guard let target = examination.relations[key.target], !key.hasPeriod else { return [] }
        let pairs = try? zip(
            examination.names(key.columns, of: key.relation), examination.names(key.targetColumns, of: key.target)
        ).map { (try RepairText.name($0), try RepairText.name($1)) }
        guard let pairs, let from = try? RepairText.name(relation), let to = try? RepairText.name(target) else {
            return []
        }
        let present = pairs.map { "r.\($0.0) IS NOT NULL" }.joined(separator: " AND ")
        let equal = pairs.map { "t.\($0.1) = r.\($0.0)" }.joined(separator: " AND ")
        return [
            (
                "rows that lead nowhere",
                "SELECT * FROM \(from) AS r WHERE \(present) AND NOT EXISTS (SELECT FROM \(to) AS t WHERE \(equal))"
            )
        ]
    }

    static func checkEnforcement(_ run: inout RuleRun) {
        let examination = run.examination
        let duplicates = DuplicateForeignKeys(examination)
        for key in examination.foreignKeys where !key.isEnforced {
            guard let relation = examination.relations[key.relation] else { continue }
            run.report(
                relation, object: key.name, subjects: [.constraint(key.oid)],
                "The foreign key \(key.name) of \(relation.qualifiedName) is NOT ENFORCED: rows may lead nowhere",
                facts: facts(key, examination) + orphans(key, relation, examination),
                repair: {
                    duplicates.isDropped(key)
                        ? []
                        : [try RepairText.alter(relation, "ALTER CONSTRAINT \(try RepairText.name(key.name)) ENFORCED")]
                })
        }
    }

    static func checkTargets(_ run: inout RuleRun) {
        let examination = run.examination
        for key in examination.foreignKeys {
            guard let relation = examination.relations[key.relation], let target = examination.relations[key.target],
                let primary = examination.indexes(of: key.target).first(where: \.isPrimary),
                !primary.keyColumns.allSatisfy({ key.targetColumns.contains($0) })
            else { continue }
            run.report(
                relation, object: key.name, subjects: [.constraint(key.oid)],
                "The foreign key \(key.name) of \(relation.qualifiedName) refers to a unique key of "
                    + "\(target.qualifiedName) that is not its primary key",
                facts: facts(key, examination))
        }
    }

    // MARK: Partitions

    static func checkPartitions(_ run: inout RuleRun) {
        let examination = run.examination
        let diagnosed = examination.schema.diagnostics.filter { $0.code == .partitionForeignKey }
        for diagnostic in diagnosed {
            guard let oid = examination.oid(of: diagnostic.entity), let relation = examination.relations[oid] else {
                continue
            }
            run.report(
                relation, object: diagnostic.constraints.joined(separator: ", "), diagnostic.message,
                facts: [("foreign keys", diagnostic.constraints.joined(separator: ", "))],
                repair: { try partitionRepair(diagnostic, relation, examination) })
        }
    }

    /// Adds the key to the partitioned table where it says the same on each of its partitions.
    private static func partitionRepair(
        _ diagnostic: SchemaDiagnostic, _ relation: DoctorCatalog.Relation, _ examination: Examination
    ) throws -> [String] {
        guard relation.isPartitioned else { return [] }
        let leaves = examination.leaves(of: relation.oid).filter(\.holdsRows)
        let keys = leaves.compactMap { leaf in
            examination.foreignKeys(of: leaf.oid).first { diagnostic.constraints.contains($0.name) }
        }
        guard keys.count == leaves.count, let first = keys.first, let target = examination.relations[first.target],
            !target.isPartition,
            keys.allSatisfy({ $0.target == first.target && $0.deleteAction == first.deleteAction })
        else { return [] }
        let columns = keys.map { examination.names($0.columns, of: $0.relation) }
        guard Set(columns).count == 1, let names = columns.first, !names.isEmpty else { return [] }
        let key = try ForeignKeyText.definition(first, columns: names, in: examination)
        return [try RepairText.alter(relation, "ADD \(key)")]
    }
}
