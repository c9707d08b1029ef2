import KindredPostgres
import KindredSchema

// Rows that Citus distributes by tenant: one statement locks rows of one tenant only, so that several take turns.
extension EntityRuntime {
    /// The column by which Citus distributes the rows; nil for rows that it does not distribute, and on other servers.
    var distributionColumn: Int? { entity.isDistributed ? shardColumns.first : nil }

    /// Elements in groups that one statement may lock: all of them, or where Citus distributes the rows, those of each tenant.
    ///
    /// In the order of the tenants, so that transactions do not wait for each other in a circle.
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
    fileprivate func byTenant(_ keys: [ObjectKey], of columns: [Int]) -> [PostgresValue?: [ObjectKey]] {
        guard let place = distributionColumn.flatMap(columns.firstIndex(of:)) else { return [nil: keys] }
        return Dictionary(grouping: keys) { $0.values[place] }
    }

    /// Keys in slices of a size that suits one parameter, those of each tenant apart where Citus distributes the rows.
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
    fileprivate var linkedEntity: EntityRuntime { helper?.entity ?? destination }
}

extension DeletionStatements {
    /// Rows and references that one statement deletes together.
    typealias Part = (
        keyed: [(entity: EntityRuntime, keys: [ObjectKey])], keyless: [(step: DeletionStep, sources: [ObjectKey])]
    )

    /// A deletion in the parts that one statement each can do: all of it, or where Citus distributes rows, those of each tenant,
    /// and at last the rows that they may refer to, which it does not distribute.
    ///
    /// Within a tenant the order does not matter, as elsewhere: its foreign keys are checked at the end of the statement.
    static func byTenant(
        _ keyed: [(entity: EntityRuntime, keys: [ObjectKey])], _ keyless: [(step: DeletionStep, sources: [ObjectKey])]
    ) -> [Part] {
        let entities = keyed.map(\.entity) + keyless.map { $0.step.linkedEntity }
        guard entities.contains(where: { $0.distributionColumn != nil }) else { return [(keyed, keyless)] }
        var parts: [PostgresValue?: Part] = [:]
        for (entity, keys) in keyed {
            for (tenant, keys) in entity.byTenant(keys, of: entity.key) {
                parts[tenant, default: ([], [])].keyed.append((entity, keys))
            }
        }
        for (step, sources) in keyless {
            for (tenant, sources) in step.linkedEntity.byTenant(sources, of: step.destinationColumns) {
                parts[tenant, default: ([], [])].keyless.append((step, sources))
            }
        }
        return parts.sorted {
            guard let own = $0.key, let other = $1.key else { return $0.key != nil && $1.key == nil }
            return own.isBefore(other)
        }.map(\.value)
    }
}

extension PostgresValue {
    /// A fixed order of a column's values, the same in every process.
    fileprivate func isBefore(_ other: PostgresValue) -> Bool {
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
