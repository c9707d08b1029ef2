extension SchemaBuilder {
    /// Takes in the foreign keys that count, merges those that repeat others, and settles which are one-to-one.
    func makeForeignKeys() {
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
    private func countedRows() -> [[Int]] {
        var counted = [[Int]](repeating: [], count: tables.count)
        var ofPartitions: [Int] = []
        for (place, row) in catalog.constraints.enumerated() where row.kind == .foreignKey {
            // The parts of a partitioned table's key say the same again.
            guard row.parent == 0, annotations.foreignKeys[row.oid]?.options.ignore != true else { continue }
            let source = tableIndexes[row.relation]
            let destination = tableIndexes[row.target]
            if [source, destination].contains(where: { $0.map { tables[$0].isIgnored } ?? false }) { continue }
            if let source, destination != nil {
                if row.hasPeriod {
                    diagnosePeriod(row, of: tables[source].name)
                } else {
                    counted[source].append(place)
                }
            } else {
                ofPartitions.append(place)
            }
        }
        makePartitionKeys(ofPartitions)
        return counted
    }

    /// Says that a key which compares periods makes no relationship.
    func diagnosePeriod(_ row: Catalog.Constraint, of table: QualifiedName) {
        diagnostics.append(
            SchemaDiagnostic(
                .periodForeignKey,
                entity: table,
                constraints: [row.name],
                message: "The foreign key \(row.name) of \(table) compares periods, so it makes no relationship: "
                    + "its ends are not found by equality"
            )
        )
    }

    private func add(_ row: Catalog.Constraint, _ source: Int, _ first: Int) {
        guard let destination = tableIndexes[row.target], row.columns.count == row.targetColumns.count else { return }
        let made = ForeignKey(row, source: (source, tables[source]), destination: (destination, tables[destination]))
        // A column may have been dropped between two queries of a transaction that sees more than one moment.
        guard made.columnNames.count == row.columns.count, made.destinationColumnNames.count == row.columns.count
        else { return }
        let known = keys[first...].first { $0.repeats(made) }
        if let known { known.add(made) } else { keys.append(made) }
        guard let annotation = annotations.foreignKeys[row.oid] else { return }
        for contradiction in (known ?? made).annotation.add(annotation) {
            report(source, annotation.location, contradiction)
        }
    }

    /// Whether something proves that the key's columns are unique in their table.
    private func isOneToOne(_ key: ForeignKey) -> Bool {
        tables[key.source].uniqueKeys.contains { unique in
            !unique.hasPeriod && unique.columns.count <= key.columns.count
                && unique.columns.allSatisfy { key.columns.contains($0) }
        }
    }

    /// Whether several rows of a one-to-one relationship may hold the same key for a while.
    func mayRepeat(_ key: ForeignKey) -> Bool {
        let table = tables[key.source]
        return table.relation.hasChildren
            || !table.uniqueKeys.contains { unique in
                !unique.hasPeriod && !unique.isDeferrable && unique.columns.allSatisfy { key.columns.contains($0) }
            }
    }

    private func reportIgnoredColumns(_ key: ForeignKey) {
        for (table, columns) in [(key.source, key.columns), (key.destination, key.destinationColumns)] {
            for number in columns where tables[table].ignoredColumns.contains(number) {
                let location = annotations.columns[tables[table].relation.oid]?[number]?.location ?? ""
                report(table, location, "a column of the foreign key \(key.name) cannot be ignored")
            }
        }
    }

    private func reportIfRepeated(_ key: ForeignKey) {
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
