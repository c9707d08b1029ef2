import KindredPostgres

/// Finds the tables that cannot be altered into their new form: they are dropped and made again.
///
/// The server knows no statement that gives a table a partition key, and a table that becomes a partition, or is one no
/// longer, has other columns, keys and indexes of its own than before.
package struct TableReplacement {
    private let from: SchemaSnapshot
    private let to: SchemaSnapshot

    package init(from: SchemaSnapshot, to: SchemaSnapshot) {
        self.from = from
        self.to = to
    }

    package func isNeeded(for name: ItemName) -> Bool {
        guard let old = from.table(name), let new = to.table(name) else { return false }
        if old.partitionKey != new.partitionKey { return true }
        if (old.bound == nil) != (new.bound == nil) { return true }
        guard old.parents != new.parents else { return false }
        // A partition's keys and indexes come from its parent; another parent would give other keys and indexes.
        if old.bound != nil { return true }
        let leaving = old.parents.filter { !new.parents.contains($0) }
        let coming = new.parents.filter { !old.parents.contains($0) }
        return leaving.contains { isNeeded(by: name, below: $0, in: from) }
            || coming.contains { isNeeded(by: name, below: $0, in: to) }
    }

    /// Whether a table has something only by inheritance: INHERIT would miss it, and NO INHERIT would leave it behind.
    private func isNeeded(by table: ItemName, below parent: ItemName, in side: SchemaSnapshot) -> Bool {
        let own = Set(side.columns(of: table).map(\.part))
        var (seen, waiting): (Set<ItemName>, [ItemName]) = ([parent], [parent])
        while let next = waiting.popLast() {
            if side.columns(of: next).contains(where: { !own.contains($0.part) }) { return true }
            if side.constraints(of: next).contains(where: { side.constraint($0)?.kind == .check }) { return true }
            for above in side.table(next)?.parents ?? [] where seen.insert(above).inserted { waiting.append(above) }
        }
        return false
    }
}
