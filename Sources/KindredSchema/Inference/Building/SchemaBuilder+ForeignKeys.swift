import KindredPostgres

extension SchemaBuilder {
    /// Collects the foreign keys that make relationships, merges duplicates, and finds which are one-to-one.
    func makeForeignKeys() {
        let rows = countedRows()
        for source in tables.indices where !rows.counted[source].isEmpty {
            let sorted = rows.counted[source].sorted {
                catalog.constraints[$0].name < catalog.constraints[$1].name
            }
            let first = keys.count
            for row in sorted { add(catalog.constraints[row], of: source, first: first) }
            for index in first..<keys.count {
                keys[index].isOneToOne = isOneToOne(keys[index])
                settleBase(of: keys[index], counted: keys[first...], uncounted: rows.others[source] ?? [])
                reportIfRepeated(keys[index])
                reportIgnoredColumns(keys[index])
            }
            tables[source].foreignKeys = Array(first..<keys.count)
        }
    }

    /// Finds the column of each key that names its relationship; keys that make no relationship count as sharing columns too.
    private func settleBase(of key: ForeignKey, counted: ArraySlice<ForeignKey>, uncounted: [Int]) {
        var others = counted.filter { $0 !== key }.map(\.columns)
        if key.columns.count > 1 {
            let target = tables[key.destination].relation.oid
            others += uncounted.map { catalog.constraints[$0] }
                .filter { $0.target != target || Set($0.columns) != Set(key.columns) }.map(\.columns)
        }
        key.settleBase(
            others: others,
            primaryKey: tables[key.source].primaryKey?.columns ?? [],
            target: tables[key.destination].name.name
        )
    }

    /// The indexes of each table's foreign keys among the catalog's constraints: keys that make relationships, and the
    /// other keys.
    private func countedRows() -> (counted: [[Int]], others: [Int: [Int]]) {
        var counted = [[Int]](repeating: [], count: tables.count)
        var ofPartitions: [Int] = []
        var others: [Int: [Int]] = [:]
        for (place, row) in catalog.constraints.enumerated() where row.kind == .foreignKey {
            // The partitions' copies of a partitioned table's key are duplicates.
            guard row.parent == 0 else { continue }
            let source = tableIndexes[row.relation]
            let destination = tableIndexes[row.target]
            if annotations.foreignKeys[row.oid]?.options.ignore == true
                || [source, destination].contains(where: { $0.map { tables[$0].isIgnored } ?? false })
            {
                if let source { others[source, default: []].append(place) }
                continue
            }
            if let source, destination != nil {
                if row.hasPeriod {
                    others[source, default: []].append(place)
                    diagnosePeriod(row, of: tables[source].name)
                } else {
                    counted[source].append(place)
                }
            } else {
                if let source { others[source, default: []].append(place) }
                ofPartitions.append(place)
            }
        }
        makePartitionKeys(ofPartitions)
        return (counted, others)
    }

    /// Reports that a key with PERIOD makes no relationship.
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

    private func add(_ row: Catalog.Constraint, of source: Int, first: Int) {
        guard let destination = tableIndexes[row.target], row.columns.count == row.targetColumns.count else { return }
        let made = ForeignKey(
            row, source: (source, tables[source]), destination: (destination, tables[destination]), types)
        // In a READ COMMITTED transaction a column may be dropped between two queries.
        guard made.columnNames.count == row.columns.count, made.destinationColumnNames.count == row.columns.count
        else { return }
        let known = keys[first...].first { $0.repeats(made) }
        if let known { known.add(made) } else { keys.append(made) }
        guard let annotation = annotations.foreignKeys[row.oid] else { return }
        for contradiction in (known ?? made).annotation.add(annotation) {
            report(contradiction, of: source, at: annotation.location)
        }
    }

    /// Whether a constraint or index proves that the key's columns are unique in their table.
    private func isOneToOne(_ key: ForeignKey) -> Bool {
        tables[key.source].uniqueKeys.contains { unique in
            !unique.hasPeriod && unique.hasColumnsEquality && unique.columns.count <= key.columns.count
                && unique.columns.allSatisfy { key.columns.contains($0) }
        }
    }

    /// Whether several rows of a one-to-one relationship may temporarily hold the same key.
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
                report("a column of the foreign key \(key.name) cannot be ignored", of: table, at: location)
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
