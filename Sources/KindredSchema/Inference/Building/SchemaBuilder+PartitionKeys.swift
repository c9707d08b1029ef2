import KindredPostgres

extension SchemaBuilder {
    /// Collects the foreign keys that hold for single partitions only, with one note for each table with such keys.
    ///
    /// - Parameter rows: The indexes of the keys among the catalog's constraints.
    func makePartitionKeys(_ rows: [Int]) {
        let places = Dictionary(catalog.partitionKeys.map { ($0.constraint, $0) }) { first, _ in first }
        var groups: [Comparison: [PartitionKey.Constraint]] = [:]
        for place in rows {
            let row = catalog.constraints[place]
            guard let key = places[row.oid], let source = tableIndexes[key.source],
                let destination = tableIndexes[key.target], !tables[source].isIgnored, !tables[destination].isIgnored
            else { continue }
            let table = otherNames[row.relation] ?? tables[source].name
            if row.hasPeriod {
                diagnosePeriod(row, of: table)
                continue
            }
            let columns = tables[source].columnNames(key.columns)
            let comparison = Comparison(
                source: source, columns: columns, destination: destination,
                destinationColumns: tables[destination].columnNames(key.targetColumns))
            // In a READ COMMITTED transaction a column may be dropped between two queries.
            guard row.isEnforced, columns.count == row.columns.count,
                comparison.destinationColumns.count == columns.count
            else { continue }
            groups[comparison, default: []].append(
                PartitionKey.Constraint(
                    name: row.name, table: table, tableOID: row.relation, targetOID: row.target,
                    action: DatabaseAction(row.deleteAction), updateAction: DatabaseAction(row.updateAction)))
        }
        for (comparison, constraints) in groups {
            let (source, destination) = (tables[comparison.source], tables[comparison.destination])
            partitionKeys.append(
                PartitionKey(
                    constraints: constraints.sorted {
                        $0.table != $1.table ? $0.table < $1.table : $0.name < $1.name
                    },
                    source: source.name,
                    columns: comparison.columns,
                    destination: destination.name,
                    destinationColumns: comparison.destinationColumns
                )
            )
        }
        partitionKeys.sort {
            $0.source != $1.source ? $0.source < $1.source : $0.sortText < $1.sortText
        }
        diagnosePartitionKeys()
    }

    /// The tables and columns that a key compares.
    private struct Comparison: Hashable {
        let source: Int
        let columns: [String]
        let destination: Int
        let destinationColumns: [String]
    }

    private func diagnosePartitionKeys() {
        for keys in Dictionary(grouping: partitionKeys, by: \.source).values {
            guard let source = keys.first?.source else { continue }
            let names = keys.flatMap { $0.constraints.map(\.name) }
            let constraints = Set(texts: names).sorted().texts
            diagnostics.append(
                SchemaDiagnostic(
                    .partitionForeignKey,
                    entity: source,
                    constraints: constraints,
                    message: "\(names.count == 1 ? "A foreign key" : "Foreign keys") of \(source) "
                        + "\(names.count == 1 ? "holds" : "hold") for single partitions: "
                        + "\(keys.map(summary).joined(separator: ", ")). They make no relationship, because other partitions "
                        + "may lack them, and the rule for deleting what they refer to is noAction"
                )
            )
        }
    }

    /// One key in words, such as `customer_id to public.customer (6 constraints)`.
    private func summary(_ key: PartitionKey) -> String {
        let name = key.constraints.count == 1 ? key.constraints[0].name : "\(key.constraints.count) constraints"
        return "\(key.columns.joined(separator: ", ")) to \(key.destination) (\(name))"
    }
}

extension PartitionKey {
    fileprivate var sortText: String {
        (columns + [destination.description] + destinationColumns).joined(separator: "\n")
    }
}
