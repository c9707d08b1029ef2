extension SchemaBuilder {
    /// The tables whose rows a table shows; nil if no other inherits from it.
    ///
    /// Tables without an entity are named too: rows may be in them.
    func rowTables(of index: Int) -> RowTables? {
        let relation = tables[index].relation
        // The role must be able to read the rows' tables.
        guard relation.hasChildren, relation.isReadable else { return nil }
        var names: [UInt32: QualifiedName] = [:]
        for oid in relation.children + [relation.oid] {
            names[oid] = tableIndexes[oid].map { tables[$0].name } ?? otherNames[oid]
        }
        return RowTables(own: relation.oid, names: names)
    }

    /// The tables that show rows of a table, or whose rows it shows, by the index of the table.
    func findRelatives() -> [Int: Set<QualifiedName>] {
        let parents = tables.indices.filter { tables[$0].relation.hasChildren }
        var holders: [UInt32: Set<QualifiedName>] = [:]
        for parent in parents {
            let relation = tables[parent].relation
            for oid in relation.children + [relation.oid] {
                holders[oid, default: []].insert(tables[parent].name)
                if let child = tableIndexes[oid] { holders[oid, default: []].insert(tables[child].name) }
            }
        }
        var relatives: [Int: Set<QualifiedName>] = [:]
        for oid in holders.keys {
            guard let index = tableIndexes[oid] else { continue }
            let shown = tables[index].relation.children + [oid]
            var found: Set<QualifiedName> = []
            for table in shown { found.formUnion(holders[table] ?? []) }
            found.remove(tables[index].name)
            relatives[index] = found
        }
        return relatives
    }
}
