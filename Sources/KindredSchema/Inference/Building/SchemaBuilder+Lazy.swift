import KindredPostgres

extension SchemaBuilder {
    /// Reports lazy columns without which objects, relationships and conflicts could not be found.
    func checkLazyColumns(of index: Int, _ relationships: [Relationship]) {
        let table = tables[index]
        guard let columns = annotations.columns[table.relation.oid] else { return }
        for (number, written) in columns.sorted(by: { $0.key < $1.key }) where written.options.lazy == true {
            guard let name = table.column(number)?.name,
                let reason = whyNotLazy(name, number, of: index, among: relationships)
            else { continue }
            report(reason, of: index, at: written.location)
        }
    }

    /// The reason why a column cannot be lazy; nil if it can.
    private func whyNotLazy(
        _ name: String, _ number: Int16, of index: Int, among relationships: [Relationship]
    ) -> String? {
        let table = tables[index]
        if table.ignoredColumns.contains(number) { return "the lazy column \(name) is ignored" }
        if table.identity.isEmpty { return "a lazy column is loaded by the key, and \(table.name) has none" }
        if table.identity.contains(number) { return "a column of the key cannot be lazy" }
        let isVersion =
            annotations.columns[table.relation.oid]?[number]?.options.version == true
            || annotations.tables[table.relation.oid]?.options.optimisticLocking == .column(name)
        if isVersion { return "the version column \(name) cannot be lazy" }
        if let relationship = relationships.first(where: { $0.columns.contains(name) }) {
            return "a column of the relationship \(relationship.name) cannot be lazy"
        }
        let isUnique =
            table.uniqueKeys.contains { $0.columns.contains(number) }
            || table.uniqueChecks.contains { $0.columns.contains(name) }
            || table.serverChecks.contains { $0.columns.contains(name) }
        if isUnique { return "a column of a unique index cannot be lazy" }
        let ordering = table.foreignKeys.map { keys[$0] }.first { $0.annotation.orderedBy?.value == name }
        return ordering.map { "the column \(name) orders the foreign key \($0.names[0]) and cannot be lazy" }
    }
}
