import KindredPostgres
import KindredSchema

// Tables that inherit columns, and tables that show rows of their heirs.
extension Examination {
    /// Whether other tables inherit from a table; partitions do not count.
    func hasChildren(_ relation: UInt32) -> Bool {
        descendants[relation]?.contains { relations[$0]?.isPartition == false } ?? false
    }

    /// The obstacles to a change of a column's type, in words.
    ///
    /// A change goes to all partitions and children, so that objects that depend on their columns count as well.
    func typeObstacles(
        of column: DoctorCatalog.Column, in relation: DoctorCatalog.Relation
    ) -> [String] {
        if relation.isTyped { return ["the type of the table"] }
        if relation.isPartition || column.isInherited { return ["the table that the column comes from"] }
        var obstacles: Set<ServerText> = []
        var seen: Set<UInt32> = []
        var pending = [relation.oid]
        while let table = pending.popLast() {
            guard seen.insert(table).inserted, let own = self.column(named: column.name, of: table) else { continue }
            if own.isPartitionKey { obstacles.insert("the partition key") }
            for use in columnUses[table] ?? [] where use.column == own.number { obstacles.insert(use.user) }
            pending += descendants[table] ?? []
        }
        return obstacles.sorted().texts
    }
}
