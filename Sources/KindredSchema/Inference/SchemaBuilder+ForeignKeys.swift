extension SchemaBuilder {
    /// Takes in the foreign keys that count, merges those that repeat others, and settles which are one-to-one.
    mutating func makeForeignKeys() {
        let rows = countedRows()
        for source in tables.indices where !rows[source].isEmpty {
            let sorted = rows[source].sorted {
                catalog.constraints[$0].name.precedesInBytes(catalog.constraints[$1].name)
            }
            let first = keys.count
            for row in sorted { add(catalog.constraints[row], source, first) }
            for index in first..<keys.count {
                keys[index].isOneToOne = isOneToOne(keys[index])
                reportIfRepeated(keys[index])
                reportIgnoredColumns(keys[index])
            }
            tables[source].foreignKeys = Array(first..<keys.count)
        }
    }

    /// The places of each table's foreign keys among the catalog's constraints, without those that do not count.
    private mutating func countedRows() -> [[Int]] {
        var counted = [[Int]](repeating: [], count: tables.count)
        for (place, row) in catalog.constraints.enumerated() where row.kind == .foreignKey {
            // The parts of a partitioned table's key say the same again.
            guard row.parent == 0, annotations.foreignKeys[row.oid]?.options.ignore != true else { continue }
            let source = tableIndexes[row.relation]
            let destination = tableIndexes[row.target]
            if let source, destination != nil {
                if row.hasPeriod {
                    diagnose(
                        .periodForeignKey,
                        tables[source].name,
                        row,
                        "compares periods, so it makes no relationship: its ends are not found by equality"
                    )
                } else {
                    counted[source].append(place)
                }
            } else {
                diagnosePartition(row, source, destination)
            }
        }
        return counted
    }

    /// Says why a foreign key with an end that is no entity was left out.
    private mutating func diagnosePartition(_ row: Catalog.Constraint, _ source: Int?, _ destination: Int?) {
        func isPartition(_ oid: UInt32) -> Bool {
            otherNames[oid].map { hidden[$0] == .partition } ?? false
        }
        if source == nil, let name = otherNames[row.relation], isPartition(row.relation) {
            let reason = "belongs to a single partition, so it makes no relationship: the other partitions lack it"
            diagnose(.partitionForeignKey, name, row, reason)
        } else if let source, isPartition(row.target) {
            let reason =
                "refers to a single partition, so it makes no relationship: partitions are part of their parent"
            diagnose(.partitionForeignKey, tables[source].name, row, reason)
        }
    }

    private mutating func diagnose(
        _ code: SchemaDiagnostic.Code,
        _ table: QualifiedName,
        _ row: Catalog.Constraint,
        _ reason: String
    ) {
        diagnostics.append(
            SchemaDiagnostic(
                code,
                entity: table,
                constraints: [row.name],
                message: "The foreign key \(row.name) of \(table) \(reason)"
            )
        )
    }

    private mutating func add(_ row: Catalog.Constraint, _ source: Int, _ first: Int) {
        guard let destination = tableIndexes[row.target], row.columns.count == row.targetColumns.count else { return }
        var key = ForeignKey(
            names: [row.name],
            source: source,
            destination: destination,
            columns: row.columns,
            destinationColumns: row.targetColumns,
            deleteRule: DeleteRule(action: row.deleteAction),
            deleteSetColumns: row.deleteSetColumns,
            isMatchFull: row.isMatchFull,
            isEnforced: row.isEnforced
        )
        let known = keys[first...].firstIndex { $0.repeats(key) }
        if let known { key = keys[known] }
        if let annotation = annotations.foreignKeys[row.oid] {
            for contradiction in key.annotation.add(annotation) { report(source, annotation.location, contradiction) }
        }
        if let known {
            key.names.append(row.name)
            key.deleteRule = DeleteRule.strictest(key.deleteRule, DeleteRule(action: row.deleteAction))
            key.isMatchFull = key.isMatchFull || row.isMatchFull
            key.isEnforced = key.isEnforced || row.isEnforced
            keys[known] = key
        } else {
            keys.append(key)
        }
    }

    /// Whether something proves that the key's columns are unique in their table.
    private func isOneToOne(_ key: ForeignKey) -> Bool {
        tables[key.source].uniqueKeys.contains { unique in
            !unique.hasPeriod && unique.columns.count <= key.columns.count
                && unique.columns.allSatisfy { key.columns.contains($0) }
        }
    }

    private mutating func reportIgnoredColumns(_ key: ForeignKey) {
        for (table, columns) in [(key.source, key.columns), (key.destination, key.destinationColumns)] {
            for number in columns where tables[table].ignoredColumns.contains(number) {
                let location = annotations.columns[tables[table].relation.oid]?[number]?.location ?? ""
                report(table, location, "a column of the foreign key \(key.name) cannot be ignored")
            }
        }
    }

    private mutating func reportIfRepeated(_ key: ForeignKey) {
        guard key.names.count > 1 else { return }
        let table = tables[key.source].name
        diagnostics.append(
            SchemaDiagnostic(
                .repeatedForeignKey,
                entity: table,
                constraints: key.names,
                message: "The foreign keys \(key.names.joined(separator: ", ")) of \(table) have the same columns and "
                    + "the same target, so they are one relationship, whose delete rule is \(key.deleteRule.rawValue)"
            )
        )
    }
}

extension DeleteRule {
    /// The rule that an action of a foreign key, as in `confdeltype`, comes down to.
    fileprivate init(action: UInt8) {
        switch action {
        case UInt8(ascii: "c"): self = .cascade
        case UInt8(ascii: "n"), UInt8(ascii: "d"): self = .nullify
        case UInt8(ascii: "r"): self = .deny
        default: self = .noAction
        }
    }

    /// What two keys that say different things come down to: RESTRICT stops all others, NO ACTION none.
    fileprivate static func strictest(_ left: DeleteRule, _ right: DeleteRule) -> DeleteRule {
        let order: [DeleteRule] = [.deny, .cascade, .nullify, .noAction]
        return order.first { $0 == left || $0 == right } ?? left
    }
}
