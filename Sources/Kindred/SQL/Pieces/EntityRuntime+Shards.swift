import KindredPostgres
import KindredSchema

// Rows that Citus distributes by tenant: one statement locks rows of one tenant only, so that several take turns.
extension EntityRuntime {
    /// The column by which Citus distributes the rows; nil for rows that it does not distribute, and on other servers.
    var distributionColumn: Int? { entity.isDistributed ? shardColumns.first : nil }

    /// Elements in groups that one statement may lock: one group, or a group for each tenant where Citus distributes
    /// the rows.
    ///
    /// The groups are in the order of the tenants, so that transactions do not wait for each other in a circle.
    ///
    /// - Parameters:
    ///   - columns: the columns of the keys.
    ///   - key: gives an element's key.
    func tenantGroups<Element>(
        _ elements: [Element], of columns: [Int], key: (Element) throws -> ObjectKey
    ) rethrows -> [[Element]] {
        guard elements.count > 1, let place = distributionColumn.flatMap(columns.firstIndex(of:)) else {
            return [elements]
        }
        let groups = try Dictionary(grouping: elements) { try key($0).values[place] }
        return groups.sorted { $0.key.isBefore($1.key) }.map(\.value)
    }

    /// Keys by their value of the column by which Citus distributes the rows; nil for all together.
    func byTenant(_ keys: [ObjectKey], of columns: [Int]) -> [PostgresValue?: [ObjectKey]] {
        guard let place = distributionColumn.flatMap(columns.firstIndex(of:)) else { return [nil: keys] }
        return Dictionary(grouping: keys) { $0.values[place] }
    }

    /// Keys in slices of a size that suits one parameter; where Citus distributes the rows, each slice has keys of one
    /// tenant.
    func slices(_ keys: [ObjectKey], of columns: [Int]) -> [[ObjectKey]] {
        tenantGroups(keys, of: columns) { $0 }.flatMap { $0.slices() }
    }
}

extension DeletionStep {
    /// Keys of sources in slices, as the rows at the other end are distributed.
    func slices(_ sources: [ObjectKey]) -> [[ObjectKey]] {
        linkedEntity.slices(sources, of: destinationColumns)
    }

    /// The entity whose columns reference the sources.
    var linkedEntity: EntityRuntime { helper?.entity ?? destination }

    /// How these columns are compared with the sources' values.
    var comparison: ForeignComparison? { relationship.comparison(of: destinationColumns) }
}

extension PostgresValue {
    /// A fixed order of a column's values, the same in every process.
    func isBefore(_ other: PostgresValue) -> Bool {
        if case .integer(let own) = self, case .integer(let other) = other { return own < other }
        return description < other.description
    }
}

extension Parameters {
    /// The keys of many rows; with the value by which they are distributed only where Citus distributes them.
    mutating func keysToLock(_ keys: [ObjectKey], of columns: [Int], in entity: EntityRuntime) throws -> KeySet {
        try entity.entity.isDistributed
            ? shardKeys(keys, of: columns, in: entity) : self.keys(keys, of: columns, in: entity)
    }
}
